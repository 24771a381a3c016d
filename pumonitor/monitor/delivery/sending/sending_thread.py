"""The thread that serves the destinations of one sink."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from threading import Event, Thread
from typing import Final

from pumonitor.errors import PumonitorError
from pumonitor.monitor.delivery.sending.failures import presentable
from pumonitor.monitor.delivery.sending.sender import Delivery, Sender
from pumonitor.ports import Clock

_log = logging.getLogger("pumonitor")

_POLL_SECONDS: Final = 5.0
"""Seconds; without being woken it finds what others wrote, and what is to be tried again."""

_REFRESH_EVERY: Final = 60.0

OnDelivery = Callable[[str, Delivery], None]
"""Called with a destination and the result of a pass that sent something."""


class SendingThread(Thread):
    """Sends messages until `end` or `stop` is called.

    New messages of the first destination are always sent first.

    Parameters
    ----------
    senders : sequence of Sender
    clock : Clock
    stopped : Event
        No further message is sent once it is set.
    refresh : callable
        Called with a destination every minute and at the end.
    on_delivery : callable

    Attributes
    ----------
    done : dict of str to Delivery
        By destination.
    error : BaseException or None
        Exception that ended the thread early.
    """

    def __init__(
        self,
        senders: Sequence[Sender],
        *,
        clock: Clock,
        stopped: Event,
        refresh: Callable[[str], None],
        on_delivery: OnDelivery,
    ) -> None:
        names = ", ".join(sender.destination for sender in senders)
        # The process does not wait for a destination that hangs when it is asked to end.
        super().__init__(daemon=True, name=f"delivery to {names}")
        self.done = {sender.destination: Delivery() for sender in senders}
        self.error: BaseException | None = None
        self._senders = tuple(senders)
        self._clock = clock
        self._stopped = stopped
        self._refresh = refresh
        self._on_delivery = on_delivery
        self._news = Event()
        self._budgets: Mapping[str, timedelta] | None = None
        self._refreshed = dict.fromkeys(self.done, time.monotonic())
        self._trouble: dict[str, str] = {}

    def wake(self) -> None:
        """Check the outbox now."""
        self._news.set()

    def end(self, budgets: Mapping[str, timedelta]) -> None:
        """Send the messages that are due, to each destination for at most its budget, then end."""
        self._budgets = budgets
        self._news.set()

    def run(self) -> None:
        """Send to each destination in turn, again and again."""
        try:
            while True:
                self._news.clear()
                budgets = self._budgets
                for sender in self._senders:
                    self._pass(sender, budgets)
                if budgets is not None or self._stopped.is_set():
                    return
                self._news.wait(_POLL_SECONDS)
        except BaseException as error:  # noqa: BLE001 (raised again where the thread is waited for)
            self.error = error

    def _pass(self, sender: Sender, budgets: Mapping[str, timedelta] | None) -> None:
        name, delivery = sender.destination, Delivery()
        until = None if budgets is None else self._clock() + budgets[name]
        try:
            sender.send_due(
                delivery, until=until, stopped=lambda: self._is_interrupted(sender, budgets)
            )
            if delivery.stopped not in {"left alone", "told to stop"}:
                self._refresh_in_time(name, delivery, at_the_end=budgets is not None)
            self._trouble.pop(name, None)
        except Exception as error:  # noqa: BLE001 (other destinations are to be served)
            self._note_trouble(name, error, delivery)
        self.done[name].add(delivery)
        if delivery.delivered or delivery.failed or delivery.set_aside:
            self._on_delivery(name, delivery)

    def _is_interrupted(self, sender: Sender, budgets: Mapping[str, timedelta] | None) -> bool:
        """Whether a pass must be interrupted, for the end or for a destination with precedence."""
        if self._stopped.is_set():
            return True
        if budgets is not None:
            return False
        return self._budgets is not None or (sender is not self._senders[0] and self._news.is_set())

    def _refresh_in_time(self, name: str, delivery: Delivery, *, at_the_end: bool) -> None:
        if at_the_end or time.monotonic() - self._refreshed[name] >= _REFRESH_EVERY:
            self._refreshed[name] = time.monotonic()
            try:
                self._refresh(name)
            except PumonitorError as error:
                delivery.reason = delivery.reason or presentable(error)

    def _note_trouble(self, name: str, error: Exception, delivery: Delivery) -> None:
        """Record a failure outside of sending, such as a state database that does not answer."""
        delivery.stopped = "failed"
        expected = isinstance(error, PumonitorError)
        delivery.reason = presentable(error if expected else f"{type(error).__name__}: {error}")
        if self._trouble.get(name) != delivery.reason:
            self._trouble[name] = delivery.reason
            _log.error(
                "delivery to %s stopped: %s",
                name,
                delivery.reason,
                exc_info=None if expected else error,
            )
