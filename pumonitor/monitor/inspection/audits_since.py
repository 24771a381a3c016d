"""Causes of alerts, read anew when audits have told more since they fired."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.rules.causes.by_audits import ToldByAudits, told_by_audits
from pumonitor.monitor.windows.class_prior.by_audits import past_audit

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

    def cause(self, began: Transition) -> Mapping[str, Any]:
        """The cause of an alert, read anew if audits on both sides of the change tell more.

        Parameters
        ----------
        began : Transition
            With which the alert fired.
        """
        if "kinds" not in began.cause or began.segment:
            return began.cause
        since = min(began.firing_since or began.window_start, began.window_start)
        audits = self._of(began.monitor)
        key = (since, *(one.digest for one in audits))
        with _lock:
            is_told, told = key in _told, _told.get(key)
        if not is_told:
            told = told_by_audits([past_audit(one) for one in audits], since=since)
            with _lock:
                _told[key] = told
                while len(_told) > _KEPT:
                    _told.popitem(last=False)
        known = (began.cause.get("by_audits") or {}).get("sentence")
        if told is None or told.compared is None or told.sentence == known:
            return began.cause
        return told.read_anew(began.cause)

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
