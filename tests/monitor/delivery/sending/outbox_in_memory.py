"""An outbox in memory that keeps the rules of the port, by the clock it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.ports import Clock


@dataclass
class Row:
    message: OutboxMessage
    due: datetime
    leased_until: datetime
    state: str = "waiting"
    reason: str = ""


class OutboxInMemory:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rows: dict[int, Row] = {}
        self.claims = 0

    def add(
        self, payload: Mapping[str, Any], *, lane: str, destination: str = "mlflow", key: str = ""
    ) -> int:
        number = len(self.rows) + 1
        message = OutboxMessage(
            id=number, destination=destination, lane=lane, key=key or str(number), payload=payload
        )
        self.rows[number] = Row(message, due=self.clock(), leased_until=self.clock())
        return number

    def claim(self, destination: str, *, limit: int, lease: timedelta) -> Sequence[OutboxMessage]:
        now = self.clock()
        closed: set[str] = set()
        found = []
        for row in self.rows.values():
            if row.message.destination != destination or row.state != "waiting":
                continue
            if row.due > now or row.leased_until > now:
                closed.add(row.message.lane)
            elif row.message.lane not in closed and len(found) < limit:
                self.claims += 1
                row.message = replace(row.message, claim=str(self.claims))
                row.leased_until = now + lease
                found.append(row.message)
        return found

    @contextmanager
    def keeping(
        self, messages: Sequence[OutboxMessage], *, lease: timedelta
    ) -> Iterator[Callable[[], bool]]:
        """Nothing is renewed: the claim surely holds for half of the lease."""
        until = self.clock() + lease / 2
        yield lambda: self.clock() < until

    def delivered(self, message: OutboxMessage) -> None:
        if row := self._held(message):
            row.state = "delivered"

    def failed(
        self, message: OutboxMessage, *, reason: str, retry_after: timedelta, refused: bool
    ) -> None:
        if row := self._held(message):
            row.message = replace(
                message, attempts=message.attempts + 1, refusals=message.refusals + refused
            )
            row.due, row.reason = self.clock() + retry_after, reason
            row.leased_until = self.clock()

    def set_aside(self, message: OutboxMessage, *, reason: str) -> None:
        if row := self._held(message):
            row.state, row.reason = "set aside", reason

    def release(self, messages: Sequence[OutboxMessage]) -> None:
        for message in messages:
            if row := self._held(message):
                row.leased_until = self.clock()

    def states(self) -> list[str]:
        return [row.state for row in self.rows.values()]

    def _held(self, message: OutboxMessage) -> Row | None:
        row = self.rows[message.id]
        is_held = row.message.claim == message.claim and self.clock() < row.leased_until
        return row if is_held and row.state == "waiting" else None
