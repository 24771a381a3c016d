"""A shop whose pages the tests of this folder look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.ledger import Ledger
from tests.given_labels import labels_as_given
from tests.monitor.alerted_ledger import DAY
from tests.monitor.alerted_ledger import FIRST as FIRST_OF_SHOP
from tests.monitor.dashboard.shop_pages import DAYS, EvaluatedPages, ShopPages
from tests.monitor.monitored_shop import FIRST, MATURITY, write_shop


@pytest.fixture(scope="session")
def shop_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state database of a shop whose days have all been worked on."""
    file = tmp_path_factory.mktemp("pages") / "state.db"
    with Ledger.open(f"sqlite:///{file}") as ledger:
        ShopPages(ledger)
    return file


@pytest.fixture
def shop(shop_state: Path, tmp_path: Path) -> Iterator[ShopPages]:
    shutil.copy(shop_state, tmp_path / "state.db")
    with Ledger.open(f"sqlite:///{tmp_path / 'state.db'}") as ledger:
        shop = ShopPages(ledger, days=0).at(FIRST_OF_SHOP + DAYS * DAY + timedelta(minutes=1))
        shop.found.now = shop.now
        yield shop


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvaluatedPages]:
    """Pages of two days of predictions that were really evaluated; tests must not change them."""
    path = write_shop(
        tmp_path_factory.mktemp("evaluated"), days=2, panes="[0d]", class_prior="[.1, .07, .13]"
    )
    now = FIRST + 2 * timedelta(days=1) + 2 * MATURITY
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        with labels_as_given():
            assert jobs.run().failures == []
        yield EvaluatedPages(jobs.ledger, configuration.monitors, now=now)
