"""An alert: what it is known by, where it stands, and what happened to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pumonitor.monitor.rules.alerts.states import AlertState, Evidence
from pumonitor.ports import Window

__all__ = ["Alert", "AlertIdentity", "Place", "Severity", "Transition", "TransitionKind"]

TransitionKind = Literal["fired", "resolved", "reminder"]
Severity = Literal["info", "warning", "critical"]

Place = tuple[str, str, str]
"""Key of the rule, model version and segment: an alert among those of its monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertIdentity:
    """What an alert is known by: one rule, model version and segment of a monitor.

    Attributes
    ----------
    monitor : str
    rule_key : str
        Stands for the rule's meaning.
    model_version, segment : str
        "" where there are none, and for all rows; a segment is ``column=value``.
    """

    monitor: str
    rule_key: str
    model_version: str
    segment: str

    @property
    def place(self) -> Place:
        """Where it is among the alerts of its monitor."""
        return self.rule_key, self.model_version, self.segment

    @property
    def lane(self) -> str:
        """Messages about one alert arrive in order."""
        return "/".join([self.monitor, self.rule_key, self.segment, self.model_version])

    def incident_key(self, incident: int) -> str:
        """The same for all messages about an incident."""
        return f"{self.lane}/{incident}"

    def message_key(self, incident: int, kind: TransitionKind, *, reminder: int = 0) -> str:
        """The same for the same message, however often it is sent."""
        ending = f"{kind}{reminder}" if kind == "reminder" else kind
        return f"{self.incident_key(incident)}/{ending}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition(AlertIdentity):
    """An incident that began or ended, or a reminder of one.

    Made where windows are folded, stored, read back and sent: never copied into another shape.
    Fields are the columns of `alert_transitions`.

    Attributes
    ----------
    incident : int
        Of the alert, from 1.
    kind : {"fired", "resolved", "reminder"}
    reminder : int
        Number of the reminder, 0 for other kinds.
    rule : str
        The rule's name, for people.
    metric : str
        What is judged: an estimate, a number of rows, or ``health:`` and what it is about.
    severity : {"info", "warning", "critical"}
    reason : str
        Of a resolution: "good", "revised" (a correction: what was bad turned out not to be) or
        "configuration" (the rule was edited or deleted); "" otherwise.
    window_start, window_end, as_of : datetime
        Of the window that it is about, and when it was known.
    firing_since : datetime or None
        Start of the window with which the incident began.
    value, low, high : float or None
        Of the metric in this window.
    limit_value : float or None
        What it is judged by, on the metric's scale.
    reference : float or None
        What it is compared with, on the metric's scale.
    sentence : str
        What happened, for people, in one sentence.
    cause : mapping
        What changed; may be empty.
    """

    incident: int
    kind: TransitionKind
    reminder: int = 0
    rule: str
    metric: str
    severity: Severity
    reason: str = ""
    window_start: datetime
    window_end: datetime
    as_of: datetime
    firing_since: datetime | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit_value: float | None = None
    reference: float | None = None
    sentence: str
    cause: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dedup_key(self) -> str:
        """The same for all messages of an incident: destinations put them together by it."""
        return self.incident_key(self.incident)

    @property
    def key(self) -> str:
        """The same for the same message, however often it is sent."""
        return self.message_key(self.incident, self.kind, reminder=self.reminder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert(AlertIdentity):
    """An alert as it is now. Fields are the columns of `alert_states`.

    Attributes
    ----------
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

    rule: str
    metric: str
    severity: Severity
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

    def at_window(self, state: AlertState, evidence: Evidence, *, as_of: datetime) -> Alert:
        """With the state after a window, and what the window is evidence of."""
        return replace(
            self,
            state=state.state,
            count=state.count,
            evidence=evidence.kind,
            value=evidence.value,
            low=evidence.low,
            high=evidence.high,
            limit_value=evidence.limit,
            reference=evidence.reference,
            reason=evidence.reason,
            window_start=evidence.window.start,
            window_end=evidence.window.end,
            as_of=as_of,
        )

    def after(self, transition: Transition) -> Alert:
        """With the incident as a transition leaves it."""
        fired, reminded = transition.kind == "fired", transition.kind == "reminder"
        return replace(
            self,
            is_firing=transition.kind != "resolved",
            incident=transition.incident,
            firing_since=transition.firing_since,
            emitted_as_of=transition.as_of,
            reminders=0 if fired else transition.reminder if reminded else self.reminders,
        )

    def last_evidence(self) -> Evidence:
        """What the last window is evidence of.

        Raises
        ------
        ValueError
            If it has seen none.
        """
        if self.window_start is None or self.window_end is None:
            msg = f"the alert {self.rule!r} has seen no window"
            raise ValueError(msg)
        return Evidence(
            window=Window(start=self.window_start, end=self.window_end, index=0),
            kind=self.evidence or "no_data",  # type: ignore[arg-type]
            value=self.value,
            low=self.low,
            high=self.high,
            limit=self.limit_value,
            reference=self.reference,
            reason=self.reason,
        )
