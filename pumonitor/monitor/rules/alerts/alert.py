"""An alert: its identity, its present state, and its transitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pumonitor.monitor.rules.alerts.states import AlertState, Evidence
from pumonitor.ports import Window

TransitionKind = Literal["fired", "resolved", "reminder"]
Severity = Literal["info", "warning", "critical"]

Place = tuple[str, str, str]
"""Rule key, model version and segment: identifies an alert within its monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertIdentity:
    """Identity of an alert: a monitor, a rule, a model version and a segment.

    Attributes
    ----------
    monitor : str
    rule_key : str
        Hash of the rule's meaning: the key of an edited rule is a different one.
    model_version : str
        "" without model versions.
    segment : str
        ``column=value``, or "" for all rows.
    """

    monitor: str
    rule_key: str
    model_version: str
    segment: str

    @property
    def place(self) -> Place:
        """The identity within its monitor."""
        return self.rule_key, self.model_version, self.segment

    @property
    def lane(self) -> str:
        """Outbox lane: messages with the same lane are delivered in order."""
        return "/".join([self.monitor, self.rule_key, self.segment, self.model_version])

    def incident_key(self, incident: int) -> str:
        """Key shared by all messages about one incident."""
        return f"{self.lane}/{incident}"

    def message_key(self, incident: int, kind: TransitionKind, *, reminder: int = 0) -> str:
        """Idempotency key of one message: unchanged when the message is sent again."""
        ending = f"{kind}{reminder}" if kind == "reminder" else kind
        return f"{self.incident_key(incident)}/{ending}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition(AlertIdentity):
    """A state change of an incident: it fired, was resolved, or a reminder is due.

    The same record goes from the fold through the ledger to the message; it is never copied into
    another type. Its fields are the columns of `alert_transitions`.

    Attributes
    ----------
    incident : int
        Number of the alert's incident, from 1.
    kind : {"fired", "resolved", "reminder"}
    reminder : int
        Number of the reminder; 0 for other kinds.
    rule : str
        Display name of the rule.
    metric : str
        What the rule tests: an estimate, a number of rows, or ``health:`` and its kind.
    severity : {"info", "warning", "critical"}
    reason : str
        Why an incident was resolved: "good"; "revised" (a correction: with later labels the
        window is no breach); or "configuration" (the rule was edited or deleted). Else "".
    window_start, window_end : datetime
        The window with the evidence.
    as_of : datetime
        Labels known by then were used. Of rules with ``evidence: audited`` not before the verdicts
        on the window were read.
    firing_since : datetime or None
        Start of the window with which the incident began.
    value, low, high : float or None
        The metric in this window, with its interval.
    limit_value : float or None
        The rule's limit, on the metric's scale.
    reference : float or None
        The reference's value, on the metric's scale.
    sentence : str
        One sentence for messages.
    cause : mapping
        The `Cause` in JSON types; may be empty.
    joined : str
        Key of the incident of several alerts that this one has joined; "" if it is their first, or
        the only one.
    onset : datetime or None
        Of "fired": what changed did so after this and before the end of the window.
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
    joined: str = ""
    onset: datetime | None = None

    @property
    def dedup_key(self) -> str:
        """Key shared by all messages of an incident: destinations deduplicate by it."""
        return self.joined or self.incident_key(self.incident)

    def began_with(self, other: Transition) -> bool:
        """Whether both began to fire for what may be one change: their onsets overlap."""
        starts = [one.onset or one.firing_since or one.window_start for one in (self, other)]
        return (self.monitor, self.model_version) == (other.monitor, other.model_version) and max(
            starts
        ) < min(self.window_end, other.window_end)

    @property
    def key(self) -> str:
        """Idempotency key of the message: unchanged when the message is sent again."""
        return self.message_key(self.incident, self.kind, reminder=self.reminder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert(AlertIdentity):
    """The present state of an alert. Fields are the columns of `alert_states`.

    Attributes
    ----------
    rule, metric, severity : str
    state : {"unknown", "ok", "pending", "firing", "recovering"}
        State after the last window.
    count : int
        Breaches so far while pending, good windows so far while recovering; else 0.
    evidence : str or None
        Kind of the last window's evidence. The fields from `value` to `as_of` are that evidence.
    value, low, high, limit_value, reference : float or None
    reason : str
    window_start, window_end, as_of : datetime or None
    is_firing : bool
        Whether an incident is open according to the transitions emitted so far.
    incident : int
        Number of incidents so far.
    firing_since : datetime or None
        Start of the window with which the last incident began.
    emitted_as_of : datetime or None
        `as_of` of the last transition.
    reminders : int
        Reminders of this incident so far.
    told_incident : int
        The last incident of which a notification was sent.
    told_firing : bool
        Whether the last notification said that the alert fires.
    acknowledged_incident : int
        The last acknowledged incident; it gets no reminders.
    closed_at : datetime or None
        When the rule was edited or deleted.
    joined : str
        As of `Transition`, of the last incident.
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
    joined: str = ""

    @property
    def dedup_key(self) -> str:
        """Key of its last incident, which other alerts may share."""
        return self.joined or self.incident_key(self.incident)

    def at_window(self, state: AlertState, evidence: Evidence, *, as_of: datetime) -> Alert:
        """A copy with the state after another window and with that window's evidence."""
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
        """A copy with the incident after a transition."""
        fired, reminded = transition.kind == "fired", transition.kind == "reminder"
        return replace(
            self,
            is_firing=transition.kind != "resolved",
            incident=transition.incident,
            firing_since=transition.firing_since,
            emitted_as_of=transition.as_of,
            joined=transition.joined,
            reminders=0 if fired else transition.reminder if reminded else self.reminders,
        )

    def last_evidence(self) -> Evidence:
        """The evidence of the last window.

        Raises
        ------
        ValueError
            If the alert has no window yet.
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
