"""Whether MLflow holds what a ledger says: no point missing, doubled or altered, no ghost run."""

from __future__ import annotations

from typing import Any

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.views.numbers import INFEASIBLE, UNDEFINED
from tests.monitor.delivery.mlflow.mlflow_history import (
    Points,
    active_runs,
    expected_points,
    stored_points,
)
from tests.monitor.delivery.mlflow.mlflow_server import Server

MONITOR = "card-fraud"


def said_by(ledger: Ledger, model_version: str) -> Points:
    """The points that MLflow should hold of a version, from the ledger's results alone."""
    index = {one.window.start: one.window.index for one in ledger.windows(MONITOR)}
    return expected_points(
        {
            "window": {"end": row.window_end.isoformat(), "index": index[row.window_start]},
            "revision": row.revision,
            "state": row.state,
            "age": shown_duration(row.as_of - row.window_end),
            "segment": row.segment,
            "metrics": {
                row.metric: None
                if row.value is None
                else {
                    "value": row.value,
                    "low": row.low,
                    "high": row.high,
                    "infeasible": row.infeasible,
                }
            },
        }
        for row in ledger.results(MONITOR, model_version=model_version, revisions="all")
    )


def taken_back(points: Points) -> set[tuple[str, int, int]]:
    """Where MLflow is told that a metric is no longer undefined, or impossible."""
    return {
        (name.removesuffix(UNDEFINED).removesuffix(INFEASIBLE), step, stamp)
        for name, found in points.items()
        for step, stamp, value in found
        if name.endswith((UNDEFINED, INFEASIBLE)) and value == 0
    }


def assert_mlflow_holds_what_is_recorded(server: Server, client: Any, ledger: Ledger) -> None:
    runs = {run.data.tags["pumonitor.model_version"]: run for run in active_runs(client, MONITOR)}
    assert len(active_runs(client, MONITOR)) == len(runs)
    assert sorted(runs) == ["1", "2"]
    for version, run in runs.items():
        said, held = said_by(ledger, version), stored_points(server.database, run)
        again = taken_back(held)
        assert again <= {
            (name.removesuffix(UNDEFINED), step, stamp)
            for name, found in said.items()
            for step, stamp, _ in found
        }
        for name, found in held.items():
            kept = [
                (step, stamp, value)
                for step, stamp, value in found
                if value or not name.endswith((UNDEFINED, INFEASIBLE))
            ]
            assert kept == said.pop(name), name
        assert said == {}
