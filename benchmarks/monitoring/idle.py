"""A round of `pumonitor run` with nothing to do: `python -m benchmarks.monitoring.idle`.

The history of one monitor is evaluated once, by rounds of its own, and copied under the names of
the others; all of them read the same files. Printed are CPU seconds, wall seconds and peak memory
of the command as a process, once when every monitor has one new window, then with nothing to do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from benchmarks.copied_history import copy_history
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.ledger import Ledger

_ROWS = 60
_A_MOMENT = timedelta(minutes=1)
_MONITOR = """\
  m{number:04}:
    predictions: {{source: predictions.parquet, id: id, time: made, score: score}}
    positives: {{source: confirmations.parquet, id: id, known_at: known}}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    class_prior: 0.3
    rules:
      - {{metric: aul, below: 0.2, for: 2}}
      - {{metric: auc, shift: down}}
      - {{health: no_data}}
"""


def write(folder: Path, *, monitors: int, days: int) -> datetime:
    """Files of predictions and confirmations up to now, and the configuration; today's midnight."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=days)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SELECT setseed(0.5)")
    rows = (days + 1) * _ROWS
    connection.execute(
        f"CREATE TABLE rows AS SELECT i AS id, TIMESTAMPTZ '{first.isoformat()}' + "  # noqa: S608
        f"to_microseconds(CAST(i * 86400e6 / {_ROWS} AS BIGINT)) AS made, random() < 0.3 AS bad, "
        f"random() AS u, random() AS v FROM range({rows}) AS numbers(i)"
    )
    scored = "SELECT id, made, CASE WHEN bad THEN sqrt(u) ELSE u * u END AS score FROM rows"
    known = "SELECT id, made + INTERVAL 1 HOUR AS known FROM rows WHERE bad AND v < 0.5"
    now = datetime.now(UTC).isoformat()
    for name, query, time_column in (
        ("predictions", scored, "made"),
        ("confirmations", known, "known"),
    ):
        connection.execute(
            f"COPY (SELECT * FROM ({query}) WHERE {time_column} <= TIMESTAMPTZ '{now}') "  # noqa: S608
            f"TO '{folder / name}.parquet' (FORMAT parquet)"
        )
    listed = "".join(_MONITOR.format(number=number) for number in range(monitors))
    (folder / "pumonitor.yaml").write_text(f"state: sqlite:///state.db\nmonitors:\n{listed}")
    return today


def timed(folder: Path, what: str) -> None:
    """One round as a process, and what it took."""
    started = time.perf_counter()
    command = [sys.executable, "-c", "from pumonitor.cli.app import main; main()", "run"]
    process = subprocess.Popen(
        [*command, "--config", str(folder / "pumonitor.yaml"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    said = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    print(
        f"{what:<28} {used.ru_utime + used.ru_stime:7.2f} s CPU {wall:7.2f} s wall "
        f"{used.ru_maxrss / 1024:6.0f} MB   exit {os.waitstatus_to_exitcode(status)}  {said[:90]}"
    )


def main() -> None:
    """Build the state, then run rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitors", type=int, default=50)
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where all of it is kept; else a temporary one")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # The last window that has ended is left for later.
    yesterday = write(folder, monitors=options.monitors, days=options.windows + 1) - _A_MOMENT
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    first = next(iter(configuration.monitors))
    started = time.perf_counter()
    with open_jobs(configuration, monitor=first, clock=lambda: yesterday) as jobs:
        jobs.run()
    print(f"{options.windows} windows evaluated in {time.perf_counter() - started:.1f} s")
    others = [name for name in configuration.monitors if name != first]
    with Ledger.open(configuration.state_address) as ledger:
        copy_history(ledger, first, others)
    print(f"{options.monitors} monitors x {options.windows} windows x 3 rules")
    started = time.perf_counter()
    with open_jobs(configuration, clock=lambda: yesterday) as jobs:
        jobs.run()
    print(f"their history folded into alerts in {time.perf_counter() - started:.1f} s")
    timed(folder, "one new window each")
    timed(folder, "nothing to do")
    timed(folder, "nothing to do")


if __name__ == "__main__":
    main()
