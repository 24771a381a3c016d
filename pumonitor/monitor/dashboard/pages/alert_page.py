"""One alert: its state, its incidents, what people did about it, and the forms for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pumonitor.monitor.dashboard.pages.alerts_page import alerts_shown
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.records.notes import Note, NotedAlert
from pumonitor.monitor.ledger.records.windows import AuditEntry
from pumonitor.monitor.page_addresses import version_read
from pumonitor.monitor.rules.alerts.alert import Alert

__all__ = ["Deed", "alert_page"]

_MOST: Final = 100
_OF_PEOPLE: Final = {
    "acknowledge": "acknowledged it",
    "unacknowledge": "took the acknowledgement back",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody did about an alert.

    Attributes
    ----------
    at : datetime
    by, what, text : str
        Their name, what they did, and the reason or note they gave.
    note : int or None
        Number of a note.
    """

    at: datetime
    by: str
    what: str
    text: str
    note: int | None = None


def alert_page(
    site: Site, monitor: str, rule: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """What the page of an alert shows; None if there is none.

    Parameters
    ----------
    site : Site
    monitor : str
    rule : str
        Key of the rule.
    query : mapping of str to str
        ``version`` and ``segment``.
    """
    version, segment = version_read(query.get("version")) or "", query.get("segment", "")
    now = site.clock()
    with site.at_once() as ledger:
        found = [
            one
            for one in alerts_shown(ledger, now=now, monitors=[monitor])
            if one.alert.place == (rule, version, segment)
        ]
        if not found:
            return None
        [shown] = found
        events = [
            one
            for one in ledger.alerts.history(monitor, rule=rule, limit=10 * _MOST)
            if one.transition.place == shown.alert.place
        ]
        in_force = ledger.alerts.silences(at=now)
        notes = ledger.notes.all(monitor, limit=10 * _MOST)
        entries = ledger.audit(actions=tuple(_OF_PEOPLE), monitor=monitor, limit=10 * _MOST)
    return {
        "monitor": monitor,
        "zone": site.zone(monitor),
        "now": now,
        "one": shown,
        "events": events[: -_MOST - 1 : -1],
        "silences": [one for one in in_force if one.covers(shown.alert, now=now)],
        "deeds": _deeds(shown.alert, notes, entries)[:_MOST],
    }


def _deeds(alert: Alert, notes: tuple[Note, ...], entries: tuple[AuditEntry, ...]) -> list[Deed]:
    """What people did about the alert, the newest first."""
    named = {
        "monitor": alert.monitor,
        "rule": alert.rule,
        "model_version": alert.model_version,
        "segment": alert.segment,
    }
    found = [
        Deed(
            at=one.at,
            by=one.actor,
            what=_OF_PEOPLE[one.action],
            text=str(one.detail.get("reason", "")),
        )
        for one in entries
        if named.items() <= one.detail.items()
    ]
    found += [
        Deed(at=one.created_at, by=one.author, what="noted", text=one.text, note=one.id)
        for one in notes
        if one.alert is not None and one.created_at is not None and _is_about(one.alert, alert)
    ]
    return sorted(found, key=lambda one: one.at, reverse=True)


def _is_about(noted: NotedAlert, alert: Alert) -> bool:
    return (noted.rule_key, noted.model_version, noted.segment) == alert.place
