"""States of an alert: a fold over what its windows are evidence of, in order of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, assert_never

from pumonitor.ports import Window

__all__ = ["FIRING", "UNKNOWN", "AlertState", "Evidence", "EvidenceKind", "State", "step"]

EvidenceKind = Literal["breach", "good", "insufficient", "no_data", "error"]
"""What a window says. Only "breach" and "good" change a state: the unknown resolves nothing."""

State = Literal["unknown", "ok", "pending", "firing", "recovering"]

FIRING: frozenset[State] = frozenset({"firing", "recovering"})
"""States in which an incident is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one window says about a rule.

    Attributes
    ----------
    window : Window
    kind : {"breach", "good", "insufficient", "no_data", "error"}
        "breach": it is on the bad side for certain; "good": on the good side; "insufficient": it
        cannot be told; "no_data": nothing there; "error": the window was given up.
    value, low, high : float or None
        Of the metric, with its interval.
    limit : float or None
        What it is judged by, on the metric's scale.
    reference : float or None
        What it is compared with, on the metric's scale.
    reason : str
        What is to be said of it, the end of a sentence.
    since : datetime or None
        Start of the window with which the change began, where a detector tells.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """Where an alert stands after a window.

    Attributes
    ----------
    state : {"unknown", "ok", "pending", "firing", "recovering"}
    count : int
        Bad windows while pending, good ones while recovering, else 0.
    incident : int
        Number of incidents so far.
    since : datetime or None
        Start of the window with which the state began; a recovering alert has been firing since.
    evidence : str or None
        Kind of the last window's.
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
"""Before the first window."""


def step(state: AlertState, evidence: Evidence, *, windows: int, keep: int) -> AlertState:
    """The state after one more window.

    Parameters
    ----------
    state : AlertState
    evidence : Evidence
        Of the next window.
    windows : int
        So many bad windows in a row fire the alert. Windows that say nothing do not break the row.
    keep : int
        So many windows have to be good after the first good one until the alert is over.

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
            # The first good window is not one of those to keep.
            if state.count >= keep:
                return replace(state, state="ok", count=0, since=start)
            return replace(state, count=state.count + 1)
        case _:
            assert_never(state.state)
