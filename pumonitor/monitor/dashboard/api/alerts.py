"""Answers about alerts, silences and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pumonitor.monitor.dashboard.api.answers import Alerts, Events, Incidents, Silences
from pumonitor.monitor.dashboard.api.queries import AlertsQuery, HistoryQuery, OneMonitorQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.inspection.incidents import alert_event_views
from pumonitor.monitor.views.alerts import AlertView
from pumonitor.monitor.views.incidents import incident_views

_OF_KEY: Final = 5
"""Monitor, rule, its key, model version and segment."""


def alerts_answer(reading: Reading, path: Mapping[str, str], query: AlertsQuery) -> Alerts:
    """Alerts in their present state, by monitor and rule."""
    found = alert_views(
        reading.ledger,
        now=reading.now,
        monitors=reading.chosen(query.monitor),
        firing=query.firing,
        after=key_asked(query, [""] * _OF_KEY),
        limit=query.limit + 1,
        in_full=True,
        pages=reading.pages,
    )
    shown = found[: query.limit]
    return Alerts(
        items=shown,
        next=next_cursor(query, _key(shown[-1]) if len(found) > len(shown) else None),
    )


def _key(alert: AlertView) -> list[str]:
    return [alert.monitor, alert.rule, *alert.place]


def incidents_answer(
    reading: Reading, path: Mapping[str, str], query: OneMonitorQuery
) -> Incidents:
    """Alerts that fire, those of one change together, by key."""
    after = key_asked(query, [""])
    alerts = alert_views(
        reading.ledger,
        now=reading.now,
        monitors=reading.chosen(query.monitor),
        firing=True,
        in_full=True,
        pages=reading.pages,
    )
    incidents = sorted(incident_views(alerts), key=lambda incident: incident.dedup_key)
    left = [one for one in incidents if after is None or one.dedup_key > after[0]]
    shown = left[: query.limit]
    return Incidents(
        items=shown,
        next=next_cursor(query, [shown[-1].dedup_key] if len(left) > len(shown) else None),
    )


def history_answer(reading: Reading, path: Mapping[str, str], query: HistoryQuery) -> Events:
    """What happened to alerts, the newest first."""
    before = key_asked(query, [0])
    found = reading.ledger.alerts.history(
        monitors=reading.chosen(query.monitor),
        since=query.moment("since"),
        until=query.moment("until"),
        rule=query.rule,
        kind=query.kind,
        before=None if before is None else before[0],
        limit=query.limit + 1,
    )[::-1]
    shown = found[: query.limit]
    return Events(
        items=alert_event_views(reading.ledger, shown, reading.pages),
        next=next_cursor(query, [shown[-1].id] if len(found) > len(shown) else None),
    )


def silences_answer(reading: Reading, path: Mapping[str, str], query: OneMonitorQuery) -> Silences:
    """Silences in force and to come, the newest first.

    One of all monitors is shown to everybody, as it concerns what they see.
    """
    before = key_asked(query, [0])
    found = reading.ledger.alerts.silences_to_end(
        after=reading.now,
        monitors=reading.chosen(query.monitor),
        # Cursors have it negative, as those that were given out before.
        before=None if before is None else -before[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    return Silences(
        items=list(shown),
        next=next_cursor(query, [-(shown[-1].id or 0)] if len(found) > len(shown) else None),
    )
