"""Compare an alert's folded states with its last transition, and emit the next one if due."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pumonitor.monitor.rules.alerts.alert import Alert, Transition, TransitionKind
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.rules.alerts.states import UNKNOWN, AlertState, Evidence
from pumonitor.text import moment_cell


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
    """Return the transition that is due after all windows known at `as_of`, or None.

    "fired" and "resolved" alternate, also when windows are revised: a revision emits a correction
    and deletes no earlier transition.

    Parameters
    ----------
    alert : Alert
        After its last transition.
    states, evidence : sequence
        One per window, in order of time.
    rule : AlertRule
    as_of : datetime
    repeat : timedelta or None
        Time from the last transition to a reminder; None for no reminders.
    cause : callable, optional
        Returns the cause for evidence: that with which an incident begins, or the last breach
        before a reminder, which tells what has become known since.
    may_be_revised : bool
        Whether a resolution can be a correction. False for "stale" rules, which depend on the time
        alone.
    """
    now = states[-1] if states else UNKNOWN
    if now.is_firing and not alert.is_firing:
        about = _last(evidence, "breach")
        began = replace(alert, incident=alert.incident + 1, firing_since=now.since, joined="")
        text = sentence("fired", rule=rule, alert=began, evidence=about)
        fired = _transition(
            began, about, "fired", as_of=as_of, sentence=text, cause=cause(about) if cause else {}
        )
        return replace(fired, onset=_onset(states, evidence, about, since=now.since))
    if not alert.is_firing:
        return None
    if now.state == "ok":
        as_before = not may_be_revised or _was_firing(states, evidence, alert.firing_since)
        about, reason = _last(evidence, "good"), "good" if as_before else "revised"
        text = sentence("resolved", rule=rule, alert=alert, evidence=about, reason=reason)
        return _transition(alert, about, "resolved", as_of=as_of, sentence=text, reason=reason)
    if not now.is_firing or repeat is None or alert.emitted_as_of is None:
        return None
    if as_of - alert.emitted_as_of < repeat:
        return None
    bad, newest = _last(evidence, "breach"), evidence[-1]
    last_bad = None if bad is newest or bad.kind != "breach" else bad
    text = sentence("reminder", rule=rule, alert=alert, evidence=newest, last_bad=last_bad)
    number = alert.reminders + 1
    return _transition(
        alert,
        newest,
        "reminder",
        as_of=as_of,
        sentence=text,
        reminder=number,
        cause=cause(bad) if cause else {},
    )


def closing(
    alert: Alert, *, as_of: datetime, cause: Mapping[str, Any], because: str = ""
) -> Transition:
    """Resolve an open incident whose rule was edited or deleted, or whose monitor is gone.

    Parameters
    ----------
    alert : Alert
    as_of : datetime
    cause : mapping
        The cause that was stored with the "fired" transition.
    because : str
        A sentence; without it the rule was edited or deleted.
    """
    text = because or f"The rule {alert.rule!r} was edited or deleted."
    return _transition(
        alert,
        alert.last_evidence(),
        "resolved",
        # What it rests on may have been known later than its window: verdicts of an audit.
        as_of=max(as_of, alert.emitted_as_of or as_of),
        sentence=text,
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
    """Build a transition from an alert and evidence; the only place that does."""
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
        joined=alert.joined,
    )


def _onset(
    states: Sequence[AlertState],
    evidence: Sequence[Evidence],
    about: Evidence,
    *,
    since: datetime | None,
) -> datetime | None:
    """Begin of the first of the bad windows with which it fired, or what its detector says."""
    starts = [one for one in (since, about.since) if one is not None]
    for state, one in zip(reversed(states), reversed(evidence), strict=True):
        if since is None or one.window.start >= since:
            continue
        if state.state != "pending":
            break
        starts.append(one.window.start)
    return min(starts, default=None)


def _last(evidence: Sequence[Evidence], kind: str) -> Evidence:
    return next((one for one in reversed(evidence) if one.kind == kind), evidence[-1])


def _was_firing(
    states: Sequence[AlertState], evidence: Sequence[Evidence], since: datetime | None
) -> bool:
    """Whether the incident still occurs in the windows as known now, from `since` on."""
    for state, one in zip(reversed(states), reversed(evidence), strict=True):
        if since is not None and one.window.start < since:
            return False
        if state.is_firing:
            return True
    return False


def sentence(
    kind: TransitionKind,
    *,
    rule: AlertRule,
    alert: Alert,
    evidence: Evidence,
    reason: str = "",
    last_bad: Evidence | None = None,
) -> str:
    """Describe a transition with the numbers of its window.

    Parameters
    ----------
    kind : {"fired", "resolved", "reminder"}
    rule : AlertRule
    alert : Alert
    evidence : Evidence
        Of the window that the sentence describes.
    reason : {"good", "revised"}
        Why the incident was resolved; used for "resolved" only.
    last_bad : Evidence, optional
        The last breach, if it is not the window described; used for "reminder" only.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> from pumonitor.monitor.rules.alerts.limit import Limit
    >>> from pumonitor.ports import Window
    >>> start = datetime(2026, 3, 1, tzinfo=UTC)
    >>> window = Window(start=start, end=start + timedelta(days=1), index=20513)
    >>> rule = AlertRule(key="5f0c", name="f1 below 0.75", metric="f1",
    ...                  condition=Limit(side="below", limit=0.75))
    >>> evidence = Evidence(window=window, kind="breach",
    ...                     reason="F1 is 0.61 (0.55 to 0.66), all of it below 0.75")
    >>> alert = Alert(monitor="card-fraud", rule_key=rule.key, model_version="7",
    ...               segment="country=DE", rule=rule.name, metric="f1", severity="critical")
    >>> print(sentence("fired", rule=rule, alert=alert, evidence=evidence))
    Model version 7, country=DE, 2026-03-01: F1 is 0.61 (0.55 to 0.66), all of it below 0.75.
    """
    parts = [
        f"model version {alert.model_version}" if alert.model_version else "",
        alert.segment,
        _window(evidence),
    ]
    place = ", ".join(part for part in parts if part)
    said = rule.condition.sentence(rule, evidence)
    if rule.metric.startswith("health:"):
        said = f"{rule.metric.removeprefix('health:').replace('_', ' ')}: {said}"
    text = f"{place[:1].upper()}{place[1:]}: {said}."
    if kind == "reminder":
        since = alert.firing_since
        began = "" if since is None else f"Since {moment_cell(since)}. "
        if last_bad is None:
            return f"{began}{text}"
        return f"{began}{text} The last bad window, {_window(last_bad)}: {last_bad.reason}."
    if kind == "resolved":
        return {
            "good": f"Resolved. {text}",
            "revised": (
                f"Correction: with the labels known now, the alert would not have fired. {text}"
            ),
        }[reason]
    return text


def _window(evidence: Evidence) -> str:
    start, end = evidence.window.start, evidence.window.end
    if moment_cell(end) == moment_cell(start + timedelta(days=1)) and len(moment_cell(start)) == 10:
        return moment_cell(start)
    return f"{moment_cell(start)} to {moment_cell(end)}"
