"""A registry of MLflow in a file of SQLite."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW

WARNINGS = (*WARNINGS_OF_MLFLOW, r"ignore:.*Any type hint is inferred as AnyType:UserWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for accepted in WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(accepted))


@pytest.fixture
def registry(tmp_path: Path, mlflow_database: Path, mlflow_client_class: Any) -> Any:
    """A client of tables of its own, beside the shop."""
    shutil.copy(mlflow_database, tmp_path / "mlflow.db")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    return mlflow_client_class(tracking_uri=uri, registry_uri=uri)
