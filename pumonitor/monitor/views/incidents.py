"""An incident: the alerts that fire for one change, with one cause and one thing to do."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from pumonitor.monitor.rules.alerts.alert import Severity
from pumonitor.monitor.views.alerts import SEVERITIES, AlertView, StepInWords, by_urgency
from pumonitor.views.model import Moment, View


class IncidentView(View):
    """Alerts of one monitor and model version that began with one change and fire."""

    dedup_key: str = Field(
        description="The same in all messages about it: that of its first alert."
    )
    monitor: str
    model_version: str
    severity: Severity = Field(description="The worst of its alerts.")
    firing_since: Moment | None = Field(description="Start of the first bad window of any alert.")
    noticed_at: Moment | None = Field(description="By when the first alert was known to fire.")
    needs_somebody: bool = Field(
        description="Whether an alert is neither acknowledged nor silenced."
    )
    sentence: str = Field(description="What was said when its most urgent alert fired.")
    cause: str = Field(description="Why, as its most urgent alert says whose cause is known.")
    next_steps: list[StepInWords] = Field(description="What to do about it, in that order.")
    alerts: list[AlertView] = Field(description="The most urgent first.")


def incident_views(alerts: Iterable[AlertView]) -> list[IncidentView]:
    """The incidents of alerts that fire, in the order of their most urgent alerts."""
    by_key: dict[str, list[AlertView]] = {}
    for alert in by_urgency(alert for alert in alerts if alert.is_firing):
        by_key.setdefault(alert.dedup_key, []).append(alert)
    return [_incident_view(members) for members in by_key.values()]


def _incident_view(alerts: list[AlertView]) -> IncidentView:
    first = alerts[0]
    # The cause of one alert is that of all; of the health of the data it does not say what changed.
    explained = next((alert for alert in alerts if alert.names_cause), first)
    starts = [alert.firing_since for alert in alerts if alert.firing_since is not None]
    noticed = [alert.noticed_at for alert in alerts if alert.noticed_at is not None]
    return IncidentView(
        dedup_key=first.dedup_key,
        monitor=first.monitor,
        model_version=first.model_version,
        severity=min((alert.severity for alert in alerts), key=SEVERITIES.index),
        firing_since=min(starts, default=None),
        noticed_at=min(noticed, default=None),
        needs_somebody=any(alert.needs_somebody for alert in alerts),
        sentence=first.sentence,
        cause=explained.cause,
        next_steps=explained.next_steps,
        alerts=alerts,
    )
