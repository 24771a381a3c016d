"""An alert, what happened to it, and what people did about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, PlainSerializer

from pumonitor.monitor.ledger.records.alerts import WITHHELD_BECAUSE, StoredTransition
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.alert import (
    Alert,
    AlertIdentity,
    Place,
    Severity,
    Transition,
    TransitionKind,
)
from pumonitor.monitor.rules.causes.next_steps import Step
from pumonitor.views.model import Moment, Number, View

SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "info")
"""The worst first."""


StepInWords = Annotated[Step, PlainSerializer(str, return_type=str, when_used="json")]


class AlertIdentityView(View):
    """Which alert it is."""

    monitor: str
    rule: str
    rule_key: str = Field(description="Hash of the rule's meaning.")
    model_version: str
    segment: str
    metric: str
    severity: Severity
    incident: int = Field(description="Number of the incident, from 1.")

    @property
    def place(self) -> Place:
        """What tells it from others of its monitor."""
        return self.rule_key, self.model_version, self.segment

    @property
    def lane(self) -> str:
        """What tells it from others of all monitors."""
        return AlertIdentity(
            monitor=self.monitor,
            rule_key=self.rule_key,
            model_version=self.model_version,
            segment=self.segment,
        ).lane


class UserActionView(View):
    """What somebody did about an incident."""

    at: Moment
    by: str
    what: str
    text: str = Field(description="The reason or note they gave.")
    incident: int = Field(description="Number of the incident; 0 if it is not known.")
    note: int | None = Field(description="Number of a note.")


class AlertView(AlertIdentityView):
    """An alert in its present state."""

    dedup_key: str = Field(
        description="Key of its last incident; other alerts that began with it have the same."
    )
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
    noticed_at: Moment | None = Field(
        description="By when what made it fire was known; null unless it fires."
    )
    sentence: str = Field(description="What was said when it fired; empty unless it fires.")
    cause: str = Field(
        description="Why, as known when it fired and by the audits since; empty unless it fires."
    )
    names_cause: bool = Field(
        description="Whether that cause says what changed; of the health of the data it does not."
    )
    next_steps: list[StepInWords] = Field(
        description="What to do about it, in the order in which it is done; empty unless it fires."
    )
    page: str | None = Field(description="Address of the page of its newest window, if known.")
    people: list[UserActionView] = Field(
        description="What people did about the incident, the oldest first; empty unless it fires."
    )

    @property
    def needs_somebody(self) -> bool:
        """Whether it fires, and nobody has acknowledged or silenced it."""
        return self.is_firing and not self.is_acknowledged and self.silenced_until is None


def alert_view(
    alert: Alert,
    *,
    silenced_until: datetime | None,
    began: Transition | None,
    cause: Mapping[str, Any],
    next_steps: Sequence[Step],
    people: Sequence[UserActionView],
    pages: PageAddresses | None,
) -> AlertView:
    """An alert in its present state.

    Parameters
    ----------
    alert : Alert
    silenced_until : datetime or None
    began : Transition or None
        That with which it fired; None unless it fires.
    cause : mapping
        As `Transition.cause`, by what is known now.
    next_steps : sequence of Step
    people : sequence of UserActionView
        Of its incident.
    pages : PageAddresses or None
    """
    return AlertView.from_record(
        alert,
        limit=alert.limit_value,
        is_acknowledged=alert.is_firing and alert.acknowledged_incident == alert.incident,
        silenced_until=silenced_until,
        noticed_at=None if began is None else began.as_of,
        sentence="" if began is None else began.sentence,
        cause=str(cause.get("sentence", "")),
        names_cause="kinds" in cause,
        next_steps=list(next_steps),
        page=_page(alert, pages),
        people=list(people),
    )


def _page(alert: Alert | Transition, pages: PageAddresses | None) -> str | None:
    if pages is None or alert.window_start is None:
        return None
    return pages.window(alert.monitor, alert.window_start, alert.model_version, alert.segment)


def by_urgency(alerts: Iterable[AlertView]) -> list[AlertView]:
    """Those that need somebody first."""
    return sorted(alerts, key=_urgency)


def _urgency(alert: AlertView) -> tuple[Any, ...]:
    return (
        not alert.is_firing,
        not alert.needs_somebody,
        SEVERITIES.index(alert.severity),
        alert.monitor,
        alert.rule,
        alert.model_version,
        alert.segment,
    )


class TransitionView(AlertIdentityView):
    """A change of an alert, as messages carry it."""

    kind: TransitionKind
    reminder: int = Field(description="Number of the reminder; 0 of other kinds.")
    dedup_key: str = Field(description="The same in all messages about an incident.")
    reason: str
    window_start: Moment
    window_end: Moment
    as_of: Moment
    firing_since: Moment | None
    onset: Moment | None = Field(
        description="What changed did so after this and before the end of the window; where it "
        "fired, else null."
    )
    value: Number
    low: Number
    high: Number
    limit: Number
    reference: Number
    sentence: str
    cause: dict[str, Any]


class DeliveryView(View):
    """What became of a message at one destination."""

    destination: str
    state: Literal["delivered", "waiting", "set aside"]
    at: Moment | None = Field(description="When it was delivered or set aside.")


class AlertEventView(TransitionView):
    """What happened to an alert."""

    id: int
    recorded_at: Moment
    notified_at: Moment | None
    withheld: str | None = Field(description="Why nobody was notified, or not at once.")
    destinations: list[DeliveryView] = Field(
        description="Who was notified; empty once the message is deleted (`keep_delivered`)."
    )
    people: list[UserActionView] = Field(
        description="What people did about the incident, where it fired; else empty."
    )
    page: str | None = Field(description="Address of the page of its window, if known.")


def transition_view(transition: Transition) -> TransitionView:
    """A change of an alert, as messages carry it."""
    return TransitionView.from_record(
        transition, limit=transition.limit_value, cause=dict(transition.cause)
    )


def alert_event_view(
    stored: StoredTransition,
    *,
    destinations: Sequence[DeliveryView],
    people: Sequence[UserActionView],
    pages: PageAddresses | None,
) -> AlertEventView:
    """What happened to an alert.

    Parameters
    ----------
    stored : StoredTransition
    destinations : sequence of DeliveryView
    people : sequence of UserActionView
        Of the incident, where it fired.
    pages : PageAddresses or None
    """
    transition = stored.transition
    return AlertEventView.from_record(
        transition,
        limit=transition.limit_value,
        cause=dict(transition.cause),
        id=stored.id,
        recorded_at=stored.recorded_at,
        notified_at=stored.told_at,
        withheld=stored.withheld if stored.told_at else WITHHELD_BECAUSE[stored.withheld],
        destinations=list(destinations),
        people=list(people),
        page=_page(transition, pages),
    )


class QuietAlarmsView(View):
    """False alarms of a rule in quiet windows."""

    windows: int
    alarms: int
    per_year: float
    at_most: float = Field(description="Upper bound of the rate per year, with 95% confidence.")


class ReplayView(View):
    """Result of replaying a rule over the history of a monitor."""

    rule: str
    severity: str
    windows: int = Field(description="Evaluated windows with predictions.")
    empty_windows: int
    events: list[TransitionView]
    false_alarms_per_year: Number = Field(
        description="Expected rate while nothing changes; null with too few quiet windows."
    )
    told_by: str = Field(description="Source of that rate: chosen, or quiet windows.")
    quiet: QuietAlarmsView | None
    why_unknown: str = Field(description="Why the rule has no evidence in any window so far.")
