"""An outbox in memory and its deliverer."""

from __future__ import annotations

import pytest

from pumonitor.monitor.delivery.sending.delivery import Deliverer
from tests.monitor.delivery.sending.deliveries import PATIENCE, Clock, Recorder
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outbox(clock: Clock) -> OutboxInMemory:
    return OutboxInMemory(clock)


@pytest.fixture
def sink() -> Recorder:
    return Recorder()


@pytest.fixture
def deliverer(clock: Clock, outbox: OutboxInMemory, sink: Recorder) -> Deliverer:
    return Deliverer(outbox, {"mlflow": sink}, clock=clock, patience=PATIENCE, seed=5)
