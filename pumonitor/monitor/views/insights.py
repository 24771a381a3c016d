"""Present state of a monitor: its newest windows, its labels, and what is late or doubtful."""

from __future__ import annotations

from pydantic import Field

from pumonitor.monitor.views.condition import MonitorCondition
from pumonitor.monitor.views.labels import LabelsView
from pumonitor.monitor.views.windows import WorkView
from pumonitor.ports import State
from pumonitor.views.model import Moment, Number, View


class EstimateOfWindowView(View):
    """A value with its interval; null where it is undefined."""

    value: Number = None
    low: Number = None
    high: Number = None
    infeasible_reason: str | None = Field(
        default=None, description="Why the number cannot be right."
    )
    assumed: bool = Field(
        default=False, description="Whether it was assumed in the configuration, not estimated."
    )


class WindowInsightView(View):
    """Estimates, doubts and comparison with the reference of one window of one series."""

    start: Moment
    end: Moment
    model_version: str
    segment: str
    state: State
    predictions: int | None
    labeled_positives: int | None
    label_maturity: EstimateOfWindowView = Field(
        description="Share of the expected confirmations that have arrived."
    )
    estimates: dict[str, EstimateOfWindowView]
    expected: dict[str, EstimateOfWindowView] = Field(
        description="What they are expected to be when all labels have arrived."
    )
    changes: dict[str, EstimateOfWindowView] = Field(description="From the reference.")
    verdict: str = Field(description="degraded, level or unknown.")
    doubts: list[str] = Field(default=[], description="Evidence against an assumed class prior.")
    class_prior_said: str = Field(
        default="",
        description="Source of a followed class prior, changes since the reference, and what "
        "remains unknown; empty if it is not followed.",
    )


class InsightView(View):
    """Present state of a monitor: its newest windows, what is late, and what is doubtful."""

    monitor: str
    backlog: WorkView
    latest: list[WindowInsightView] = Field(
        description="The newest window with predictions that is mature, and the newest of all with "
        "predictions if that is another, by series."
    )
    findings: list[str] = Field(
        description="Findings about the rows of the windows in the 400 days up to the newest."
    )
    evaluated: int = Field(
        description="Number of evaluated windows, including those without predictions."
    )
    condition: MonitorCondition | None
    waiting: list[str] = Field(
        description="Which windows wait for which earlier one that cannot be counted, and the "
        "remedy."
    )
    labels: LabelsView | None = None
    page: str | None = Field(default=None, description="Address of its page, if known.")
