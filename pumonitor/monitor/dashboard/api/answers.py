"""What is answered: views, in lists that go on behind a cursor."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import Field

from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.promotions import Promotion
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.views.alerts import AlertEventView, AlertView
from pumonitor.monitor.views.condition import MonitorCondition, MonitorLine
from pumonitor.monitor.views.incidents import IncidentView
from pumonitor.monitor.views.windows import FindingView, WindowView, WorkView
from pumonitor.views.model import Number, View

Item = TypeVar("Item", bound=View)


class Stretch(View, Generic[Item]):
    """Part of a list."""

    items: list[Item]
    next: str | None = Field(description="Cursor of the next stretch; null at the end.")


class Monitors(Stretch[MonitorLine]):
    """Monitors by name."""


class MonitorAnswer(MonitorLine):
    """A monitor with what can be asked about it."""

    configuration: str | None = Field(description="Hash of its configuration; see configurations.")
    metrics: list[str] = Field(description="Metrics of its results.")
    model_versions: list[str]
    segments: list[str]
    rules: list[str]
    may_change: bool = Field(description="Whether you may acknowledge, silence and write notes.")


class Windows(Stretch[WindowView]):
    """Windows of a monitor, the newest first."""


class Results(Stretch[PublishedResult]):
    """Results by monitor, window, model version, segment, metric and revision."""

    next: str | None = Field(
        description="Cursor of the next stretch; null at the end. There may be fewer results than "
        "the limit although more follow."
    )


class WindowAnswer(WindowView):
    """A window with the results of one series in one revision."""

    model_version: str
    model_versions: list[str]
    segment: str
    revision: int | None = Field(description="Of these results; null without any.")
    revisions: list[int]
    results: list[PublishedResult]
    doubts: list[str] = Field(description="Reasons to doubt the class prior.")
    findings: list[FindingView] = Field(
        description="What else was found, such as verdicts and complaints that are still to come."
    )
    class_prior_said: str = Field(
        description="Source of a class prior that is followed, and what remains unknown about it."
    )


class Alerts(Stretch[AlertView]):
    """Alerts, those that need somebody first."""


class Incidents(Stretch[IncidentView]):
    """Incidents, by their key."""


class Acknowledged(View):
    """Alerts that have been acknowledged."""

    items: list[AlertView]


class Events(Stretch[AlertEventView]):
    """What happened, the newest first."""


class Silences(Stretch[Silence]):
    """Silences, the newest first."""


class Notes(Stretch[Note]):
    """Notes, the newest first."""


class Promotions(Stretch[Promotion]):
    """Promotions of a monitor, the last begun first."""


class ConfigurationAnswer(View):
    """A configuration under which windows were evaluated."""

    hash: str
    is_current: bool
    meaning: dict[str, Any] = Field(description="All that results depend on, without secrets.")
    changes: list[str] = Field(description="What changed since the configuration before.")


class Configurations(View):
    """Configurations of a monitor, in the order of last use."""

    items: list[ConfigurationAnswer]


class Waiting(View):
    """Messages that wait for a destination."""

    destination: str
    messages: int
    set_aside: int = Field(description="Messages that it has refused.")
    oldest_seconds: Number


class Health(View):
    """Whether the state database answers, and what is late."""

    version: str
    ready: bool
    monitors: list[MonitorCondition]
    work: list[WorkView]
    outbox: list[Waiting] = Field(description="For administrators; empty for others.")
