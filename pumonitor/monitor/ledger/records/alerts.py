"""What the ledger keeps of alerts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.rules.alerts.alert import Alert, Transition
from pumonitor.ports import State, Window

__all__ = [
    "PaneResults",
    "PaneSeen",
    "Progress",
    "Silence",
    "StoredTransition",
    "Withheld",
]

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
class StoredTransition:
    """A transition in the ledger.

    Attributes
    ----------
    transition : Transition
    id : int
        Grows.
    recorded_at : datetime
        By the database's clock.
    told_at : datetime or None
        When messages about it were put into the outbox.
    withheld : str or None
        Why nobody was told, or not at once.
    """

    transition: Transition
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

    def covers(self, alert: Alert, *, now: datetime) -> bool:
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
