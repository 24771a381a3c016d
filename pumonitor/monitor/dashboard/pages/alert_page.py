"""One alert: its state, its incidents, what people did about it, and the forms for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alerts_shown
from pumonitor.monitor.inspection.audits_since import AuditsSince
from pumonitor.monitor.inspection.incidents import deeds, happenings
from pumonitor.monitor.page_addresses import version_read

_MOST: Final = 100


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
            for one in alerts_shown(
                ledger.alerts, now=now, monitors=[monitor], audits=AuditsSince(ledger)
            )
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
        happened = happenings(ledger, events[: -_MOST - 1 : -1])
        in_force = ledger.alerts.silences(at=now)
        done = deeds(ledger, [shown.alert])
    return {
        "monitor": monitor,
        "zone": site.zone(monitor),
        "now": now,
        "one": shown,
        "events": happened,
        "silences": [one for one in in_force if one.covers(shown.alert, now=now)],
        "deeds": done[shown.alert.lane][:_MOST],
    }
