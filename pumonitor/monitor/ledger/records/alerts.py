"""What the ledger keeps of alerts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.ports import State, Window

__all__ = [
    "NewTransition",
    "PaneResults",
    "PaneSeen",
    "Progress",
    "Silence",
    "StoredAlert",
    "StoredTransition",
    "TransitionKind",
    "Withheld",
]

TransitionKind = Literal["fired", "resolved", "reminder"]
Withheld = Literal["history", "silenced", "inhibited", "untold", "acknowledged", "too soon"]
"""Why nobody was told: too long ago or found by a backfill; a silence; a more severe alert; the end
of something that nobody was told of; a reminder of what somebody is at, or was told just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far windows were folded into the alerts of a rule.

    Attributes
    ----------
    as_of, window_start : datetime or None
        Of the last pane taken in.
    generation : int
        Grows when panes taken in before come to say something else.
    last_error : str or None
        Why the rule cannot go on.
    """

    as_of: datetime | None = None
    window_start: datetime | None = None
    generation: int = 0
    last_error: str | None = None

    @property
    def position(self) -> tuple[datetime, datetime] | None:
        """Sorts panes in the order in which alerts take them in."""
        if self.as_of is None or self.window_start is None:
            return None
        return self.as_of, self.window_start


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAlert:
    """An alert as it is now: of one rule, model version and segment.

    Attributes
    ----------
    monitor, rule_key, model_version, segment : str
    rule, metric, severity : str
    state : str
        By the windows so far: "unknown", "ok", "pending", "firing" or "recovering".
    count : int
    evidence : str or None
        Kind of the last window's, with its numbers:
    value, low, high, limit_value, reference : float or None
    reason : str
    window_start, window_end, as_of : datetime or None
    is_firing : bool
        Whether an incident is open, as transitions say.
    incident : int
        How many there have been.
    firing_since : datetime or None
        Start of the window with which the last one began.
    emitted_as_of : datetime or None
        Of the last transition.
    reminders : int
        Of this incident.
    told_incident : int
        The last one that somebody was told of.
    told_firing : bool
        Whether they believe that it is open.
    acknowledged_incident : int
        The last one that somebody said to be at: no reminders of it.
    closed_at : datetime or None
        When its rule was edited or deleted.
    """

    monitor: str
    rule_key: str
    model_version: str
    segment: str
    rule: str
    metric: str
    severity: str
    state: str = "unknown"
    count: int = 0
    evidence: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit_value: float | None = None
    reference: float | None = None
    reason: str = ""
    window_start: datetime | None = None
    window_end: datetime | None = None
    as_of: datetime | None = None
    is_firing: bool = False
    incident: int = 0
    firing_since: datetime | None = None
    emitted_as_of: datetime | None = None
    reminders: int = 0
    told_incident: int = 0
    told_firing: bool = False
    acknowledged_incident: int = 0
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTransition:
    """A state change to store. Fields are those of the table."""

    monitor: str
    rule_key: str
    model_version: str
    segment: str
    incident: int
    kind: TransitionKind
    reminder: int
    rule: str
    metric: str
    severity: str
    reason: str
    window_start: datetime
    window_end: datetime
    as_of: datetime
    firing_since: datetime | None
    value: float | None
    low: float | None
    high: float | None
    limit_value: float | None
    reference: float | None
    sentence: str
    cause: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTransition(NewTransition):
    """A state change that happened.

    Attributes
    ----------
    id : int
        Grows.
    recorded_at : datetime
        By the database's clock.
    told_at : datetime or None
        When messages about it were put into the outbox.
    withheld : str or None
        Why nobody was told, or not at once.
    """

    id: int
    recorded_at: datetime
    told_at: datetime | None
    withheld: Withheld | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A time in which nobody is told of some alerts; None stands for any.

    Attributes
    ----------
    id : int
        0 until it is stored.
    monitor, rule, metric, model_version, segment : str or None
        `rule` is a rule's name or key.
    starts, ends : datetime
        From start up to but not including end.
    reason, author : str
    """

    starts: datetime
    ends: datetime
    monitor: str | None = None
    rule: str | None = None
    metric: str | None = None
    model_version: str | None = None
    segment: str | None = None
    reason: str = ""
    author: str = ""
    id: int = 0

    def __post_init__(self) -> None:
        if self.ends < self.starts:
            msg = f"a silence must end after it starts, got {self.starts} to {self.ends}"
            raise ValueError(msg)

    def covers(self, alert: StoredAlert, *, now: datetime) -> bool:
        """Whether nobody is told of this alert now."""
        return (
            self.starts <= now < self.ends
            and self.rule in (None, alert.rule, alert.rule_key)
            and all(
                asked in (None, given)
                for asked, given in (
                    (self.monitor, alert.monitor),
                    (self.metric, alert.metric),
                    (self.model_version, alert.model_version),
                    (self.segment, alert.segment),
                )
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneSeen:
    """A pane that alerts take in.

    Attributes
    ----------
    window_key : str
    window : Window
    number : int
    state : {"provisional", "mature", "final"}
    as_of : datetime
    revision : int or None
        None: its window was given up.
    counts : mapping
        What was found in it.
    """

    window_key: str
    window: Window
    number: int
    state: State
    as_of: datetime
    revision: int | None
    counts: Mapping[str, Any]

    @property
    def position(self) -> tuple[datetime, datetime]:
        """Sorts panes in the order in which alerts take them in."""
        return self.as_of, self.window.start


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneResults:
    """Results of a pane, by series: what alerts read of it."""

    pane: PaneSeen
    results: Mapping[tuple[str, str], Mapping[str, MetricResult]]
