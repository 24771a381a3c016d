"""What audits have told of an alert since it fired: its cause stays the one that it fired with."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Final

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.rules.causes.by_audits import ToldByAudits, told_by_audits
from pumonitor.monitor.windows.class_prior.by_audits import past_audit

__all__ = ["AuditsSince"]

_KEPT: Final = 200
_told: OrderedDict[tuple[Any, ...], ToldByAudits | None] = OrderedDict()
"""By the digests of the audits and the begin of the change: a comparison takes about a second."""
_lock: Final = Lock()
"""Pages are answered by several threads."""


class AuditsSince:
    """Compares the audits of monitors, as far as they have been read, for their alerts.

    Parameters
    ----------
    ledger : LedgerReader
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._audits: dict[str, list[ReadAudit]] = {}

    def told(self, began: Transition) -> ToldByAudits | None:
        """What audits on both sides say that the cause of an alert does not; None if nothing.

        Parameters
        ----------
        began : Transition
            With which the alert fired.
        """
        if "kinds" not in began.cause or began.segment:
            return None
        since = min(began.firing_since or began.window_start, began.window_start)
        audits = self._of(began.monitor)
        key = (since, *(one.digest for one in audits))
        with _lock:
            is_told, found = key in _told, _told.get(key)
        if not is_told:
            found = told_by_audits([past_audit(one) for one in audits], since=since)
            with _lock:
                _told[key] = found
                while len(_told) > _KEPT:
                    _told.popitem(last=False)
        known = (began.cause.get("by_audits") or {}).get("sentence")
        if found is None or found.compared is None or found.sentence == known:
            return None
        return found

    def _of(self, monitor: str) -> list[ReadAudit]:
        if monitor not in self._audits:
            configuration = self._ledger.configuration(monitor)
            found = (
                [] if configuration is None else self._ledger.read_audits(monitor, configuration)
            )
            meaning = self._ledger.configurations(monitor).get(configuration or "", {})
            # As in causes: with impure labels windows are not read with audits.
            pure = meaning.get("label_purity", 1.0) == 1.0
            self._audits[monitor] = found if pure else []
        return self._audits[monitor]
