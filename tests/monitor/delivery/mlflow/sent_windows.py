"""Kinds of fixtures that make messages, and a clock of the sink, for tests of MLflow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pumonitor.monitor.delivery_ports import OutboxMessage

Make = Callable[..., dict[str, Any]]
Wrap = Callable[[dict[str, Any]], OutboxMessage]


class Clock:
    """A moment later at each look."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> datetime:
        self.looks += 1
        return datetime.fromtimestamp(1_790_000_000 + self.looks, tz=UTC)
