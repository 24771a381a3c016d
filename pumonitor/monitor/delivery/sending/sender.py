"""Claim, send and acknowledge the messages of one destination, in order and through outages."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final, Literal, Protocol, runtime_checkable

import numpy as np

from pumonitor.monitor.delivery.sending.circuit_breaker import CircuitBreaker
from pumonitor.monitor.delivery.sending.failures import (
    DestinationDownError,
    MessageRefusedError,
    presentable,
)
from pumonitor.monitor.delivery_ports import Outbox, OutboxMessage, Sink
from pumonitor.monitor.doubled_wait import doubled_wait
from pumonitor.ports import Clock

_SEVERAL: Final = 20
_SETTLE_EVERY: Final = 20.0
"""Seconds; what was sent since is sent again if the process is killed."""

Stopped = Literal["nothing due", "out of time", "left alone", "told to stop", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Number of attempts and waits of delivery.

    Attributes
    ----------
    first_wait, longest_wait : timedelta
        Wait before a message is tried again. It doubles with each failure, and a random part of up
        to half is subtracted, so that messages that failed together are not tried together.
    refusals : int
        Number of refusals after which a message is set aside; outages do not count.
    failures_to_open : int
        Number of failures in a row after which a destination is not tried, for the same waits.
    batch : int
        Messages claimed at once; twenty times as many where the destination takes several at once.
    lease : timedelta
        Length of a claim, renewed while messages are sent. Others wait so long for a process that
        died on another machine.
    """

    first_wait: timedelta = timedelta(seconds=30)
    longest_wait: timedelta = timedelta(minutes=15)
    refusals: int = 8
    failures_to_open: int = 3
    batch: int = 20
    lease: timedelta = timedelta(minutes=1)

    def __post_init__(self) -> None:
        if not timedelta() < self.first_wait <= self.longest_wait:
            msg = (
                "waits must satisfy 0 < first_wait <= longest_wait, got "
                f"{self.first_wait} and {self.longest_wait}"
            )
            raise ValueError(msg)
        if min(self.refusals, self.failures_to_open, self.batch) < 1 or self.lease <= timedelta():
            msg = "refusals, failures_to_open and batch must be >= 1 and lease > 0"
            raise ValueError(msg)


@dataclass(slots=True, kw_only=True)
class Delivery:
    """Result of one round of delivery to one destination.

    Attributes
    ----------
    delivered, failed, set_aside : int
        Messages.
    stopped : {"nothing due", "out of time", "left alone", "told to stop", "failed"}
        Why the round ended; "failed": messages could not be claimed or marked as delivered.
    reason : str
        Of the last failure, "" without any.
    """

    delivered: int = 0
    failed: int = 0
    set_aside: int = 0
    stopped: Stopped = "nothing due"
    reason: str = ""

    def add(self, other: Delivery) -> None:
        """Add the result of a later part of the round."""
        self.delivered += other.delivered
        self.failed += other.failed
        self.set_aside += other.set_aside
        self.stopped = other.stopped
        self.reason = other.reason or self.reason


class Sender:
    """Sends the messages of the outbox for one destination; used by one thread.

    A message counts as delivered only after its sink returned. A message whose answer was lost is
    sent again; sinks ignore the repetition. Messages of a lane are sent in order, and one that
    fails delays its lane only.

    Parameters
    ----------
    destination : str
    outbox : Outbox
    sink : Sink
    clock : Clock
    patience : Patience
    seed : int, optional
        Seed of the random part of waits.
    """

    def __init__(
        self,
        destination: str,
        outbox: Outbox,
        sink: Sink,
        *,
        clock: Clock,
        patience: Patience,
        seed: int | None = None,
    ) -> None:
        self.destination = destination
        self.sink = sink
        self._outbox = outbox
        self._clock = clock
        self._patience = patience
        self._rng = np.random.default_rng(seed)
        self._breaker = CircuitBreaker(
            failures_to_open=patience.failures_to_open,
            first_wait=patience.first_wait,
            longest_wait=patience.longest_wait,
        )
        self._most = patience.batch * (_SEVERAL if isinstance(sink, _TakesSeveral) else 1)
        self._not_noted: list[OutboxMessage] = []

    def send_due(
        self, delivery: Delivery, *, until: datetime | None, stopped: Callable[[], bool]
    ) -> None:
        """Send the messages that are due and record the outcome in `delivery`.

        A request that has begun is not interrupted: the limits of its sink end it.

        Parameters
        ----------
        delivery : Delivery
        until : datetime or None
            No request is begun from then on.
        stopped : callable
            No request is begun once it returns True.
        """
        while self._not_noted:
            # Delivered, but the outbox could not be updated; do it now, so none is sent again.
            self._outbox.delivered(self._not_noted[0])
            del self._not_noted[0]
        while True:
            allowed = self._breaker.allowed(self._clock(), most=self._most)
            if stopped():
                delivery.stopped = "told to stop"
                return
            if self._is_late(until):
                delivery.stopped = "out of time"
                return
            if allowed == 0:
                delivery.stopped = "left alone"
                return
            lease = self._patience.lease
            messages = self._outbox.claim(self.destination, limit=allowed, lease=lease)
            if not messages:
                delivery.stopped = "nothing due"
                return
            with self._outbox.keeping(messages, lease=lease) as is_held, _in_a_row(self.sink):
                self._send_in_turn(
                    messages,
                    stopped=lambda: stopped() or not is_held() or self._is_late(until),
                    delivery=delivery,
                )

    def _is_late(self, until: datetime | None) -> bool:
        return until is not None and self._clock() >= until

    def _send_in_turn(
        self,
        messages: Sequence[OutboxMessage],
        *,
        stopped: Callable[[], bool],
        delivery: Delivery,
    ) -> None:
        """Send the claimed messages; those not attempted are released, whatever happens."""
        untouched = list(messages)
        unsettled: list[OutboxMessage] = []
        held_up: set[str] = set()
        try:
            waiting = deque(_together(self.sink, messages))
            settled_at = time.monotonic()
            while waiting:
                if stopped() or self._breaker.allowed(self._clock(), most=1) == 0:
                    break
                several = waiting.popleft()
                if several[0].lane in held_up:
                    continue
                again, goes_on = self._send(several, untouched, unsettled, delivery)
                waiting.extendleft(reversed(again))
                if not goes_on:
                    held_up.add(several[0].lane)
                if time.monotonic() - settled_at > _SETTLE_EVERY:
                    self._settle(unsettled, delivery)
                    settled_at = time.monotonic()
                    if unsettled:
                        return
            self._settle(unsettled, delivery)
        finally:
            if untouched or unsettled:
                self._outbox.release([*untouched, *unsettled])

    def _settle(self, unsettled: list[OutboxMessage], delivery: Delivery) -> None:
        """Record what was sent since the last time, unless it is to be sent again."""
        if not unsettled or not isinstance(self.sink, _TakesSeveral):
            return
        try:
            self.sink.settle()
        except DestinationDownError as error:
            self._note_outage(unsettled.pop(0), error, delivery)
            return
        settled = list(unsettled)
        # What cannot be noted now is noted before anything else is sent.
        unsettled.clear()
        self._note_delivered(settled, delivery)

    def _send(
        self,
        messages: Sequence[OutboxMessage],
        untouched: list[OutboxMessage],
        unsettled: list[OutboxMessage],
        delivery: Delivery,
    ) -> tuple[Sequence[list[OutboxMessage]], bool]:
        """Send messages of a lane at once and record the outcome.

        Returns those to be sent again, in two halves, and whether the lane may continue.
        """
        first, *others = messages
        for message in messages:
            untouched.remove(message)
        try:
            _pass_on(messages, self.sink)
        except DestinationDownError as error:
            untouched += others
            self._note_outage(first, error, delivery)
            return (), False
        except Exception as error:  # noqa: BLE001  # one message must not keep the others
            if others:
                # One of them is at fault: sent in ever smaller parts they show which.
                untouched += messages
                half = len(messages) // 2
                return (list(messages[:half]), list(messages[half:])), True
            return (), self._note_fault(first, error, delivery)
        if isinstance(self.sink, _TakesSeveral):
            self._breaker.succeeded()
            unsettled += messages
        else:
            self._note_delivered(messages, delivery)
        return (), True

    def _note_delivered(self, messages: Sequence[OutboxMessage], delivery: Delivery) -> None:
        self._breaker.succeeded()
        delivery.delivered += len(messages)
        self._not_noted += messages
        for message in messages:
            self._outbox.delivered(message)
            self._not_noted.remove(message)

    def _note_outage(
        self, message: OutboxMessage, error: DestinationDownError, delivery: Delivery
    ) -> None:
        self._breaker.failed(self._clock())
        wait = max(self._wait(message), error.retry_after or timedelta())
        self._note_failure(message, presentable(error), wait, delivery, refused=False)

    def _note_fault(self, message: OutboxMessage, error: Exception, delivery: Delivery) -> bool:
        """Record what is wrong with a message; return whether its lane may continue."""
        if isinstance(error, MessageRefusedError):
            # It answered.
            self._breaker.succeeded()
            return self._note_refusal(
                message, presentable(error), delivery, for_good=error.for_good
            )
        return self._note_refusal(
            message, presentable(f"{type(error).__name__}: {error}"), delivery
        )

    def _note_refusal(
        self, message: OutboxMessage, reason: str, delivery: Delivery, *, for_good: bool = False
    ) -> bool:
        if message.refusals + 1 < self._patience.refusals and not for_good:
            self._note_failure(message, reason, self._wait(message), delivery, refused=True)
            return False
        delivery.set_aside += 1
        delivery.reason = reason
        self._outbox.set_aside(message, reason=reason)
        return True

    def _note_failure(
        self,
        message: OutboxMessage,
        reason: str,
        wait: timedelta,
        delivery: Delivery,
        *,
        refused: bool,
    ) -> None:
        delivery.failed += 1
        delivery.reason = reason
        self._outbox.failed(message, reason=reason, retry_after=wait, refused=refused)

    def _wait(self, message: OutboxMessage) -> timedelta:
        longest = self._patience.longest_wait
        wait = doubled_wait(self._patience.first_wait, message.attempts, longest=longest)
        return wait * (1.0 - 0.5 * self._rng.random())


@runtime_checkable
class _TakesSeveral(Protocol):
    """A sink that saves work where messages follow one another."""

    def in_a_row(self) -> AbstractContextManager[None]:
        """Context of messages that are sent one after another."""

    def together(self, messages: Sequence[OutboxMessage]) -> int:
        """How many of the first messages it takes at once."""

    def send_together(self, messages: Sequence[OutboxMessage]) -> None:
        """Make the destination hold all of them, as `send` would one after another."""

    def settle(self) -> None:
        """Return once it is sure that the destination keeps what was sent in this row.

        Raises
        ------
        DestinationDownError
            If it is to be sent again.
        """


def _in_a_row(sink: Sink) -> AbstractContextManager[None]:
    return sink.in_a_row() if isinstance(sink, _TakesSeveral) else nullcontext()


def _together(sink: Sink, messages: Sequence[OutboxMessage]) -> Iterator[list[OutboxMessage]]:
    """Messages as they are sent: by themselves, or several of one lane at once."""
    rest = list(messages)
    while rest:
        of_lane = list(takewhile(lambda one: one.lane == rest[0].lane, rest))
        number = sink.together(of_lane) if isinstance(sink, _TakesSeveral) else 1
        yield rest[:number]
        del rest[:number]


def _pass_on(messages: Sequence[OutboxMessage], sink: Sink) -> None:
    if len(messages) > 1 and isinstance(sink, _TakesSeveral):
        sink.send_together(messages)
    else:
        for message in messages:
            sink.send(message)
