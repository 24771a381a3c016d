"""MLflow, as it holds the monitored shop of one test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.monitor.delivery.mlflow.mlflow_server import Server


@pytest.fixture
def client(mlflow_server: Server, mlflow_client_class: Any, tmp_path: Path) -> Iterator[Any]:
    """What it holds of the shop is put out of the way of the next test."""
    client = mlflow_client_class(tracking_uri=mlflow_server.address)
    yield client
    experiment = client.get_experiment_by_name("pumonitor/card-fraud")
    if experiment is not None:
        client.rename_experiment(experiment.experiment_id, f"{experiment.name} of {tmp_path.name}")
