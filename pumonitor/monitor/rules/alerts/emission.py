"""From folded states to transitions: incidents that begin and end, and reminders of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pumonitor.monitor.rules.alerts.alert import Alert, Transition, TransitionKind
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.rules.alerts.sentences import sentence
from pumonitor.monitor.rules.alerts.states import UNKNOWN, AlertState, Evidence

__all__ = ["closing", "emission"]


def emission(
    alert: Alert,
    states: Sequence[AlertState],
    evidence: Sequence[Evidence],
    *,
    rule: AlertRule,
    as_of: datetime,
    repeat: timedelta | None,
    cause: Callable[[Evidence], Mapping[str, Any]] | None = None,
    may_be_revised: bool = True,
) -> Transition | None:
    """The transition that all windows, as they are known at a moment, come to; None for none.

    Fired and resolved alternate, whatever is revised: history is corrected and never rewritten.

    Parameters
    ----------
    alert : Alert
        As the last transition left it.
    states, evidence : sequence
        Of each window in order of time.
    rule : AlertRule
        The alert's.
    as_of : datetime
    repeat : timedelta or None
        A reminder is due so long after the last transition.
    cause : callable, optional
        From the evidence that began an incident to what changed.
    may_be_revised : bool
        Whether an end may be a correction. What the time alone decides is never known better.
    """
    now = states[-1] if states else UNKNOWN
    if now.is_firing and not alert.is_firing:
        about = _last(evidence, "breach")
        began = replace(alert, incident=alert.incident + 1, firing_since=now.since)
        told = sentence("fired", rule=rule, alert=began, evidence=about)
        return _transition(
            began, about, "fired", as_of=as_of, sentence=told, cause=cause(about) if cause else {}
        )
    if not alert.is_firing:
        return None
    if now.state == "ok":
        as_before = not may_be_revised or _was_firing(states, evidence, alert.firing_since)
        about, reason = _last(evidence, "good"), "good" if as_before else "revised"
        told = sentence("resolved", rule=rule, alert=alert, evidence=about, reason=reason)
        return _transition(alert, about, "resolved", as_of=as_of, sentence=told, reason=reason)
    if not now.is_firing or repeat is None or alert.emitted_as_of is None:
        return None
    if as_of - alert.emitted_as_of < repeat:
        return None
    bad, newest = _last(evidence, "breach"), evidence[-1]
    last_bad = None if bad is newest or bad.kind != "breach" else bad
    told = sentence("reminder", rule=rule, alert=alert, evidence=newest, last_bad=last_bad)
    number = alert.reminders + 1
    return _transition(alert, newest, "reminder", as_of=as_of, sentence=told, reminder=number)


def closing(alert: Alert, *, as_of: datetime, cause: Mapping[str, Any]) -> Transition:
    """The end of an open incident whose rule was edited or deleted.

    Parameters
    ----------
    alert : Alert
    as_of : datetime
    cause : mapping
        What was said to have changed when the incident began.
    """
    told = f"The rule {alert.rule!r} was edited or deleted."
    return _transition(
        alert,
        alert.last_evidence(),
        "resolved",
        as_of=as_of,
        sentence=told,
        reason="configuration",
        cause=cause,
    )


def _transition(
    alert: Alert,
    about: Evidence,
    kind: TransitionKind,
    *,
    as_of: datetime,
    sentence: str,
    reason: str = "",
    reminder: int = 0,
    cause: Mapping[str, Any] | None = None,
) -> Transition:
    """What happened to an alert: the one place where evidence becomes a transition."""
    return Transition(
        monitor=alert.monitor,
        rule_key=alert.rule_key,
        model_version=alert.model_version,
        segment=alert.segment,
        incident=alert.incident,
        kind=kind,
        reminder=reminder,
        rule=alert.rule,
        metric=alert.metric,
        severity=alert.severity,
        reason=reason,
        window_start=about.window.start,
        window_end=about.window.end,
        as_of=as_of,
        firing_since=alert.firing_since,
        value=about.value,
        low=about.low,
        high=about.high,
        limit_value=about.limit,
        reference=about.reference,
        sentence=sentence,
        cause=cause or {},
    )


def _last(evidence: Sequence[Evidence], kind: str) -> Evidence:
    return next((one for one in reversed(evidence) if one.kind == kind), evidence[-1])


def _was_firing(
    states: Sequence[AlertState], evidence: Sequence[Evidence], since: datetime | None
) -> bool:
    """Whether the incident is still there in the windows as they are known now."""
    for state, one in zip(reversed(states), reversed(evidence), strict=True):
        if since is not None and one.window.start < since:
            return False
        if state.is_firing:
            return True
    return False
