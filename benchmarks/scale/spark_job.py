"""Counts that a Spark server makes: `python -m benchmarks.scale spark_job --days 30`.

Days of a million rows in four segments, counted by `pumonitor.spark.counts` on a Spark Connect
server of 2 GB, which is killed with all its processes in the middle: the job must end within a
minute. Then it is run again. Of every day there must be one set, which says what DuckDB counts.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import threading
import time
import warnings
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import duckdb

from benchmarks.monitoring.backfill import FIRST, write
from benchmarks.monitoring.spark import is_equal
from benchmarks.monitoring.spark_server import SparkServer
from benchmarks.scale.generated import measured
from pumonitor.errors import SourceError
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.collect import request_at
from pumonitor.monitor.windows.opening import open_frames
from pumonitor.ports import WindowCounts

__all__ = ["main"]

_SEGMENTED = "SELECT *, CAST(id % 4 AS STRING) AS country FROM parquet.`{folder}/predictions`"
_ENDS_WITHIN = 60
_CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      {{source: "{address}", id: id, time: scored_at, score: score, segments: [country]}}
    positives: {{source: "{address}", id: id, known_at: confirmed_at}}
    window: 1d
    maturity: 10d
    threshold: 0.5
"""


def main() -> None:
    """Count, kill, count again, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--rows-a-day", type=int, default=1_000_000)
    parser.add_argument("--memory", default="2g", help="of the server")
    parser.add_argument("--folder", type=Path, help="where files are kept; else a temporary one")
    options, _ = parser.parse_known_args()
    warnings.simplefilter("ignore")
    folder = (options.folder or Path(tempfile.mkdtemp())).absolute()
    write(folder, days=options.days, rows=options.rows_a_day)
    shutil.rmtree(folder / "counts", ignore_errors=True)
    (folder / "server").mkdir(exist_ok=True)
    address = f"counts://{folder}/counts/*.parquet"
    path = folder / "counted.yaml"
    path.write_text(_CONFIGURATION.format(address=address))
    server = SparkServer(
        folder / "server",
        {
            "spark.master": "local[2]",
            "spark.driver.memory": options.memory,
            "spark.sql.session.timeZone": "UTC",
            "spark.local.dir": str(folder / "server" / "local"),
        },
    )
    try:
        _killed(server, folder, path, options.days)
        server.start()
        with measured() as spent:
            counted = _job(server, folder, path, options.days)
        each = spent.wall / max(1, counted)
        print(f"  run again: {counted} windows, {each:.1f} s a window", flush=True)
        again = _job(server, folder, path, options.days)
        print(f"  and once more: {again} windows", flush=True)
    finally:
        server.kill()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    files = list((folder / "counts").glob("*.parquet"))
    size = sum(file.stat().st_size for file in files) / 2**20
    print(f"  {len(files)} files of {size / len(files):.1f} MB; this process took {peak:.2f} GB")
    equal = _compared(folder, path, options.days)
    if equal < options.days or len(files) > options.days:
        sys.exit(f"{equal} of {options.days} days are equal, in {len(files)} sets")


def _killed(server: SparkServer, folder: Path, path: Path, days: int) -> None:
    """The job until a third of the windows are there, when the server dies."""
    server.start()
    ended = threading.Event()
    killed: list[float] = []

    def kill() -> None:
        while not ended.is_set():
            if len(list((folder / "counts").glob("*.parquet"))) >= days // 3:
                server.kill()
                killed.append(time.perf_counter())
                return
            time.sleep(0.05)

    watching = threading.Thread(target=kill)
    watching.start()
    begun = time.perf_counter()
    try:
        _job(server, folder, path, days)
    except SourceError as error:
        print(f"  after {time.perf_counter() - begun:.0f} s: {error}", flush=True)
    finally:
        ended.set()
        watching.join()
    took = time.perf_counter() - killed[0]
    print(f"  the job and its session ended {took:.0f} s after the server", flush=True)
    if took > _ENDS_WITHIN:
        sys.exit(f"which is more than {_ENDS_WITHIN} s")
    print(f"  killed with {len(list((folder / 'counts').glob('*.parquet')))} sets", flush=True)


def _job(server: SparkServer, folder: Path, path: Path, days: int) -> int:
    from pyspark.sql import SparkSession

    from pumonitor.sources.column_types.spark_dialect import Spark
    from pumonitor.sources.counted.statement import table_definition
    from pumonitor.spark import counts

    session = SparkSession.builder.remote(server.url).create()
    try:
        # A server that starts anew has forgotten its tables, and finds their files.
        made = table_definition("fraud_counts", segments=1, dialect=Spark())
        session.sql(f"{made} USING parquet LOCATION '{folder}/counts'")
        return len(
            counts(
                path,
                predictions=session.sql(_SEGMENTED.format(folder=folder)),
                positives=session.read.parquet(f"{folder}/confirmations"),
                start=FIRST,
                end=FIRST + timedelta(days=days),
                now=FIRST + timedelta(days=days + 11),
                table="fraud_counts",
            )
        )
    finally:
        with suppress(Exception):
            session.stop()


def _compared(folder: Path, path: Path, days: int) -> int:
    """Days of which the table and DuckDB say the same."""
    monitor = read_configuration(path).configuration.monitors["card-fraud"]
    now = FIRST + timedelta(days=days + 11)
    windows = monitor.windows.between(FIRST, FIRST + timedelta(days=days))
    requests = [request_at(monitor, window, now) for window in windows]
    (folder / "segmented").mkdir(exist_ok=True)
    for file in sorted((folder / "predictions").glob("*.parquet")):
        duckdb.sql(
            f"COPY (SELECT *, CAST(id % 4 AS VARCHAR) AS country FROM '{file}') "  # noqa: S608
            f"TO '{folder}/segmented/{file.name}'"
        )
    made = f"counts://{folder}/counts/*.parquet"
    rows = (f"{folder}/segmented/*.parquet", f"{folder}/confirmations/*.parquet")
    with (
        closing(open_frames(monitor, made, made)) as counted,
        closing(open_frames(monitor, *rows)) as source,
    ):
        equal = sum(
            isinstance(found, WindowCounts)
            and isinstance(expected, WindowCounts)
            and is_equal(found, expected)
            for found, expected in zip(
                counted.counts_of_many(requests), source.counts_of_many(requests), strict=True
            )
        )
    print(f"  {equal} of {days} days equal to DuckDB's in every count")
    return equal


if __name__ == "__main__":
    main()
