"""Windows counted together against one by one: `python -m benchmarks.scale windows`.

By default 100 windows of a million rows. Seconds are CPU seconds of counting alone, both ways in
one run of one process, and a plain count by score of the same files beside them; every count must
be the same. What a backfill takes from start to end: `python -m benchmarks.monitoring.backfill`.
"""

# ruff: noqa: S608 (the folder is this file's own)

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import duckdb

from benchmarks.monitoring.backfill import write
from benchmarks.monitoring.spark import is_equal
from benchmarks.scale.generated import measured, opened, requests
from pumonitor.ports import WindowCounts

__all__ = ["main"]


def main() -> None:
    """Write, count both ways, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--rows-a-day", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where files are kept; else a temporary one")
    options, _ = parser.parse_known_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    write(folder, days=options.days, rows=options.rows_a_day)
    wanted = requests(options.days)
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    with measured() as plain:
        for request in wanted:
            connection.execute(
                "SELECT CAST(floor(score * 65536) AS INTEGER), count(*), min(score), max(score) "
                f"FROM read_parquet('{folder}/predictions/*.parquet') "
                f"WHERE scored_at >= '{request.window.start.isoformat()}' "
                f"AND scored_at < '{request.window.end.isoformat()}' GROUP BY 1"
            ).fetchnumpy()
    source = opened(folder)
    with measured() as together:
        counted: list[WindowCounts] = []
        for one in source.counts_of_many(wanted):
            if isinstance(one, Exception):
                raise one
            counted.append(one)
    source.close()
    source = opened(folder)
    with measured() as alone:
        equal = sum(
            is_equal(source.counts(request), other)
            for request, other in zip(wanted, counted, strict=True)
        )
    source.close()
    print(f"  {equal} of {len(wanted)} windows equal in every count")
    for name, spent in (("plain", plain), ("together", together), ("one by one", alone)):
        print(
            f"  {name:<11}{spent.cpu:7.1f} s CPU, {spent.wall:7.1f} s, "
            f"{spent.cpu / plain.cpu:.1f} times a plain count"
        )
    print(f"  together over one by one: {together.cpu / alone.cpu:.2f}")
    if options.folder is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
