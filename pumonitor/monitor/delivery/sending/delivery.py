"""Deliver the messages of the outbox, with one thread for each destination."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from threading import Event
from typing import Final

from pumonitor.monitor.delivery.sending.sender import Delivery, Patience, Sender
from pumonitor.monitor.delivery.sending.sending_thread import OnDelivery, SendingThread
from pumonitor.monitor.delivery_ports import Outbox, Sink
from pumonitor.ports import Clock

__all__ = ["Deliverer", "Delivery", "Patience"]

_MOST_THREADS: Final = 32
_GRACE: Final = timedelta(minutes=1)
"""For a message that is being sent when there is no more time; most sinks have shorter limits."""


class Deliverer:
    """Sends the messages of the outbox, with one thread for each destination.

    So a destination that is slow or down delays no other. Destinations of one sink share a thread:
    new messages of the destination named first are always sent first.

    Parameters
    ----------
    outbox : Outbox
    sinks : mapping of str to Sink
        By destination.
    clock : Clock
    patience : Patience, optional
    seed : int, optional
        Seed of the random part of waits.

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
        self._clock = clock
        senders = [
            Sender(
                name,
                outbox,
                sink,
                clock=clock,
                patience=patience or Patience(),
                seed=None if seed is None else seed + place,
            )
            for place, (name, sink) in enumerate(sinks.items())
        ]
        self._groups = _grouped(senders)
        self._stopped = Event()
        self._threads: list[SendingThread] = []

    def deliver(
        self, *, budget: timedelta, budgets: Mapping[str, timedelta] | None = None
    ) -> dict[str, Delivery]:
        """Send the messages that are due, to each destination for at most its budget.

        A request that has begun is not interrupted: the limits of its sink end it.

        Parameters
        ----------
        budget : timedelta
        budgets : mapping of str to timedelta, optional
            Budgets of destinations that differ from it.
        """
        if not self._threads:
            self._threads = self._made(lambda name, done: None)
            self._end(budget, budgets)
            for thread in self._threads:
                thread.start()
        return self.finish(budget=budget, budgets=budgets)

    def start(self, on_delivery: OnDelivery = lambda name, done: None) -> None:
        """Send from now on, until `finish` or `close`, whatever is put into the outbox.

        Parameters
        ----------
        on_delivery : callable
            Called by the threads with a destination and the result of a pass that sent something.
        """
        if not self._threads:
            self._threads = self._made(on_delivery)
            for thread in self._threads:
                thread.start()

    def wake(self) -> None:
        """Wake the threads: the outbox has new messages."""
        for thread in self._threads:
            thread.wake()

    def finish(
        self, *, budget: timedelta, budgets: Mapping[str, timedelta] | None = None
    ) -> dict[str, Delivery]:
        """Send what is due and end the threads of `start`; returns the deliveries since then.

        Parameters are those of `deliver`.
        """
        self._end(budget, budgets)
        longest = max([budget, *(budgets or {}).values()])
        self._join(longest + _GRACE)
        threads = self._threads
        # A destination that answers byte by byte keeps its thread, until the process ends.
        self._threads = [thread for thread in threads if thread.is_alive()]
        for thread in self._threads:
            for delivery in thread.done.values():
                delivery.stopped, delivery.reason = "failed", "it does not come to an end"
        for thread in threads:
            if thread.error is not None:
                raise thread.error
        return {name: one for thread in threads for name, one in thread.done.items()}

    def stop(self) -> None:
        """Stop for good after the messages that are being sent."""
        self._stopped.set()
        self.wake()

    def close(self) -> None:
        """Stop, and wait for the messages that are being sent, for a limited time."""
        self.stop()
        self._join(_GRACE)
        self._threads = []

    def _refresh(self, destination: str) -> None:
        """Call the destination's `refresh`, every minute and at the end of a round."""

    def _made(self, on_delivery: OnDelivery) -> list[SendingThread]:
        return [
            SendingThread(
                group,
                clock=self._clock,
                stopped=self._stopped,
                refresh=self._refresh,
                on_delivery=on_delivery,
            )
            for group in self._groups
        ]

    def _end(self, budget: timedelta, budgets: Mapping[str, timedelta] | None) -> None:
        for thread in self._threads:
            thread.end({name: (budgets or {}).get(name, budget) for name in thread.done})

    def _join(self, longest: timedelta) -> None:
        until = time.monotonic() + longest.total_seconds()
        try:
            for thread in self._threads:
                thread.join(max(until - time.monotonic(), 0.0))
        except BaseException:
            # Interrupted: do not wait for a destination that hangs.
            self.stop()
            raise


def _grouped(senders: Sequence[Sender]) -> list[list[Sender]]:
    """Group the destinations by sink, in no more groups than threads are allowed."""
    of_sinks: dict[int, list[Sender]] = {}
    for sender in senders:
        of_sinks.setdefault(id(sender.sink), []).append(sender)
    groups: list[list[Sender]] = [[] for _ in range(min(len(of_sinks), _MOST_THREADS))]
    for place, group in enumerate(of_sinks.values()):
        groups[place % _MOST_THREADS] += group
    return groups
