"""Receivers, a clock, and state databases in files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pumonitor.monitor.delivery.http.posting import Limits
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.delivery.notifications.receivers import HttpReceiver, http_receiver

QUICK = Limits(connect=1.0, read=0.3, total=0.8, answer=20_000, longest_wait=timedelta(hours=1))
NOW = datetime(2026, 4, 2, 6, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        self.now += by


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as one:
        yield one


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path}/state.db") as one:
        yield one
