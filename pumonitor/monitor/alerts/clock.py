"""Evidence for rules evaluated by the clock: overdue results, and rows that are gone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.alerts.panes import Timeliness
from pumonitor.monitor.ledger.results.looks import RefusedLook
from pumonitor.monitor.rules.alerts.rule import AlertRule, Health
from pumonitor.monitor.rules.alerts.states import Evidence


def overdue_from(rule: AlertRule, timeliness: Timeliness) -> datetime | None:
    """The time at which results will be overdue by more than allowed without a new evaluation.

    None before the first results, and for other rules.
    """
    if not isinstance(rule.condition, Health) or timeliness.newest is None:
        return None
    if rule.condition.kind != "stale":
        return None  # rules on audits are looked at once a day
    window = timeliness.newest
    return 2 * (window.end - window.start) + window.start + timedelta(seconds=rule.condition.limit)


def clock_evidence(
    rule: AlertRule, timeliness: Timeliness, *, have_stopped: bool = False, now: datetime
) -> Evidence | None:
    """Evidence whether results are overdue by more than allowed; None before the first results.

    Results are overdue if a due pane is not evaluated, or if the window after the last one should
    have been evaluated. The second does not apply when predictions have stopped, which other rules
    report.
    """
    if not isinstance(rule.condition, Health) or timeliness.newest is None:
        return None
    window = timeliness.newest
    overdue = now - window.end - (window.end - window.start)
    if have_stopped:
        overdue = timedelta()
    if timeliness.oldest_due is not None:
        overdue = max(overdue, now - timeliness.oldest_due)
    allowed = timedelta(seconds=rule.condition.limit)
    late = max(overdue, timedelta())
    said = shown_duration(timedelta(minutes=round(late.total_seconds() / 60)))
    return Evidence(
        window=window,
        kind="breach" if overdue > allowed else "good",
        value=late.total_seconds(),
        limit=rule.condition.limit,
        reason=f"results are {said} overdue, and {shown_duration(allowed)} are allowed"
        if late
        else "results are not overdue",
    )


def lost_rows_evidence(looks: Sequence[RefusedLook], timeliness: Timeliness) -> Evidence | None:
    """Evidence whether rows are gone that were counted; None before the first results."""
    if timeliness.newest is None:
        return None
    if not looks:
        reason = "no rows are gone that were counted"
        return Evidence(window=timeliness.newest, kind="good", value=0.0, limit=0.0, reason=reason)
    number = len(looks)
    return Evidence(
        window=timeliness.newest,
        kind="breach",
        value=float(number),
        limit=0.0,
        reason=f"{number} window{' has' if number == 1 else 's have'} lost rows or labels that "
        f"were counted, the newest that of {looks[-1].window.start:%Y-%m-%d %H:%M} UTC: earlier "
        "results stay, and pumonitor doctor says what is gone",
    )
