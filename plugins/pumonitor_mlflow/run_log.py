"""Writing an evaluation to its MLflow run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pumonitor

if TYPE_CHECKING:
    from mlflow.models import EvaluationArtifact

_FOLDER = "pu"
_BATCH = 900  # MLflow takes at most 1000 in one request.


def tag_run(run_id: str, *, assumption: str | None) -> None:
    """Note on the run which version computed its numbers, and what they take for granted."""
    from mlflow import MlflowClient

    client = MlflowClient()
    client.set_tag(run_id, "pumonitor.version", pumonitor.__version__)
    if assumption is not None:
        client.set_tag(run_id, "pumonitor.assumption", assumption)


def log_metrics(values: Mapping[str, float], *, run_id: str) -> None:
    """Log metrics in as few requests as MLflow allows."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric

    timestamp = int(time.time() * 1000)
    metrics = [Metric(key, value, timestamp, 0) for key, value in values.items()]
    client = MlflowClient()
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def log_files(directory: Path, *, run_id: str) -> dict[str, EvaluationArtifact]:
    """Log the files of a directory below ``pu/``; returns them as MLflow's artifacts by name."""
    from mlflow import MlflowClient

    from pumonitor_mlflow.artifacts import as_artifact

    MlflowClient().log_artifacts(run_id, str(directory), artifact_path=_FOLDER)
    return {
        f"{_FOLDER}/{path.stem}": as_artifact(path, uri=_uri(run_id, path.name))
        for path in sorted(directory.iterdir())
    }


def _uri(run_id: str, name: str) -> str:
    from mlflow.tracking.artifact_utils import get_artifact_uri

    # Of this run whether or not it is the active one, as mlflow.get_artifact_uri asks.
    return str(get_artifact_uri(run_id, f"{_FOLDER}/{name}"))  # type: ignore[no-untyped-call]
