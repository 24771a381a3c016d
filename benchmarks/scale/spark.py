"""Spark against DuckDB: `python -m benchmarks.scale spark --days 30 --folder FOLDER`.

Days of a million rows, counted by Spark on this machine in one job, and by DuckDB; every count must
be the same. Seconds are by the clock: Spark's work is done by another process. The first job warms
Spark up, the second is the one that is compared. With `--alone` some days one by one besides.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.monitoring.backfill import write
from benchmarks.monitoring.spark import is_equal, open_in_spark
from benchmarks.scale.generated import measured, opened, requests

__all__ = ["main"]


def main() -> None:
    """Count by both, compare, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--rows-a-day", type=int, default=1_000_000)
    parser.add_argument("--alone", type=int, default=0, help="so many days one by one besides")
    parser.add_argument("--folder", type=Path, help="where files are kept; else a temporary one")
    options, _ = parser.parse_known_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    write(folder, days=options.days, rows=options.rows_a_day)
    wanted = requests(options.days)
    source = opened(folder)
    with measured() as by_duckdb:
        expected = list(source.counts_of_many(wanted))
    source.close()
    spark = open_in_spark(folder)
    for name in ("the first job", "the second job"):
        with measured() as by_spark:
            found = list(spark.counts_of_many(wanted))
        equal = sum(
            not isinstance(one, Exception)
            and not isinstance(other, Exception)
            and is_equal(one, other)
            for one, other in zip(found, expected, strict=True)
        )
        print(f"  {name}: {by_spark.wall:.1f} s; {equal} of {len(wanted)} days equal", flush=True)
    print(
        f"  DuckDB: {by_duckdb.wall:.1f} s; Spark over DuckDB: "
        f"{by_spark.wall / by_duckdb.wall:.1f}, limit 3; of CPU {by_spark.cpu:.1f} s over "
        f"{by_duckdb.cpu:.1f} s: {by_spark.cpu / by_duckdb.cpu:.1f}"
    )
    if options.alone:
        with measured() as alone:
            for request in wanted[: options.alone]:
                spark.counts(request)
        each = alone.wall / options.alone
        print(f"  Spark, one day alone: {each:.1f} s; all so: {each * options.days:.0f} s")
    spark.close()
    if options.folder is None:
        shutil.rmtree(folder)
    if equal < len(wanted):
        sys.exit(f"{len(wanted) - equal} of {len(wanted)} days were counted differently")


if __name__ == "__main__":
    main()
