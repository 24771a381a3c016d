"""What is to be told of an alert: from its folded states to incidents that begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from pumonitor.monitor.rules.alerts.states import UNKNOWN, AlertState, Evidence

__all__ = ["Emission", "Emitted", "emission"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """What was emitted of an alert so far.

    Attributes
    ----------
    is_firing : bool
        Whether an incident is open.
    incident : int
        How many there have been.
    since : datetime or None
        Start of the window with which the last one began.
    as_of : datetime or None
        Of the last emission.
    reminders : int
        Of this incident.
    """

    is_firing: bool = False
    incident: int = 0
    since: datetime | None = None
    as_of: datetime | None = None
    reminders: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """One thing to tell.

    Attributes
    ----------
    kind : {"fired", "resolved", "reminder"}
    reason : str
        Of a resolution: "good", or "revised" when what was bad turned out not to be.
    evidence : Evidence
        Of the window that it is about; of a reminder, the newest.
    last_bad : Evidence or None
        Of a reminder: of the last bad window, where that is another.
    after : Emitted
    """

    kind: Literal["fired", "resolved", "reminder"]
    evidence: Evidence
    after: Emitted
    reason: Literal["", "good", "revised"] = ""
    last_bad: Evidence | None = None


def emission(
    before: Emitted,
    states: Sequence[AlertState],
    evidence: Sequence[Evidence],
    *,
    as_of: datetime,
    repeat: timedelta | None,
) -> Emission | None:
    """What is to be emitted, given all windows as they are known at a moment; None for nothing.

    Fired and resolved alternate, whatever is revised: history is corrected and never rewritten.

    Parameters
    ----------
    before : Emitted
    states, evidence : sequence
        Of each window in order of time.
    as_of : datetime
    repeat : timedelta or None
        A reminder is due so long after the last emission.
    """
    now = states[-1] if states else UNKNOWN
    if now.is_firing and not before.is_firing:
        after = Emitted(
            is_firing=True, incident=before.incident + 1, since=now.since, as_of=as_of, reminders=0
        )
        return Emission(kind="fired", evidence=_last(evidence, "breach"), after=after)
    if not before.is_firing:
        return None
    if now.state == "ok":
        return Emission(
            kind="resolved",
            evidence=_last(evidence, "good"),
            after=replace(before, is_firing=False, as_of=as_of),
            reason="good" if _was_firing(states, evidence, before.since) else "revised",
        )
    if not now.is_firing or repeat is None or before.as_of is None:
        return None
    if as_of - before.as_of < repeat:
        return None
    after = replace(before, as_of=as_of, reminders=before.reminders + 1)
    bad = _last(evidence, "breach")
    return Emission(
        kind="reminder",
        evidence=evidence[-1],
        after=after,
        last_bad=None if bad is evidence[-1] or bad.kind != "breach" else bad,
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
