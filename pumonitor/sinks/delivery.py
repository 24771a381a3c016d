"""Delivery: messages of the outbox to their destinations, in order, through outages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event
from typing import Literal

import numpy as np

from pumonitor.ports import Clock, Outbox, OutboxMessage, Sink
from pumonitor.sinks.circuit_breaker import CircuitBreaker, doubled
from pumonitor.sinks.failures import DestinationDownError, MessageRefusedError, presentable

__all__ = ["Deliverer", "Delivery", "Patience"]

Stopped = Literal["nothing due", "out of time", "left alone", "told to stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how often delivery is tried.

    Attributes
    ----------
    first_wait, longest_wait : timedelta
        Before a message is tried again, doubled from one failure to the next; less up to half of
        it by chance, so that what failed together is not tried together.
    refusals : int
        A message that was at fault this often is set aside; outages never set one aside.
    failures_to_open : int
        A destination that was down this often in a row is left alone, for the same waits.
    batch : int
        Messages claimed at once.
    lease : timedelta
        For how long; the claimant sends none of them in the second half of it.
    """

    first_wait: timedelta = timedelta(seconds=30)
    longest_wait: timedelta = timedelta(minutes=15)
    refusals: int = 8
    failures_to_open: int = 3
    batch: int = 20
    lease: timedelta = timedelta(minutes=10)

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
    """What one round of delivery to one destination came to.

    Attributes
    ----------
    delivered, failed, set_aside : int
        Messages.
    stopped : {"nothing due", "out of time", "left alone", "told to stop"}
        Why the round ended.
    reason : str
        Of the last failure, "" without any.
    """

    delivered: int = 0
    failed: int = 0
    set_aside: int = 0
    stopped: Stopped = "nothing due"
    reason: str = ""


class Deliverer:
    """Sends what the outbox holds.

    A message counts as delivered only after its sink returned. One whose answer was lost is sent
    again, which sinks take without a change. Within a lane nothing overtakes; a message that fails
    holds up its lane only, a destination that is down only itself.

    Parameters
    ----------
    outbox : Outbox
    sinks : mapping of str to Sink
        By destination.
    clock : Clock
    patience : Patience, optional
    seed : int, optional
        Of the chance in waits.

    Examples
    --------
    >>> deliverer = Deliverer(outbox, {"mlflow": sink}, clock=clock)  # doctest: +SKIP
    >>> deliverer.deliver(budget=timedelta(minutes=5))["mlflow"].delivered  # doctest: +SKIP
    12
    """

    def __init__(
        self,
        outbox: Outbox,
        sinks: Mapping[str, Sink],
        *,
        clock: Clock,
        patience: Patience | None = None,
        seed: int | None = None,
    ) -> None:
        self._outbox = outbox
        self._sinks = dict(sinks)
        self._clock = clock
        self._patience = patience or Patience()
        self._rng = np.random.default_rng(seed)
        self._breakers = {
            name: CircuitBreaker(
                failures_to_open=self._patience.failures_to_open,
                first_wait=self._patience.first_wait,
                longest_wait=self._patience.longest_wait,
            )
            for name in self._sinks
        }
        self._told_to_stop = Event()

    def stop(self) -> None:
        """Send nothing more, for good, once the message that is being sent is through."""
        self._told_to_stop.set()

    def deliver(
        self, *, budget: timedelta, budgets: Mapping[str, timedelta] | None = None
    ) -> dict[str, Delivery]:
        """Send what is due, to each destination for no longer than its budget.

        A send that has begun is not cut short: its sink's own limits end it.

        Parameters
        ----------
        budget : timedelta
        budgets : mapping of str to timedelta, optional
            Of destinations with another one.
        """
        return {
            name: self._deliver_to(name, self._clock() + (budgets or {}).get(name, budget))
            for name in self._sinks
        }

    def _deliver_to(self, destination: str, until: datetime) -> Delivery:
        delivery = Delivery()
        breaker = self._breakers[destination]
        while True:
            now = self._clock()
            allowed = breaker.allowed(now, most=self._patience.batch)
            if self._told_to_stop.is_set():
                delivery.stopped = "told to stop"
                return delivery
            if now >= until:
                delivery.stopped = "out of time"
                return delivery
            if allowed == 0:
                delivery.stopped = "left alone"
                return delivery
            messages = self._outbox.claim(destination, limit=allowed, lease=self._patience.lease)
            if not messages:
                return delivery
            self._send_in_turn(messages, min(until, now + self._patience.lease / 2), delivery)

    def _send_in_turn(
        self, messages: Sequence[OutboxMessage], until: datetime, delivery: Delivery
    ) -> None:
        """Send those of a claim; what is not attempted goes back, whatever happens."""
        untouched = list(messages)
        held_up: set[str] = set()
        try:
            for message in messages:
                now = self._clock()
                breaker = self._breakers[message.destination]
                may_send = now < until and breaker.allowed(now, most=1) > 0
                if not may_send or self._told_to_stop.is_set():
                    return
                if message.lane in held_up:
                    continue
                untouched.remove(message)
                if not self._send(message, delivery):
                    held_up.add(message.lane)
        finally:
            if untouched:
                self._outbox.release(untouched)

    def _send(self, message: OutboxMessage, delivery: Delivery) -> bool:
        """Send one and note what came of it; whether its lane may go on."""
        breaker = self._breakers[message.destination]
        try:
            self._sinks[message.destination].send(message)
        except DestinationDownError as error:
            breaker.failed(self._clock())
            wait = max(self._wait(message), error.retry_after or timedelta())
            self._note_failure(message, presentable(error), wait, delivery, refused=False)
            return False
        except MessageRefusedError as error:
            # It answered.
            breaker.succeeded()
            return self._note_refusal(
                message, presentable(error), delivery, for_good=error.for_good
            )
        except Exception as error:  # noqa: BLE001  # one message must not keep the others
            reason = presentable(f"{type(error).__name__}: {error}")
            return self._note_refusal(message, reason, delivery)
        breaker.succeeded()
        self._outbox.delivered(message)
        delivery.delivered += 1
        return True

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
        wait = doubled(self._patience.first_wait, message.attempts, longest=longest)
        return wait * (1.0 - 0.5 * self._rng.random())
