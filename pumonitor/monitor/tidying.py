"""Delete from the state database what was kept long enough."""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import timedelta
from threading import Event
from typing import Final

from pumonitor.monitor.alerts.routing import key_of_beginning
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.results.retention import Forgotten

_log = logging.getLogger("pumonitor")

_BATCHES_OF_MESSAGES: Final = 20
_BATCHES_OF_PANES: Final = 500


class Tidying:
    """Deletes delivered messages and superseded evaluations, in transactions of limited size.

    Parameters
    ----------
    ledger : Ledger
    stopped : Event
        Ends it after the current batch.
    keep_delivered : timedelta
        How long delivered messages are kept.
    keep_evaluations : timedelta or None
        How long superseded evaluations are kept; None: for ever.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        stopped: Event,
        keep_delivered: timedelta,
        keep_evaluations: timedelta | None,
    ) -> None:
        self._ledger = ledger
        self._stopped = stopped
        self._keep_delivered = keep_delivered
        self._keep_evaluations = keep_evaluations

    def forget_delivered(self) -> None:
        """Delete messages delivered longer ago than `keep_delivered`, in limited batches."""
        try:
            self._forget_delivered()
        except StateError as error:
            _log.warning("messages delivered long ago could not be deleted: %s", error)

    def _forget_delivered(self) -> None:
        outbox = self._ledger.outbox
        for _ in range(_BATCHES_OF_MESSAGES):
            if self._stopped.is_set():
                return
            # Alertmanager is sent firing alerts again and again, however long ago they began.
            keep = [
                key_of_beginning(one) for one in self._ledger.alerts.current(told=True, closed=True)
            ]
            if not outbox.forget_delivered(older_than=self._keep_delivered, keep=keep):
                return

    def forget_evaluations(self) -> Forgotten:
        """Delete evaluations that were superseded longer ago than `keep_evaluations`.

        The audit log says how many, and so does the log of this process.
        """
        try:
            return self._forget_evaluations()
        except StateError as error:
            _log.warning("superseded evaluations could not be deleted: %s", error)
            return Forgotten()

    def _forget_evaluations(self) -> Forgotten:
        done = Forgotten()
        if self._keep_evaluations is None:
            return done
        for _ in range(_BATCHES_OF_PANES):
            if self._stopped.is_set():
                break
            some = self._ledger.forget_evaluations(older_than=self._keep_evaluations)
            if not some.panes:
                break
            done += some
        if done.evaluations:
            self._ledger.note("pumonitor", "forget evaluations", asdict(done))
            _log.info("%s", done)
        return done
