"""What is answered about monitors, series, windows and results."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pumonitor.monitor.dashboard.api.values import Answer, Moment, Number
from pumonitor.monitor.views.condition import MonitorLine
from pumonitor.ports import State

__all__ = [
    "MonitorAnswer",
    "Monitors",
    "Pane",
    "Point",
    "Result",
    "Results",
    "Series",
    "WindowAnswer",
    "WindowFinding",
    "WindowLine",
    "Windows",
]

NEXT = Field(description="Cursor of the next stretch; null at the end.")
REASON = Field(description="Why the value is null.")


class Monitors(Answer):
    """Monitors by name."""

    items: list[MonitorLine]
    next: str | None = NEXT


class MonitorAnswer(MonitorLine):
    """A monitor with what can be asked about it."""

    configuration: str | None = Field(description="Hash of its configuration; see configurations.")
    metrics: list[str] = Field(description="Metrics of its results.")
    model_versions: list[str]
    segments: list[str]
    rules: list[str]
    may_change: bool = Field(description="Whether you may acknowledge, silence and write notes.")


class Expected(Answer):
    """What a provisional value is expected to become."""

    value: Number
    low: Number
    high: Number


class Point(Answer):
    """One window of a series."""

    window_start: Moment
    window_end: Moment
    state: State
    model_version: str
    revision: int
    as_of: Moment
    value: Number
    low: Number
    high: Number
    reason: str | None = Field(description="Why the value is null or cannot be right.")
    expected: Expected | None
    predictions: Number
    labeled_positives: Number
    label_maturity: Number


class Series(Answer):
    """One metric over windows, in order of time."""

    monitor: str
    metric: str
    title: str
    segment: str
    as_of: Moment | None
    is_cut: bool = Field(description="Older windows were left out, because there are too many.")
    items: list[Point]


class Pane(Answer):
    """One look at a window."""

    number: int
    state: State
    as_of: Moment
    status: Literal["planned", "collected", "evaluated"]
    revision: int | None
    digest: str | None = Field(description="Digest of the rows that were counted.")
    counts: dict[str, Any] | None = Field(
        description="Rows that were counted; in versions what read them (read_by: engine, version, "
        "seconds, bytes, query_ids, and how many windows together), of tables in lakes the version "
        "or snapshot, and an engine that was not verified."
    )
    collected_at: Moment | None
    evaluated_at: Moment | None
    library_version: str | None


class WindowLine(Answer):
    """A window and how far it is."""

    monitor: str
    start: Moment
    end: Moment
    configuration: str
    attempts: int = Field(description="Failed attempts in a row.")
    last_error: str | None
    next_attempt: Moment | None
    panes: list[Pane]


class Windows(Answer):
    """Windows of a monitor, the newest first."""

    items: list[WindowLine]
    next: str | None = NEXT


class Result(Answer):
    """One result, with the fields of `pumonitor results`."""

    monitor: str
    model_version: str
    segment: str
    window_start: Moment
    window_end: Moment
    state: State
    revision: int
    as_of: Moment
    metric: str
    value: Number
    low: Number
    high: Number
    n_labeled: int | None
    n_unlabeled: int | None
    undefined_reason: str | None = REASON
    infeasible: bool
    impossible: bool
    infeasible_reason: str | None = Field(
        description="Why it is infeasible or impossible; of others, which impossible value it is "
        "computed from."
    )
    unclipped_value: Number
    unclipped_low: Number
    unclipped_high: Number
    assumed: bool


class Results(Answer):
    """Results by monitor, window, model version, segment, metric and revision."""

    items: list[Result]
    next: str | None = Field(
        description="Cursor of the next stretch; null at the end. There may be fewer results than "
        "the limit although more follow."
    )


class WindowFinding(Answer):
    """What is doubtful about a window, or worth knowing."""

    name: str
    severity: Literal["note", "warning"]
    sentence: str


class WindowAnswer(WindowLine):
    """A window with the results of one series in one revision."""

    model_version: str
    model_versions: list[str]
    segment: str
    revision: int | None = Field(description="Of these results; null without any.")
    revisions: list[int]
    results: list[Result]
    doubts: list[str] = Field(description="Reasons to doubt the class prior.")
    findings: list[WindowFinding] = Field(
        description="What else was found, such as verdicts and complaints that are still to come."
    )
    class_prior_said: str = Field(
        description="Source of a class prior that is followed, and what remains unknown about it."
    )
