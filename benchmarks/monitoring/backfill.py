"""Backfill of many days beside a plain count: `python -m benchmarks.monitoring.backfill`.

By default 100 days of a million predictions, 2% of them fraud, a third of which is confirmed within
days.
Rows per second are those of the files, each of which is read once for all looks at its day; memory
is that of all processes together, read from /proc every tenth of a second (Linux). Afterwards the
next day's `run`.
"""

# ruff: noqa: S608 (names and numbers in SQL are this file's own)

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions: {source: predictions/*.parquet, id: id, time: scored_at, score: score}
    positives: {source: confirmations/*.parquet, id: id, known_at: confirmed_at}
    window: 1d
    maturity: 10d
    threshold: 0.5
"""


def write(folder: Path, *, days: int, rows: int, confirmed: float = 0.33) -> None:
    """A file of predictions and one of confirmations per day; of fraud that share is confirmed."""
    for name in ("predictions", "confirmations"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("SET threads = 2; SET TimeZone = 'UTC'; SELECT setseed(0.5)")
    for day in range(days):
        start = FIRST + timedelta(days=day)
        predictions = folder / "predictions" / f"{start:%Y-%m-%d}.parquet"
        if predictions.is_file():
            continue
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE day AS SELECT {day * rows} + i AS id, "
            f"TIMESTAMPTZ '{start.isoformat()}' + to_microseconds(CAST(floor(i * 86400e6 / {rows}) "
            "AS BIGINT)) AS scored_at, random() < 0.02 AS fraud, random() AS u, random() AS v, "
            f"random() AS w FROM range({rows}) AS numbers(i)"
        )
        confirmations = folder / "confirmations" / predictions.name
        # Scores of positives and negatives are powers of uniform numbers: AUC about .9.
        connection.execute(
            "COPY (SELECT id, scored_at, CASE WHEN fraud THEN pow(u, 0.35) ELSE pow(u, 3.5) END "
            f"AS score FROM day) TO '{predictions}' (FORMAT parquet)"
        )
        connection.execute(
            "COPY (SELECT id, scored_at + "
            "to_microseconds(CAST(-ln(1 - w) * 3 * 86400e6 AS BIGINT)) "
            f"AS confirmed_at FROM day WHERE fraud AND v < {confirmed}) TO '{confirmations}' "
            "(FORMAT parquet)"
        )


class Memory:
    """Most memory that a process and those it started held together, in bytes."""

    def __init__(self, pid: int) -> None:
        self.most = 0
        self._pid = pid
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(0.1):
            self.most = max(self.most, sum(map(_resident, family(self._pid))))


def family(pid: int) -> list[int]:
    """A process and all that it has started, and these."""
    children: list[int] = []
    for told in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += map(int, told.read_text().split())
        except OSError:
            continue
    return [pid, *(one for child in children for one in family(child))]


def _resident(pid: int) -> int:
    try:
        # Proportional shares, since processes share libraries.
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def main() -> None:
    """Write the files, count them, backfill them, run the next day."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000_000, help="predictions a day")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where files are kept; else a temporary one")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    write(folder, days=options.days, rows=options.rows)
    total = options.days * options.rows
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    for old in folder.glob("state.db*"):
        old.unlink()
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    started = time.perf_counter()
    connection.execute(
        "SELECT CAST(scored_at AS DATE), CAST(floor(score * 65536) AS INTEGER), count(*) "
        f"FROM read_parquet('{folder}/predictions/*.parquet') GROUP BY ALL"
    ).fetchnumpy()
    plain = time.perf_counter() - started
    end = FIRST + timedelta(days=options.days)
    started = time.perf_counter()
    command = [sys.executable, "-c", "from pumonitor.cli.app import main; main()", "backfill"]
    command += ["--config", str(folder / "pumonitor.yaml"), "--json"]
    command += ["--from", FIRST.isoformat(), "--to", (end - timedelta(days=1)).isoformat()]
    command += ["--as-of", (end + timedelta(days=30)).isoformat()]
    command += ["--workers", str(options.workers)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
        Memory(process.pid) as memory,
    ):
        told = process.communicate()[0]
    done = json.loads(told)
    seconds = time.perf_counter() - started
    print(f"plain count by day and score: {plain:.1f} s, {total / plain:,.0f} rows a second")
    print(
        f"backfill of {done['evaluated']} days, {options.workers} workers: {seconds:.0f} s, "
        f"{total / seconds:,.0f} rows a second, at most {memory.most / 2**20:,.0f} MB; "
        f"{len(done['failures'])} failures"
    )
    for failure in done["failures"][:3]:
        print(failure)
    started = time.perf_counter()
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    with open_jobs(configuration, clock=lambda: end, deliver=False) as jobs:
        more = jobs.run()
    print(f"run on the next day: {time.perf_counter() - started:.1f} s, {more.evaluated} evaluated")
    if options.folder is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
