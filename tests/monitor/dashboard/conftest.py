"""A shop whose pages the tests of this folder look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.dashboard.shop_pages import ShopPages


@pytest.fixture(scope="session")
def shop_state(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state database of a shop whose days have all been worked on."""
    file = tmp_path_factory.mktemp("pages") / "state.db"
    shutil.copy(sqlite_template, file)
    with Ledger.open(f"sqlite:///{file}") as ledger:
        ShopPages(ledger)
    return file


@pytest.fixture
def shop(shop_state: Path, tmp_path: Path) -> Iterator[ShopPages]:
    shutil.copy(shop_state, tmp_path / "state.db")
    with Ledger.open(f"sqlite:///{tmp_path / 'state.db'}") as ledger:
        yield ShopPages(ledger)
