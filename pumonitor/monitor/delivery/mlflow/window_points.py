"""Points of a window's metrics, with the flags of earlier windows that they take back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pumonitor.displayed import INFEASIBLE, UNDEFINED
from pumonitor.monitor.delivery.mlflow.model_link import logged_model_id
from pumonitor.monitor.delivery.mlflow.window_message import WindowMessage

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Run
    from mlflow.entities.model_registry import ModelVersion

__all__ = ["points_of"]


def points_of(
    client: MlflowClient,
    run: Run,
    window: WindowMessage,
    values: Mapping[str, float],
    version: ModelVersion | None,
) -> list[Metric]:
    """Points of all values, linked to the model of a version and to the window's data."""
    from mlflow.entities import Metric

    model_id = None if version is None else logged_model_id(client, version)
    name, digest = window.dataset or (None, None)

    def point(key: str, value: float) -> Metric:
        return Metric(
            key,
            value,
            window.timestamp,
            window.window.index,
            model_id=model_id,
            dataset_name=name,
            dataset_digest=digest,
        )

    logged = [point(key, value) for key, value in values.items()]
    logged += [point(key, 0.0) for key in _taken_back(client, run, window, values)]
    return logged


def _taken_back(
    client: MlflowClient, run: Run, window: WindowMessage, values: Mapping[str, float]
) -> list[str]:
    """Flags to reset to 0: MLflow would show the 1 of an earlier window as the latest value."""
    here = (window.window.index, window.timestamp)
    names = {key.removesuffix(UNDEFINED) for key in values}
    flags = {name + ending for name in names for ending in (UNDEFINED, INFEASIBLE)}
    again = []
    for flag in sorted(flags - set(values)):
        if run.data.metrics.get(flag) == 1:
            history = client.get_metric_history(run.info.run_id, flag)
            if max((point.step, point.timestamp) for point in history) < here:
                again.append(flag)
    return again
