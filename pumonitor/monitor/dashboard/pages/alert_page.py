"""One alert: its state, its incidents, what people did about it, and the forms for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.inspection.incidents import alert_event_views, user_actions
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
        alerts = alert_views(ledger, now=now, monitors=[monitor], in_full=True)
        alert = next((one for one in alerts if one.place == (rule, version, segment)), None)
        if alert is None:
            return None
        events = [
            stored
            for stored in ledger.alerts.history(monitor, rule=rule, limit=10 * _MOST)
            if stored.transition.place == alert.place
        ]
        shown = alert_event_views(ledger, events[: -_MOST - 1 : -1])
        in_force = ledger.alerts.silences(at=now)
        actions = user_actions(ledger, [alert])
    return {
        "monitor": monitor,
        "zone": site.zone(monitor),
        "now": now,
        "alert": alert,
        "events": shown,
        "silences": [silence for silence in in_force if silence.covers(alert, now=now)],
        "actions": actions[alert.lane][:_MOST],
    }
