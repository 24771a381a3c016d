"""Windows as they are sent to MLflow, and a plain SQLite store of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery_ports import OutboxMessage
from tests.monitor.delivery.mlflow.sent_windows import Clock, Make, Wrap

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)

# What MLflow itself emits, 3.9 to now, with current pandas and SQLAlchemy; ours stay errors.
WARNINGS_OF_MLFLOW = (
    r"ignore:The ``noload`` loader strategy is deprecated:DeprecationWarning",
    r"ignore:Starting with pandas version 4.0 all arguments of all:DeprecationWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for accepted in WARNINGS_OF_MLFLOW:
                item.add_marker(pytest.mark.filterwarnings(accepted))


class RunIdsInMemory(dict[str, str]):
    def set(self, key: str, run_id: str) -> None:
        self[key] = run_id


@pytest.fixture(scope="session")
def sqlite_address(tmp_path_factory: pytest.TempPathFactory, mlflow_client_class: Any) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'mlflow.db'}"


@pytest.fixture
def payload() -> Callable[..., dict[str, Any]]:
    """A payload of a day after the first, mature unless of another pane; numbers differ."""

    def make(day: int = 0, revision: int = 3, **others: Any) -> dict[str, Any]:
        start = FIRST_DAY + timedelta(days=day)
        end = start + timedelta(days=1)
        value = 0.9 - 0.01 * day - 0.001 * revision
        return {
            "monitor": "card-fraud",
            "model_version": "",
            "segment": "",
            "window": {
                "start": start.isoformat(),
                "end": end.isoformat(),
                "index": (start - datetime(1970, 1, 1, tzinfo=UTC)).days,
            },
            "state": ("provisional", "provisional", "provisional", "mature", "final")[revision],
            "revision": revision,
            "age": f"{revision * 8}d",
            "as_of": (end + timedelta(days=revision * 8)).isoformat(),
            "metrics": {
                "auc": {"value": value, "low": value - 0.05, "high": value + 0.04},
                "n_labeled": 30 + day,
            },
        } | others

    return make


@pytest.fixture
def message() -> Callable[[dict[str, Any]], OutboxMessage]:
    def make(payload: dict[str, Any]) -> OutboxMessage:
        return OutboxMessage(id=1, destination="mlflow", lane="one", key="one", payload=payload)

    return make


@pytest.fixture
def client(sqlite_address: str, mlflow_client_class: Any) -> Any:
    return mlflow_client_class(tracking_uri=sqlite_address, registry_uri=sqlite_address)


@pytest.fixture
def run_ids() -> RunIdsInMemory:
    return RunIdsInMemory()


@pytest.fixture
def sink(sqlite_address: str, client: Any, run_ids: RunIdsInMemory) -> MlflowSink:
    return MlflowSink(sqlite_address, run_ids=run_ids, clock=Clock())


@pytest.fixture
def send(sink: MlflowSink, message: Wrap) -> Callable[[dict[str, Any]], None]:
    return lambda payload: sink.send(message(payload))


@pytest.fixture
def monitor(request: pytest.FixtureRequest) -> str:
    return f"monitor of {request.node.name}"


@pytest.fixture
def two_panes(payload: Make) -> Callable[[str], list[dict[str, Any]]]:
    def make(monitor: str) -> list[dict[str, Any]]:
        page = {"report.html": "<p>page</p>"}
        return [
            payload(0, monitor=monitor, metrics={"auc": 0.9}, verdict="ok"),
            payload(0, 3, monitor=monitor, metrics={"auc": 0.8}, files=page, verdict="firing"),
        ]

    return make
