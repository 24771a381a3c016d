"""Answers about alerts, silences and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.monitor.dashboard.api.alert_answers import (
    AlertAnswer,
    Alerts,
    DeedAnswer,
    Event,
    Events,
    SilenceAnswer,
    Silences,
    Told,
)
from pumonitor.monitor.dashboard.api.queries import AlertsQuery, HistoryQuery, OneMonitorQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.inspection.alerts_shown import AlertShown, alerts_shown
from pumonitor.monitor.inspection.audits_since import AuditsSince
from pumonitor.monitor.inspection.incidents import Happening, happenings
from pumonitor.monitor.ledger.records.alerts import (
    WITHHELD_BECAUSE,
    Silence,
)

_OF_ALERT: Final = (
    "monitor", "rule", "rule_key", "model_version", "segment", "metric", "severity", "incident",
    "firing_since", "value", "low", "high", "reference", "reason", "window_start", "window_end",
    "as_of",
)  # fmt: skip


_OF_KEY: Final = 5
"""Monitor, rule, its key, model version and segment."""


def alerts_answer(reading: Reading, path: Mapping[str, str], query: AlertsQuery) -> Alerts:
    """Alerts in their present state, by monitor and rule."""
    found = alerts_shown(
        reading.ledger.alerts,
        now=reading.now,
        monitors=reading.chosen(query.monitor),
        firing=query.firing,
        after=key_asked(query, [""] * _OF_KEY),
        limit=query.limit + 1,
        audits=AuditsSince(reading.ledger),
    )
    shown = found[: query.limit]
    return Alerts(
        items=[alert_answer(one) for one in shown],
        next=next_cursor(query, _key(shown[-1]) if len(found) > len(shown) else None),
    )


def _key(one: AlertShown) -> list[str]:
    return [one.alert.monitor, one.alert.rule, *one.alert.place]


def alert_answer(one: AlertShown) -> AlertAnswer:
    """An alert in its present state."""
    return AlertAnswer(
        **_of_alert(one.alert),
        limit=one.alert.limit_value,
        state=one.alert.state,  # type: ignore[arg-type]
        is_firing=one.alert.is_firing,
        is_acknowledged=one.is_acknowledged,
        silenced_until=one.silenced_until,
        sentence=one.sentence,
        cause=one.cause,
        next_steps=[str(step) for step in one.next_steps],
    )


def _of_alert(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in _OF_ALERT}


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
        items=[_event(one) for one in happenings(reading.ledger, shown)],
        next=next_cursor(query, [shown[-1].id] if len(found) > len(shown) else None),
    )


def _event(happening: Happening) -> Event:
    one, found = happening.stored, happening.stored.transition
    unsaid = one.told_at is None
    return Event(
        **_of_alert(found),
        id=one.id,
        kind=found.kind,
        limit=found.limit_value,
        sentence=found.sentence,
        cause=dict(found.cause),
        recorded_at=one.recorded_at,
        notified_at=one.told_at,
        withheld=WITHHELD_BECAUSE[one.withheld] if unsaid else one.withheld,
        destinations=[Told.model_validate(sent) for sent in happening.deliveries],
        people=[DeedAnswer.model_validate(deed) for deed in happening.deeds],
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
        items=[silence_answer(one) for one in shown],
        next=next_cursor(query, [-(shown[-1].id or 0)] if len(found) > len(shown) else None),
    )


def silence_answer(one: Silence) -> SilenceAnswer:
    """A silence."""
    return SilenceAnswer.model_validate(one)
