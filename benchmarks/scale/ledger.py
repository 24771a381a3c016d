"""A ledger of many monitors and workers: `python -m benchmarks.scale.ledger [--sqlite]`.

The windows of one monitor with many segments are evaluated by rounds of its own and copied under
the names of the others, by the state database: a server of PostgreSQL that pip brings, or a file of
SQLite. Printed are

1. rows and bytes of the ledger,
2. a round of `pumonitor run`, as a process, where every monitor has nothing to do: CPU and wall
   seconds, peak memory,
3. workers, a process each, that take turns at one new window of each monitor and store made-up
   panes for it: seconds, the slowest claim, windows stored twice or not at all.

What the rounds of the first monitor take is no part of it: `python -m benchmarks.monitoring`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import duckdb
from sqlalchemy import func, select

from benchmarks.copied_history import copy_history, rows_of_tables
from benchmarks.monitoring.idle import timed
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.ledger.database.schema import evaluations, panes, windows
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane, CollectedSeries
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries, MetricResult
from pumonitor.monitor.ledger.results.newest_panes import HEADLINES
from pumonitor.ports import Pane, Window
from pumonitor.tables import ScoreTable

GOAL_SECONDS: Final = 5.0
_ROWS_OF_SEGMENT: Final = 12
_TABLE: Final = ScoreTable.from_counts([1, 2, 7], [60, 30, 10], edges=[0.0, 0.3, 0.6, 1.0])
_MONITOR: Final = """\
  m{number:04}:
    predictions:
      {{source: predictions.parquet, id: id, time: made, score: score, segments: [place]}}
    positives: {{source: confirmations.parquet, id: id, known_at: known}}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    class_prior: 0.3
    rules:
      - {{metric: aul, below: 0.2, for: 2}}
      - {{metric: precision, below: 0.05, per: place}}
      - {{health: no_data}}
"""


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Address of an empty database in a server of its own, which ends with the context."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pgserver

    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        server.cleanup()


def write(folder: Path, state: str, *, monitors: int, segments: int, days: int) -> datetime:
    """Files of predictions and confirmations up to now, and the configuration; today's midnight."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=days)
    daily = segments * _ROWS_OF_SEGMENT
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SELECT setseed(0.5)")
    connection.execute(
        f"CREATE TABLE rows AS SELECT i AS id, TIMESTAMPTZ '{first.isoformat()}' + "  # noqa: S608
        f"to_microseconds(CAST(i * 86400e6 / {daily} AS BIGINT)) AS made, "
        f"'place ' || i % {segments} AS place, random() < 0.3 AS bad, random() AS u, "
        f"random() AS v FROM range({(days + 1) * daily}) AS numbers(i)"
    )
    now = datetime.now(UTC).isoformat()
    scored = "id, made, place, CASE WHEN bad THEN sqrt(u) ELSE u * u END AS score"
    for name, chosen in (
        ("predictions", f"SELECT {scored} FROM rows WHERE made <= TIMESTAMPTZ '{now}'"),  # noqa: S608
        ("confirmations", "SELECT id, made AS known FROM rows WHERE bad AND v < 0.5"),
    ):
        connection.execute(f"COPY ({chosen}) TO '{folder / name}.parquet' (FORMAT parquet)")
    listed = "".join(_MONITOR.format(number=number) for number in range(monitors))
    (folder / "pumonitor.yaml").write_text(f"state: {state}\nmonitors:\n{listed}")
    return today


def fill(folder: Path, today: datetime) -> None:
    """Evaluate the windows of the first monitor, and copy them."""
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    first, *others = configuration.monitors
    started = time.perf_counter()
    with open_jobs(configuration, monitor=first) as jobs:
        done = jobs.run()
        assert not done.failures, done.failures
        number = done.evaluated
    print(f"{number} windows of one monitor evaluated in {time.perf_counter() - started:.0f} s")
    started = time.perf_counter()
    with Ledger.open(configuration.state_address) as ledger:
        copy_history(
            ledger,
            first,
            others,
            results_since=today - timedelta(days=2),
            # The others would be ten times as many rows, which no round without work reads.
            metrics=HEADLINES,
        )
        print(f"copied to {len(others)} others in {time.perf_counter() - started:.0f} s")
        print("  ".join(f"{name} {count:,}" for name, count in rows_of_tables(ledger).items()))


# -- workers that take turns --------------------------------------------------------------------


def plan_one_window_more(folder: Path, today: datetime) -> None:
    """A window of tomorrow for each monitor, whose pane is due at its end."""
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    start = today + timedelta(days=1)
    window = Window(start=start, end=start + timedelta(days=1), index=start.toordinal())
    pane = Pane(window=window, number=0, state="mature", as_of=window.end)
    with Ledger.open(configuration.state_address) as ledger:
        for name, one in configuration.monitors.items():
            ledger.plan(name, configuration_hash(one), [pane])


def take_turns(address: str, hashes: dict[str, str], now: datetime, segments: int) -> Any:
    """One worker: collect and evaluate until nothing is left; number of each, slowest claim."""
    collected = evaluated = 0
    slowest = 0.0
    with Ledger.open(address) as ledger:
        owner = f"worker {os.getpid()}"
        while True:
            started = time.perf_counter()
            claim = ledger.claim_collect(owner, now=now, monitors=hashes)
            slowest = max(slowest, time.perf_counter() - started)
            if claim is not None:
                ledger.commit_collect(claim, _counted(claim, segments))
                collected += 1
                continue
            started = time.perf_counter()
            claim = ledger.claim_evaluate(owner, monitors=hashes)
            slowest = max(slowest, time.perf_counter() - started)
            if claim is not None:
                ledger.commit_evaluate(claim, _judged(claim, segments))
                evaluated += 1
                continue
            if not any(ledger.holders()):
                return collected, evaluated, slowest


def _counted(claim: Claim, segments: int) -> list[CollectedPane]:
    return [
        CollectedPane(
            number=one.pane.number,
            digest="d",
            counts={"predictions": 110},
            series=[
                CollectedSeries(model_version="", segment=f"place={number}", table=_TABLE)
                for number in range(segments)
            ],
        )
        for one in claim.panes
    ]


def _judged(claim: Claim, segments: int) -> list[EvaluatedPane]:
    metrics = [
        MetricResult(metric=name, value=0.5, low=0.4, high=0.6, n_labeled=10, n_unlabeled=100)
        for name in ("aul", "auc", "precision", "recall", "f1")
    ]
    return [
        EvaluatedPane(
            number=one.pane.number,
            series=[
                EvaluatedSeries(
                    model_version="", segment=f"place={number}", evaluation={}, results=metrics
                )
                for number in range(segments)
            ],
        )
        for one in claim.panes
    ]


def work_together(folder: Path, today: datetime, *, workers: int, segments: int) -> None:
    """All workers at once, then what the ledger says of the windows."""
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    hashes = {name: configuration_hash(one) for name, one in configuration.monitors.items()}
    now = today + timedelta(days=2)
    task = (configuration.state_address, hashes, now, segments)
    with Ledger.open(configuration.state_address) as ledger:
        due = sum(ledger.counts(now=now, monitor=name).to_collect for name in hashes)
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        done = pool.starmap(take_turns, [task] * workers, chunksize=1)
    seconds = time.perf_counter() - started
    with (
        Ledger.open(configuration.state_address) as ledger,
        ledger.database.reading() as connection,
    ):
        new = select(windows.c.window_key).where(windows.c.window_end == now)
        stored = connection.execute(
            select(func.count(), func.count(panes.c.revision), func.max(panes.c.revision)).where(
                panes.c.window_key.in_(new)
            )
        ).one()
        rows = connection.scalar(
            select(func.count()).select_from(evaluations).where(evaluations.c.window_key.in_(new))
        )
    collected, evaluated = (sum(one[step] for one in done) for step in (0, 1))
    print(
        f"{workers} workers: {due} windows in {seconds:.1f} s; collected {collected} and evaluated "
        f"{evaluated} times, from {min(one[1] for one in done)} to {max(one[1] for one in done)} a "
        f"worker; slowest claim {max(one[2] for one in done):.2f} s; {stored[1]} of {stored[0]} "
        f"new panes have results, {rows} of {stored[0] * segments} evaluations"
    )
    assert (collected, evaluated) == (due, due)
    assert (stored[1], stored[2], rows) == (stored[0], 0, stored[0] * segments)


def main() -> None:
    """Fill the ledger, then measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitors", type=int, default=1000)
    parser.add_argument("--segments", type=int, default=100)
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--sqlite", action="store_true", help="a file instead of PostgreSQL")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.sqlite:
            measure(folder, f"sqlite:///{folder}/state.db", options)
        else:
            with postgresql_server() as state:
                measure(folder, state, options)


def measure(folder: Path, state: str, options: argparse.Namespace) -> None:
    """All of it, in a folder and a state database that are empty."""
    today = write(
        folder,
        state,
        monitors=options.monitors,
        segments=options.segments,
        days=options.windows + 1,
    )
    fill(folder, today)
    for _ in range(3):
        timed(folder, "nothing to do")
    plan_one_window_more(folder, today)
    work_together(folder, today, workers=options.workers, segments=min(options.segments, 10))


if __name__ == "__main__":
    main()
