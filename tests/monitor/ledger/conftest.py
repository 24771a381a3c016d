"""Ledgers in fresh state databases: files of SQLite, databases of a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.ledger import Ledger


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
