"""A service waits for its state database, with patience and words."""

from __future__ import annotations

import logging
from threading import Event

import pytest

from pumonitor.monitor.ledger.database.errors import StateError, StateUnavailableError
from pumonitor.monitor.serving.waiting_for_state import opened_in_time


class Waits(Event):
    """Keeps how long it is waited for; `until` waits later it is set."""

    def __init__(self, until: int = 1000) -> None:
        super().__init__()
        self.seconds: list[float] = []
        self.until = until

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout or 0.0)
        if len(self.seconds) == self.until:
            self.set()
        return self.is_set()


def test_it_is_tried_again_after_longer_and_longer_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    attempts = 0

    def open_once() -> str:
        nonlocal attempts
        attempts += 1
        if attempts < 9:
            msg = "the state database postgresql://db/pu cannot be used: connection refused"
            raise StateUnavailableError(msg)
        return "opened"

    waits = Waits()
    with caplog.at_level(logging.WARNING, logger="pumonitor"):
        assert opened_in_time(open_once, stopped=waits) == "opened"
    assert waits.seconds == [1, 2, 4, 8, 16, 30, 30, 30]
    assert caplog.messages[0] == (
        "waiting for the state database, next try in 1 s: the state database postgresql://db/pu "
        "cannot be used: connection refused"
    )


def test_it_ends_when_it_is_told_to_stop() -> None:
    def open_once() -> str:
        msg = "down"
        raise StateUnavailableError(msg)

    assert opened_in_time(open_once, stopped=Waits(until=3)) is None


def test_what_waiting_does_not_mend_is_an_error_at_once() -> None:
    def open_once() -> str:
        msg = "was written by a newer version of pumonitor"
        raise StateError(msg)

    with pytest.raises(StateError, match="newer version"):
        opened_in_time(open_once, stopped=Waits())
