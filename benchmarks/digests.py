"""Digests of numbers that must not change where code only moves: `python -m benchmarks.digests`.

Prints a line `PART SHA-256` per result and writes them with `--out FILE`; `--against FILE` compares
with such a file and exits with status 1 if one differs.

demo       what `pumonitor demo` prints, its scored mails, what its evaluations logged to MLflow,
           and both ledgers
backfill   a ledger filled for 28 days of simulated predictions: one digest per table, and of what
           `results` and `alerts` print of it
benchmarks what short runs of some benchmarks print

Everything is run as a command and ledgers are read with SQL alone, so nothing here names a module
that could move. Left out: columns of the clock, of processes and of identifiers made at random.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

PARTS: Final = ("demo", "backfill", "benchmarks")

_OF_THE_WORK: Final = {
    "monitors": {"registered_at"},
    "windows": {"fence"},
    "panes": {"collected_at", "evaluated_at"},
    "outbox": {"id", "created", "delivered_at"},
    "audit": {"id", "at"},
    "standings": {"files", "code"},
    "keys": {"value"},
    "prior_states": {"known"},
    "alert_transitions": {"id", "recorded_at", "told_at"},
}
"""By table the columns that two equal runs do not share."""

_PUMONITOR: Final = ("-c", "from pumonitor.cli.app import main; main()")

_BENCHMARKS: Final = (
    "coverage --runs 2 --labeled 50 --auc .9",
    "comparison --runs 2 --labeled 50 --prior .1 --correlation .5",
    "label_noise --seeds 1 --labeled 100",
    "propensities --runs 2 --effective 50 --auc .9",
    "monitoring.expected --seeds 2",
    "monitoring.label_delay --runs 2 --labels 20",
    "monitoring.label_maturity --seeds 3",
    "detection --only false-alarms --quick",
    "detection --only cause --quick",
)

_CONFIGURATION: Final = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      score: score
    positives:
      source: confirmations.parquet
      id: prediction_id
      known_at: confirmed_at
    window: 1d
    maturity: 3d
    panes: [0d, 1d]
    threshold: 0.5
    reference: {start: 2026-01-01, end: 2026-01-15}
    rules:
      - {metric: aul, shift: down, false_alarms_per_year: 2}
      - {metric: auc, drop: 0.05, from: reference}
      - {metric: class_prior, shift: any, false_alarms_per_year: 2}
      - {metric: recall, below: 0.6, for: 2}
      - {metric: labeled_positives, below: 30, severity: warning}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--out", type=Path, help="write the digests there as JSON")
    parser.add_argument("--against", type=Path, help="a file that --out has written")
    arguments = parser.parse_args()
    before = json.loads(arguments.against.read_text()) if arguments.against else {}
    found: dict[str, str] = {}
    runs = {"demo": _demo, "backfill": _backfill, "benchmarks": _benchmarks}
    for part in arguments.only:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in runs[part](Path(folder)):
                found[name] = hashlib.sha256(content.encode()).hexdigest()
                differs = name in before and before[name] != found[name]
                print(f"{name:44} {found[name]}{'  DIFFERS' if differs else ''}", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")
    expected = {name for name in before if name.split(" ")[0] in arguments.only}
    if missing := expected - found.keys():
        print("missing:", ", ".join(sorted(missing)))
    if any(before[name] != found.get(name) for name in expected):
        sys.exit(1)


def _demo(folder: Path) -> Iterator[tuple[str, str]]:
    kept = folder / "demo"
    yield "demo printed", _printed([*_PUMONITOR, "demo", "--keep", str(kept)], folder)
    yield "demo scored.csv", (kept / "scored.csv").read_text()
    for database in sorted(kept.rglob("*.db")):
        if "mlflow" in database.name:
            yield f"demo {database.name} metrics", _metrics(database)
        else:
            for table, rows in _tables(database):
                yield f"demo {database.name} {table}", rows


def _backfill(folder: Path) -> Iterator[tuple[str, str]]:
    _write_tables(folder)
    (folder / "pumonitor.yaml").write_text(_CONFIGURATION)
    dates = ["--from", "2026-01-01", "--to", "2026-01-29", "--as-of", "2026-03-01"]
    yield "backfill printed", _printed([*_PUMONITOR, "backfill", "card-fraud", *dates], folder)
    shown = (
        ["results", "card-fraud", "--format", "json", "--all-revisions"],
        ["alerts", "list", "--history"],
    )
    for one in shown:
        yield f"backfill {one[0]} printed", _printed([*_PUMONITOR, *one], folder)
    for table, rows in _tables(folder / "state.db"):
        yield f"backfill {table}", rows


def _write_tables(folder: Path) -> None:
    """1,500 predictions a day, from day 19 on with a worse ranking and more positives."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(20260101)
    days, rows = 28, 1500
    day = np.repeat(np.arange(days), rows)
    is_later = day >= 19
    scored_at = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(
        86_400.0 * day + np.sort(rng.uniform(0, 86_400, days * rows).reshape(days, rows)).ravel(),
        unit="s",
    )
    is_positive = rng.random(days * rows) < np.where(is_later, 0.15, 0.08)
    distance = np.where(is_later, 1.2, 2.5)
    pd.DataFrame(
        {
            "prediction_id": np.arange(days * rows),
            "scored_at": scored_at,
            "score": 1 / (1 + np.exp(-rng.normal(distance * is_positive - 1.5))),
        }
    ).to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_positive & (rng.random(days * rows) < 0.5))
    delay = pd.to_timedelta(rng.exponential(86_400, len(confirmed)), unit="s")
    pd.DataFrame(
        {"prediction_id": confirmed, "confirmed_at": scored_at[confirmed] + delay}
    ).to_parquet(folder / "confirmations.parquet")


def _benchmarks(folder: Path) -> Iterator[tuple[str, str]]:
    for one in _BENCHMARKS:
        name, *options = one.split(" ")
        # Programs stand in this folder, so they are run from here.
        yield f"benchmarks {one}", _printed(["-m", f"benchmarks.{name}", *options], Path.cwd())


def _printed(arguments: Sequence[str], folder: Path) -> str:
    """What a run prints, without times and without where it ran; 1 is a rule that fires."""
    environment = {**os.environ, "COLUMNS": "120", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1} or "Traceback (most recent call last)" in done.stderr:
        raise RuntimeError(done.stderr)
    text = done.stdout.replace(str(folder.resolve()), "").replace(str(folder), "")
    return re.sub(r"\b\d+(\.\d+)?\s?(s|seconds|min|minutes)\b", "TIME", text)


def _tables(database: Path) -> Iterator[tuple[str, str]]:
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        names = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        for (table,) in sorted(names):
            if table.startswith(("sqlite_", "alembic_")):
                continue
            left_out = _OF_THE_WORK.get(table, set())
            described = connection.execute(f'pragma table_info("{table}")').fetchall()
            columns = [row[1] for row in described if row[1] not in left_out]
            listed = ", ".join(f'"{column}"' for column in columns)
            # The names come from the database's own schema.
            query = f'select {listed} from "{table}"'  # noqa: S608
            rows = connection.execute(query).fetchall()
            yield table, "\n".join(sorted(map(repr, [tuple(columns), *rows])))


def _metrics(database: Path) -> str:
    """Of evaluations, which have one step: how many windows are sent depends on the time left."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "select key, value, is_nan from metrics where step = 0"
        ).fetchall()
    return "\n".join(sorted(map(repr, rows)))


if __name__ == "__main__":
    main()
