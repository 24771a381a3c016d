"""All alerts: those that fire, every rule's state, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC
from typing import Any, Final

from pumonitor.monitor.dashboard.pages.incidents_shown import incidents_drawn, last_known
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.views.alerts import alert_event_view, by_urgency
from pumonitor.monitor.views.incidents import incident_views

_MOST_LINES: Final = 200
_MOST_EVENTS: Final = 200


def alerts_page(
    site: Site,
    *,
    monitor: str | None,
    visible: Collection[str],
    link: Callable[[Transition], str],
) -> dict[str, Any]:
    """What the page of alerts shows.

    Parameters
    ----------
    site : Site
    monitor : str or None
        By default all that are visible.
    visible : collection of str
        Monitors that the reader may see.
    link : callable
        Address of the alert of a transition.
    """
    now = site.clock()
    with site.at_once() as ledger:
        of = visible if monitor is None else [monitor]
        firing, others = (
            alert_views(ledger, now=now, monitors=of, firing=one, limit=_MOST_LINES + 1)
            for one in (True, False)
        )
        events = ledger.alerts.history(monitor, monitors=visible, limit=_MOST_EVENTS)
    return {
        "monitor": monitor,
        "firing": min(len(firing), _MOST_LINES),
        "incidents": incident_views(firing[:_MOST_LINES]),
        "others": by_urgency(others[:_MOST_LINES]),
        "most": _MOST_LINES,
        "more_fire": len(firing) > _MOST_LINES,
        "more_others": len(others) > _MOST_LINES,
        "events": [
            alert_event_view(stored, destinations=(), people=(), pages=None)
            for stored in reversed(events)
        ],
        "chart": incidents_drawn(
            [one.transition for one in events],
            until=last_known(now, [*firing, *others], [one.transition for one in events]),
            zone=UTC if monitor is None else site.zone(monitor),
            link=link,
        ),
        "now": now,
        "zones": {name: site.zone(name) for name in visible},
    }
