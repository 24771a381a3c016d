"""What is answered about alerts, silences, notes, configurations and health."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pumonitor.monitor.dashboard.api.answers import NEXT
from pumonitor.monitor.dashboard.api.values import Answer, Moment, Number
from pumonitor.monitor.rules.alerts.alert import Severity, TransitionKind
from pumonitor.monitor.views.condition import MonitorCondition

__all__ = [
    "Acknowledged",
    "AlertAnswer",
    "Alerts",
    "ConfigurationAnswer",
    "Configurations",
    "DeedAnswer",
    "Event",
    "Events",
    "Health",
    "NoteAnswer",
    "Notes",
    "SilenceAnswer",
    "Silences",
    "Told",
    "Work",
]


class _OfAlert(Answer):
    monitor: str
    rule: str
    rule_key: str = Field(description="Hash of the rule's meaning.")
    model_version: str
    segment: str
    metric: str
    severity: Severity
    incident: int = Field(description="Number of the incident, from 1.")


class AlertAnswer(_OfAlert):
    """An alert in its present state."""

    state: Literal["unknown", "ok", "pending", "firing", "recovering"]
    is_firing: bool
    firing_since: Moment | None
    is_acknowledged: bool
    silenced_until: Moment | None
    value: Number
    low: Number
    high: Number
    limit: Number
    reference: Number
    reason: str = Field(description="Why the state is unknown, or the value null.")
    window_start: Moment | None
    window_end: Moment | None
    as_of: Moment | None
    sentence: str = Field(description="What was said when it fired; empty unless it fires.")
    cause: str = Field(
        description="Why, as known when it fired and by the audits since; empty unless it fires."
    )
    next_steps: list[str] = Field(
        description="What to do about it, in the order in which it is done; empty unless it fires."
    )


class Alerts(Answer):
    """Alerts, those that need somebody first."""

    items: list[AlertAnswer]
    next: str | None = NEXT


class Told(Answer):
    """What became of a message at one destination."""

    destination: str
    state: Literal["delivered", "waiting", "set aside"]
    at: Moment | None = Field(description="When it was delivered or set aside.")


class DeedAnswer(Answer):
    """What somebody did about an incident."""

    at: Moment
    by: str
    what: str
    text: str = Field(description="The reason or note they gave.")


class Event(_OfAlert):
    """What happened to an alert."""

    id: int
    kind: TransitionKind
    reason: str
    window_start: Moment
    window_end: Moment
    as_of: Moment
    firing_since: Moment | None
    value: Number
    low: Number
    high: Number
    limit: Number
    reference: Number
    sentence: str
    cause: dict[str, Any]
    recorded_at: Moment
    notified_at: Moment | None
    withheld: str | None = Field(description="Why nobody was notified, or not at once.")
    destinations: list[Told] = Field(
        description="Who was notified; empty once the message is deleted (`keep_delivered`)."
    )
    people: list[DeedAnswer] = Field(
        description="What people did about the incident, where it fired; else empty."
    )


class Events(Answer):
    """What happened, the newest first."""

    items: list[Event]
    next: str | None = NEXT


class SilenceAnswer(Answer):
    """A time in which matching alerts notify nobody; null matches anything."""

    id: int
    monitor: str | None
    rule: str | None
    metric: str | None
    model_version: str | None
    segment: str | None
    starts: Moment
    ends: Moment
    reason: str
    author: str


class Silences(Answer):
    """Silences, the newest first."""

    items: list[SilenceAnswer]
    next: str | None = NEXT


class NotedIncident(Answer):
    """The incident of an alert that a note is about."""

    rule_key: str
    model_version: str
    segment: str
    incident: int


class NoteAnswer(Answer):
    """What somebody wrote about a monitor."""

    id: int
    monitor: str
    at: Moment = Field(description="The moment it is about, or the beginning of its period.")
    ends: Moment | None = Field(description="End of its period; null for a moment.")
    alert: NotedIncident | None
    text: str
    author: str
    created_at: Moment | None


class Notes(Answer):
    """Notes, the newest first."""

    items: list[NoteAnswer]
    next: str | None = NEXT


class Acknowledged(Answer):
    """Alerts that have been acknowledged."""

    items: list[AlertAnswer]


class ConfigurationAnswer(Answer):
    """A configuration under which windows were evaluated."""

    hash: str
    is_current: bool
    meaning: dict[str, Any] = Field(description="All that results depend on, without secrets.")
    changes: list[str] = Field(description="What changed since the configuration before.")


class Configurations(Answer):
    """Configurations of a monitor, in the order of last use."""

    items: list[ConfigurationAnswer]


class Work(Answer):
    """Work that is left."""

    monitor: str
    windows: int
    to_collect: int
    to_evaluate: int
    failing: int
    oldest_unfinished: Moment | None


class Waiting(Answer):
    """Messages that wait for a destination."""

    destination: str
    messages: int
    set_aside: int = Field(description="Messages that it has refused.")
    oldest_seconds: Number


class Health(Answer):
    """Whether the state database answers, and what is late."""

    version: str
    ready: bool
    monitors: list[MonitorCondition]
    work: list[Work]
    outbox: list[Waiting] = Field(description="For administrators; empty for others.")
