"""Rules that go by the clock: results that do not come at all are seen by no window."""

from __future__ import annotations

from datetime import datetime, timedelta

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.alerts.panes import Looks
from pumonitor.monitor.rules.alerts.rule import AlertRule, Health
from pumonitor.monitor.rules.alerts.states import Evidence

__all__ = ["clock_evidence", "overdue_from"]


def overdue_from(rule: AlertRule, looks: Looks) -> datetime | None:
    """When results come to be overdue by longer than allowed, if nothing is evaluated until then.

    None before there are any results, and for other rules.
    """
    if not isinstance(rule.condition, Health) or looks.newest is None:
        return None
    window = looks.newest
    return 2 * (window.end - window.start) + window.start + timedelta(seconds=rule.condition.limit)


def clock_evidence(
    rule: AlertRule, looks: Looks, *, have_stopped: bool = False, now: datetime
) -> Evidence | None:
    """Whether results are overdue by longer than allowed; None before there are any.

    Overdue is a look at a window that is due and not done, and a window that should have followed
    the last one. None follows it where predictions have stopped: that is for other rules to say.
    """
    if not isinstance(rule.condition, Health) or looks.newest is None:
        return None
    window = looks.newest
    overdue = now - window.end - (window.end - window.start)
    if have_stopped:
        overdue = timedelta()
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
