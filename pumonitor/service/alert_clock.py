"""Rules that go by the clock: results that do not come at all are seen by no window."""

from __future__ import annotations

from datetime import datetime, timedelta

from pumonitor.monitoring.alerts import Evidence
from pumonitor.monitoring.rules import AlertRule, Health
from pumonitor.service.durations import shown_duration
from pumonitor.store.alert_panes import Looks

__all__ = ["clock_evidence"]


def clock_evidence(rule: AlertRule, looks: Looks, *, now: datetime) -> Evidence | None:
    """Whether results are overdue by longer than allowed; None before there are any.

    Overdue is a look at a window that is due and not done, and a window that should have followed
    the last one.
    """
    if not isinstance(rule.condition, Health) or looks.newest is None:
        return None
    window = looks.newest
    overdue = now - window.end - (window.end - window.start)
    if looks.oldest_due is not None:
        overdue = max(overdue, now - looks.oldest_due)
    allowed = timedelta(seconds=rule.condition.limit)
    late = max(overdue, timedelta())
    said = shown_duration(timedelta(minutes=round(late.total_seconds() / 60)))
    return Evidence(
        window=window,
        kind="breach" if overdue > allowed else "good",
        value=late.total_seconds(),
        limit=rule.condition.limit,
        reason=f"results are {said} overdue, {shown_duration(allowed)} are allowed"
        if late
        else "results come in time",
    )
