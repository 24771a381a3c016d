"""Evidence for rules on audits, which go by the clock: audits belong to no single window."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from pumonitor.audit.fairness import check_fairness
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.rules.alerts.rule import Health
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.monitor.windows.class_prior.by_audits import past_audit
from pumonitor.ports import Window

FAIRNESS_LEVEL: Final = 0.05 / 4
"""Of the check of fair labels at each of four looks, at a quarter, half, three quarters, all."""

_LEAST_READ: Final = 0.25


def audit_evidence(
    condition: Health,
    audits: Sequence[ReadAudit],
    *,
    newest: Window,
    first: datetime,
    now: datetime,
) -> Evidence:
    """Evidence of all audits of a monitor, read or not.

    Parameters
    ----------
    condition : Health
    audits : sequence of ReadAudit
    newest : Window
        The last with results, which the alert is shown at.
    first : datetime
        Start of the first window: without an audit the time runs from there.
    now : datetime
    """
    match condition.kind:
        case "audit_overdue":
            kind, value, said = _overdue(condition.limit, audits, first=first, now=now)
        case "audit_unread":
            kind, value, said = _unread(condition.limit, audits, now=now)
        case "audit_conflicts":
            kind, value, said = _conflicts(condition.limit, audits)
        case _:
            kind, value, said = _unfair(audits)
    limit = FAIRNESS_LEVEL if condition.kind == "unfair_labels" else condition.limit
    return Evidence(window=newest, kind=kind, value=value, limit=limit, reason=said)


_Found = tuple[EvidenceKind, float | None, str]


def _overdue(
    limit: float, audits: Sequence[ReadAudit], *, first: datetime, now: datetime
) -> _Found:
    drawn = max((one.drawn_at for one in audits), default=None)
    passed = now - (first if drawn is None else drawn)
    since = "there has been no audit" if drawn is None else "the last audit was drawn"
    ago = f"for {_days(passed)}" if drawn is None else f"{_days(passed)} ago"
    every = shown_duration(timedelta(seconds=limit))
    said = f"{since} {ago}, and one is meant every {every}: draw the next one"
    bad = passed.total_seconds() > limit
    if not bad:
        said = f"{since} {ago}; one is meant every {every}"
    return "breach" if bad else "good", passed.total_seconds(), said


def _unread(limit: float, audits: Sequence[ReadAudit], *, now: datetime) -> _Found:
    late = [one for one in audits if one.unread and (now - one.drawn_at).total_seconds() > limit]
    if not late:
        return "good", 0.0, "no case waits for a verdict too long"
    one = late[0]
    return (
        "breach",
        (now - one.drawn_at).total_seconds(),
        f"{one.unread} of {one.cases} cases of the audit {one.name} have no verdict "
        f"{_days(now - one.drawn_at)} after the draw: review them, or draw "
        "fewer cases next time",
    )


def _conflicts(limit: float, audits: Sequence[ReadAudit]) -> _Found:
    worst = max(audits, key=lambda one: one.conflicts, default=None)
    if worst is None or worst.conflicts <= limit:
        value = 0.0 if worst is None else float(worst.conflicts)
        return "good", value, f"at most {value:g} cases of an audit have contradicting verdicts"
    return (
        "breach",
        float(worst.conflicts),
        f"{worst.conflicts} cases of the audit {worst.name} have verdicts that contradict each "
        "other and count as undecided: settle them by a later verdict of the same reviewer",
    )


def _unfair(audits: Sequence[ReadAudit]) -> _Found:
    """Of the last audit of which enough has been read."""
    read = [one for one in audits if one.cases and 1 - one.unread / one.cases >= _LEAST_READ]
    if not read:
        return "insufficient", None, "no audit has a verdict on a quarter of its cases"
    last = read[-1]
    found = check_fairness(past_audit(last).counts)
    if found.p_value > FAIRNESS_LEVEL:
        return (
            "good",
            found.p_value,
            f"the audit {last.name} does not say that confirmations follow the score "
            f"(p = {found.p_value:.2g})",
        )
    return (
        "breach",
        found.p_value,
        f"{found.sentence}, by the audit {last.name} (p = {found.p_value:.2g}): find out who "
        "decides what is confirmed; estimates of the audit allow for it, those of segments with "
        "fewer than ten of its cases do not",
    )


def _days(passed: timedelta) -> str:
    return shown_duration(timedelta(days=max(passed.days, 0)))
