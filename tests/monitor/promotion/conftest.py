"""Registries of MLflow: a file of SQLite, and a real server; a ledger, and a promoter."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.promoter import Promoter
from pumonitor.monitor.promotion.registry import Registry
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.promotion.promotion_worker import DESTINATIONS, registered

NUMBERS = count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for accepted in WARNINGS_OF_MLFLOW:
                item.add_marker(pytest.mark.filterwarnings(accepted))


@pytest.fixture(scope="session")
def registry_file(
    tmp_path_factory: pytest.TempPathFactory, mlflow_database: Path, mlflow_client_class: Any
) -> str:
    file = tmp_path_factory.mktemp("registry") / "registry.db"
    shutil.copy(mlflow_database, file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.slow)])
def registry_address(request: pytest.FixtureRequest) -> str:
    """All tests share both: each keeps to models of its own."""
    if request.param == "file":
        return str(request.getfixturevalue("registry_file"))
    return str(request.getfixturevalue("mlflow_server").address)


@pytest.fixture
def client(registry_address: str, mlflow_client_class: Any) -> Any:
    return mlflow_client_class(tracking_uri=registry_address, registry_uri=registry_address)


@pytest.fixture
def model(client: Any) -> str:
    """A registered model with versions 1, 2 and 3; the first is champion."""
    return registered(client, f"card-fraud-{next(NUMBERS)}")


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    with Ledger.open(address) as one:
        yield one


@pytest.fixture
def make_promoter(registry_address: str, ledger: Ledger) -> Callable[..., Promoter]:
    """A promoter as another process would have it."""

    def make(**options: Any) -> Promoter:
        options = {"destinations": DESTINATIONS} | options
        return Promoter(ledger.promotions, Registry(registry_address), **options)

    return make


@pytest.fixture
def promoter(make_promoter: Callable[..., Promoter]) -> Promoter:
    return make_promoter()
