"""Memory of `pumonitor run`: `python -m benchmarks.pages.round_memory [--state ADDRESS]`.

A monitor with windows of 200,000 rows and three rules is evaluated for a few days, in the state
database given or in a new one. Printed are the seconds of CPU and the most memory that the process
held, of all its threads; then the same of a round that has nothing to do.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CONFIGURATION = """\
state: {state}
monitors:
  large-windows:
    predictions: {{source: predictions.parquet, id: id, time: made, score: score}}
    positives: {{source: confirmations.parquet, id: id, known_at: known}}
    window: 1d
    maturity: 1d
    threshold: 0.5
    class_prior: 0.3
    rules:
      - {{metric: f1, below: 0.2, for: 2}}
      - {{metric: auc, shift: down}}
      - {{health: no_data}}
"""


def write(folder: Path, *, rows: int, days: int, state: str) -> None:
    """Files of predictions and confirmations of past days, and the configuration."""
    import duckdb

    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=days)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SELECT setseed(0.5)")
    connection.execute(
        f"CREATE TABLE rows AS SELECT i AS id, TIMESTAMPTZ '{first.isoformat()}' + "  # noqa: S608
        f"to_microseconds(CAST(i * 86400e6 / {rows} AS BIGINT)) AS made, random() < 0.3 AS bad, "
        f"random() AS u, random() AS v FROM range({rows * days}) AS numbers(i)"
    )
    for name, query in {
        "predictions": "SELECT id, made, CASE WHEN bad THEN sqrt(u) ELSE u * u END AS score "
        "FROM rows",
        "confirmations": "SELECT id, made + INTERVAL 1 HOUR AS known FROM rows "
        "WHERE bad AND v < 0.5",
    }.items():
        connection.execute(f"COPY ({query}) TO '{folder / name}.parquet' (FORMAT parquet)")
    connection.close()
    (folder / "pumonitor.yaml").write_text(_CONFIGURATION.format(state=state))


def timed(folder: Path, what: str) -> None:
    """Run a round and print what it took."""
    command = [Path(sys.executable).with_name("pumonitor"), "run"]
    round_ = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(round_.pid, 0)
    if status:
        msg = f"pumonitor run ended with {os.waitstatus_to_exitcode(status)}"
        raise RuntimeError(msg)
    held = used.ru_maxrss * 1024 / 1e6
    print(f"{what:<42} {used.ru_utime + used.ru_stime:6.1f} s of CPU {held:6.0f} MB", flush=True)


def main() -> None:
    """Both rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", default="sqlite:///state.db")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--days", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: what this one held would count for those that it starts.
        files = multiprocessing.get_context("spawn").Process(
            target=write,
            args=(folder,),
            kwargs={"rows": options.rows, "days": options.days, "state": options.state},
        )
        files.start()
        files.join()
        timed(folder, f"{options.days} windows of {options.rows:,} rows")
        timed(folder, "nothing to do")


if __name__ == "__main__":
    main()
