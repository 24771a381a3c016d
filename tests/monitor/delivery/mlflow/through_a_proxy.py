"""Delivery to MLflow through a proxy that can fail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery, Patience
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        # Each look is later, so that of two runs one is older.
        self.now += timedelta(milliseconds=1)
        return self.now


class Service:
    """A deliverer with its outbox, and MLflow as its one destination."""

    def __init__(self, address: str, *, timeout_seconds: int = 20, retries: int = 0) -> None:
        self.clock = Clock()
        self.outbox = OutboxInMemory(self.clock)
        self.sink = MlflowSink(
            address,
            run_ids=RunIdsInMemory(),
            limits=Limits(timeout_seconds=timeout_seconds, retries=retries),
            clock=self.clock,
        )
        self._deliverer = Deliverer(
            self.outbox, {"mlflow": self.sink}, clock=self.clock, patience=Patience(), seed=3
        )

    def add(self, *payloads: dict[str, Any]) -> None:
        for payload in payloads:
            self.outbox.add(payload, lane=payload["monitor"])

    def deliver(self) -> Delivery:
        self.clock.now += timedelta(hours=1)
        return self._deliverer.deliver(budget=timedelta(hours=2))["mlflow"]

    def deliver_all(self) -> None:
        for _ in range(10):
            self.deliver()
            if set(self.outbox.states()) == {"delivered"}:
                return
        reasons = {row.reason for row in self.outbox.rows.values()}
        pytest.fail(f"not delivered: {self.outbox.states()}, {reasons}")
