"""A state database that is full, locked or gone is no fault of a window, however often it fails."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.monitored_shop import FIRST, recorded, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 2
NOW = FIRST + timedelta(days=DAYS + 1)
A_MOMENT = timedelta(milliseconds=1)
RULES = WorkRules(attempts_allowed=2, first_wait=A_MOMENT, longest_wait=A_MOMENT)


def shop(folder: Path) -> Path:
    folder.mkdir()
    return write_shop(folder, days=DAYS, maturity=timedelta(days=1), panes="[]", class_prior=0.1)


def jobs_of(path: Path, **options: Any) -> Any:
    configuration = read_configuration(path).configuration
    return open_jobs(configuration, clock=lambda: NOW, deliver=False, rules=RULES, **options)


@contextmanager
def full(ledger: Ledger, file: Path) -> Iterator[None]:
    """No further page: small changes go through, results do not."""
    engine = ledger.database.engine

    def prepare(connection: Any, _record: Any) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

    engine.dispose()
    event.listen(engine, "connect", prepare)
    try:
        yield
    finally:
        event.remove(engine, "connect", prepare)
        engine.dispose()


@contextmanager
def locked(ledger: Ledger, file: Path) -> Iterator[None]:
    """Somebody else writes, and does not end."""
    engine = ledger.database.engine

    def prepare(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA busy_timeout = 20")

    engine.dispose()
    event.listen(engine, "connect", prepare)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()
        event.remove(engine, "connect", prepare)
        engine.dispose()


@contextmanager
def without_tables(ledger: Ledger, file: Path) -> Iterator[None]:
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("ALTER TABLE series RENAME TO gone")
    try:
        yield
    finally:
        other.execute("ALTER TABLE gone RENAME TO series")
        other.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    with jobs_of(shop(tmp_path_factory.mktemp("undisturbed") / "shop")) as jobs:
        assert jobs.run().failures == []
        return recorded(jobs.ledger)


def planned(jobs: Jobs) -> None:
    jobs.plan("card-fraud")


@pytest.mark.parametrize(
    ("trouble", "words"),
    [(full, "is full"), (locked, "is held by another process"), (without_tables, "no such table")],
)
def test_no_window_is_charged_for_it_and_none_is_left_out(
    trouble: Callable[[Ledger, Path], Any],
    words: str,
    undisturbed: list[tuple[Any, ...]],
    tmp_path: Path,
) -> None:
    path = shop(tmp_path / "shop")
    with jobs_of(path) as jobs:
        planned(jobs)
        with trouble(jobs.ledger, path.with_name("state.db")):
            for _ in range(2 * RULES.attempts_allowed):
                done = jobs.run()
                assert (done.collected, done.evaluated, done.bad_input) == (0, 0, 0)
                (failure,) = done.failures
                assert failure.startswith("the state database sqlite")
                assert words in failure
        assert {(one.attempts, one.last_error) for one in jobs.ledger.windows()} == {(0, None)}
        done = jobs.run()
        assert (done.failures, done.evaluated) == ([], DAYS)
        assert recorded(jobs.ledger) == undisturbed


def test_a_full_disk_is_no_fault_of_the_window_on_which_it_shows(
    undisturbed: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    is_full = True

    def on_step(step: str) -> None:
        if is_full and step == "collected":
            raise OSError(errno.ENOSPC, "No space left on device")

    with jobs_of(shop(tmp_path / "shop"), on_step=on_step) as jobs:
        for _ in range(2 * RULES.attempts_allowed):
            (failure,) = jobs.run().failures
            assert "No space left on device" in failure
        # It is known to have failed, and nothing adds up.
        assert sum(one.attempts for one in jobs.ledger.windows()) == 1
        is_full = False
        assert jobs.run().failures == []
        assert recorded(jobs.ledger) == undisturbed
