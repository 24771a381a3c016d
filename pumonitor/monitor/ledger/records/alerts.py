"""Records of alerts: progress, stored transitions, silences, panes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, Self

from pydantic import Field, model_validator

from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.ports import State, Window
from pumonitor.views.model import Moment, View

Withheld = Literal[
    "history", "silenced", "inhibited", "incident", "untold", "acknowledged", "too soon"
]
"""Why no notification was sent for a transition.

- "history": too long ago, or found by a backfill.
- "silenced": a silence matches.
- "inhibited": a critical alert fires for the same metric and series.
- "incident": the resolution of an alert while others of its incident fire; it is sent with theirs.
- "untold": the resolution of an incident without a notification.
- "acknowledged": a reminder of an acknowledged incident.
- "too soon": a reminder shortly after the notification.
"""

WITHHELD_BECAUSE: Final[Mapping[Withheld | None, str]] = MappingProxyType(
    {
        "history": "the window is too old, or a backfill evaluated it",
        "silenced": "a silence is in force",
        "inhibited": "a critical alert for the same metric fires",
        "incident": "other alerts of the incident fire",
        "untold": "no notification was sent when it fired",
        "acknowledged": "the incident is acknowledged",
        "too soon": "the last notification was sent shortly before",
        None: "the rule has no destination",
    }
)
"""The same in words for people; None: nobody is to be notified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a rule's fold.

    Attributes
    ----------
    as_of, window_start : datetime or None
        Position of the last folded pane; None before the first.
    generation : int
        Incremented when a folded pane has been revised.
    last_error : str or None
        Error that stopped the fold.
    """

    as_of: datetime | None = None
    window_start: datetime | None = None
    generation: int = 0
    last_error: str | None = None

    @property
    def position(self) -> tuple[datetime, datetime] | None:
        """Sort key of the last folded pane in the order of the fold."""
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
        Ascending.
    recorded_at : datetime
        By the database's clock.
    told_at : datetime or None
        When messages about it were put into the outbox.
    withheld : str or None
        Why no notification was sent, or not at once.
    """

    transition: Transition
    id: int
    recorded_at: datetime
    told_at: datetime | None
    withheld: Withheld | None


class AlertToSilence(Protocol):
    """What a silence matches by."""

    @property
    def monitor(self) -> str: ...  # noqa: D102
    @property
    def rule(self) -> str: ...  # noqa: D102
    @property
    def rule_key(self) -> str: ...  # noqa: D102
    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def model_version(self) -> str: ...  # noqa: D102
    @property
    def segment(self) -> str: ...  # noqa: D102


class Silence(View):
    """A time in which matching alerts notify nobody; null matches anything."""

    id: int = Field(default=0, description="0 until it is stored.")
    monitor: str | None = None
    rule: str | None = Field(default=None, description="Name or key of a rule.")
    metric: str | None = None
    model_version: str | None = None
    segment: str | None = None
    starts: Moment
    ends: Moment = Field(description="The silence holds until then.")
    reason: str = ""
    author: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ends < self.starts:
            msg = f"a silence must end after it starts, got {self.starts} to {self.ends}"
            raise ValueError(msg)
        return self

    def covers(self, alert: AlertToSilence, *, now: datetime) -> bool:
        """Whether the silence matches the alert and holds now."""
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
class RecordedPane:
    """A pane, as input to the fold of alerts.

    Attributes
    ----------
    window_key : str
    window : Window
    number : int
    state : {"provisional", "mature", "final"}
    as_of : datetime
    revision : int or None
        Revision of its results; None if its window was given up.
    counts : mapping
        Row counts from collecting it.
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
        """Sort key in the order of the fold."""
        return self.as_of, self.window.start


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneResults:
    """A pane with the results that alerts read, by series."""

    pane: RecordedPane
    results: Mapping[tuple[str, str], Mapping[str, MetricResult]]
