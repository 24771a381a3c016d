"""The state machine of an alert: a fold over the evidence of its windows, in order of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, assert_never

from pumonitor.ports import Window

EvidenceKind = Literal["breach", "good", "insufficient", "no_data", "error"]
"""Kinds of evidence. Only "breach" and "good" change a state; missing data resolve nothing."""

State = Literal["unknown", "ok", "pending", "firing", "recovering"]

FIRING: frozenset[State] = frozenset({"firing", "recovering"})
"""States in which an incident is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Result of testing a rule on one window.

    Attributes
    ----------
    window : Window
    kind : {"breach", "good", "insufficient", "no_data", "error"}
        - "breach": the whole interval is on the bad side.
        - "good": it is on the good side.
        - "insufficient": the data do not decide.
        - "no_data": the window has no rows or labels.
        - "error": the window could not be evaluated.
    value, low, high : float or None
        The metric with its interval.
    limit : float or None
        The rule's limit, on the metric's scale.
    reference : float or None
        The reference's value, on the metric's scale.
    reason : str
        Explanation for messages: a clause without a full stop.
    since : datetime or None
        Start of the window with which the change began, as a detector estimates it.
    p_value : float
        Of the null hypothesis that the metric is on the good side, for rules that test each series;
        1 unless the evidence is a breach.
    """

    window: Window
    kind: EvidenceKind
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    reference: float | None = None
    reason: str = ""
    since: datetime | None = None
    p_value: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """State of an alert after a window.

    Attributes
    ----------
    state : {"unknown", "ok", "pending", "firing", "recovering"}
    count : int
        Breaches while pending, good windows while recovering; else 0.
    incident : int
        Number of incidents so far.
    since : datetime or None
        Start of the window with which the state began; for "recovering", with which it fired.
    evidence : str or None
        Kind of the last window's evidence.
    """

    state: State = "unknown"
    count: int = 0
    incident: int = 0
    since: datetime | None = None
    evidence: EvidenceKind | None = None

    @property
    def is_firing(self) -> bool:
        """Whether an incident is open."""
        return self.state in FIRING


UNKNOWN = AlertState()
"""State before the first window."""


def step(state: AlertState, evidence: Evidence, *, windows: int, keep: int) -> AlertState:
    """Return the state after one more window.

    Parameters
    ----------
    state : AlertState
    evidence : Evidence
        Evidence of the next window.
    windows : int
        The alert fires after this many breaches in a row. Windows that are neither breach nor good
        do not interrupt the row.
    keep : int
        A firing alert is resolved after 1 + keep good windows in a row.

    Raises
    ------
    ValueError
        If ``windows < 1`` or ``keep < 0``.

    Examples
    --------
    >>> from datetime import UTC, timedelta
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> window = Window(start=start, end=start + timedelta(days=1), index=20454)
    >>> bad, unclear, good = (Evidence(window=window, kind=kind)
    ...                       for kind in ("breach", "insufficient", "good"))
    >>> state, names = UNKNOWN, []
    >>> for one in [bad, unclear, bad, good, good]:
    ...     state = step(state, one, windows=2, keep=1)
    ...     names.append(state.state)
    >>> names
    ['pending', 'pending', 'firing', 'recovering', 'ok']
    """
    if windows < 1 or keep < 0:
        msg = f"windows must be >= 1 and keep >= 0, got {windows} and {keep}"
        raise ValueError(msg)
    kind = evidence.kind
    if kind == "breach":
        after = _after_breach(state, evidence.window.start, windows)
    elif kind == "good":
        after = _after_good(state, evidence.window.start, keep)
    else:
        after = state
    return replace(after, evidence=kind)


def _after_breach(state: AlertState, start: datetime, windows: int) -> AlertState:
    match state.state:
        case "unknown" | "ok" | "pending":
            count = state.count + 1 if state.state == "pending" else 1
            if count >= windows:
                return replace(
                    state, state="firing", count=0, incident=state.incident + 1, since=start
                )
            since = state.since if state.state == "pending" else start
            return replace(state, state="pending", count=count, since=since)
        case "firing" | "recovering":
            return replace(state, state="firing", count=0)
        case _:
            assert_never(state.state)


def _after_good(state: AlertState, start: datetime, keep: int) -> AlertState:
    match state.state:
        case "ok":
            return state
        case "unknown" | "pending":
            return replace(state, state="ok", count=0, since=start)
        case "firing":
            if keep == 0:
                return replace(state, state="ok", count=0, since=start)
            return replace(state, state="recovering", count=1)
        case "recovering":
            # `count` includes the first good window; `keep` more are needed.
            if state.count >= keep:
                return replace(state, state="ok", count=0, since=start)
            return replace(state, count=state.count + 1)
        case _:
            assert_never(state.state)
