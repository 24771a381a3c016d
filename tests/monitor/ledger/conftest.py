"""Ledgers in fresh state databases: files of SQLite, databases of a real PostgreSQL server."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.kept_beside_results import evaluate_one
from tests.monitor.ledger.monitored_days import collected, day, planned


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'state.db'}"
    return str(request.getfixturevalue("postgres").new_database())


@pytest.fixture
def open_ledger(address: str) -> Iterator[Callable[..., Ledger]]:
    """Open the state database again, as another process would."""
    opened: list[Ledger] = []

    def open_one(**options: object) -> Ledger:
        opened.append(Ledger.open(address, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def ledger(open_ledger: Callable[..., Ledger]) -> Ledger:
    return open_ledger(rules=WorkRules(attempts_allowed=3))


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    """Two monitors of six days; the last two are provisional."""
    rng = random.Random(4)  # noqa: S311
    planned(ledger, 6)
    planned(ledger, 6, monitor="other")
    for _ in range(12):
        collected(ledger, now=day(5).end + timedelta(hours=1))
    for _ in range(12):
        evaluate_one(ledger, rng)
    return ledger
