"""A clock, a destination that records, and a deliverer's patience, for tests of delivery."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery, Patience
from pumonitor.monitor.delivery.sending.failures import DestinationDownError
from pumonitor.monitor.delivery_ports import OutboxMessage
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


HOUR = timedelta(hours=1)


PATIENT_SECONDS = 20.0


PATIENCE = Patience(
    first_wait=timedelta(seconds=40),
    longest_wait=timedelta(minutes=10),
    refusals=3,
    failures_to_open=2,
    batch=4,
    lease=timedelta(minutes=6),
)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        self.now += by


class Recorder:
    """A destination: keeps the numbers it got, fails as it is told."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.asked: list[int] = []
        self.react: Callable[[int], None] = lambda number: None

    def send(self, message: OutboxMessage) -> None:
        number = message.payload["number"]
        self.asked.append(number)
        self.react(number)
        self.got.append(number)


def down(number: int) -> None:
    msg = "nobody there"
    raise DestinationDownError(msg)


def fill(outbox: OutboxInMemory, lanes: str, **others: str) -> None:
    for number, lane in enumerate(lanes):
        outbox.add({"number": number}, lane=lane, **others)


def deliver(deliverer: Deliverer, budget: timedelta = HOUR) -> Delivery:
    return deliverer.deliver(budget=budget)["mlflow"]
