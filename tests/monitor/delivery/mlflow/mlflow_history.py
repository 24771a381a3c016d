"""What MLflow holds of a monitor, read back, and what it should hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from pumonitor.monitor.delivery.mlflow.metric_values import metric_values

Points = dict[str, list[tuple[int, int, float]]]
"""By metric name all points, (step, timestamp, value), sorted."""


def expected_points(payloads: Iterable[Mapping[str, Any]]) -> Points:
    """What the payloads say, without going through the sink's own times."""
    points: Points = {}
    for payload in payloads:
        window = payload["window"]
        end = datetime.fromisoformat(window["end"])
        stamp = int(end.timestamp()) * 1000 + payload["revision"]
        values = metric_values(
            payload["metrics"], segment=payload["segment"], group=group_of(payload)
        )
        for name, value in values.items():
            points.setdefault(name, []).append((window["index"], stamp, value))
    return {name: sorted(found) for name, found in points.items()}


def group_of(payload: Mapping[str, Any]) -> str:
    """What names begin with: mature panes are the series, every other pane is one of its own."""
    if payload["state"] == "provisional":
        return f"pu_after_{payload['age']}"
    return {"mature": "pu", "final": "pu_final"}[payload["state"]]


def active_runs(client: Any, monitor: str) -> list[Any]:
    experiment = client.get_experiment_by_name(f"pumonitor/{monitor}")
    return [] if experiment is None else list(client.search_runs([experiment.experiment_id]))


def runs_ever(client: Any, monitor: str) -> list[Any]:
    """The deleted ones as well."""
    from mlflow.entities import ViewType

    experiment = client.get_experiment_by_name(f"pumonitor/{monitor}")
    return list(client.search_runs([experiment.experiment_id], run_view_type=ViewType.ALL))


def points_of(client: Any, run: Any) -> Points:
    found = {
        name: sorted(
            (point.step, point.timestamp, point.value)
            for point in client.get_metric_history(run.info.run_id, name)
        )
        for name in run.data.metrics
    }
    return dict(sorted(found.items()))


def stored_points(database: Path, run: Any) -> Points:
    """All points of a run in the server's own database: hundreds of series in one question."""
    points: Points = {}
    with closing(sqlite3.connect(database)) as connection:
        for name, step, stamp, value in connection.execute(
            "SELECT key, step, timestamp, value FROM metrics WHERE run_uuid = ? "
            "ORDER BY key, step, timestamp, value",
            [run.info.run_id],
        ):
            points.setdefault(name, []).append((step, stamp, value))
    return points


def only_run(client: Any, monitor: str) -> Any:
    (run,) = active_runs(client, monitor)
    return run


def file_paths(client: Any, run_id: str, folder: str | None = None) -> set[str]:
    found: set[str] = set()
    for entry in client.list_artifacts(run_id, folder):
        found |= file_paths(client, run_id, entry.path) if entry.is_dir else {entry.path}
    return found
