"""What is answered about labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import Field

from pumonitor.monitor.dashboard.api.queries import NoQuery
from pumonitor.monitor.dashboard.api.reading import Reading
from pumonitor.monitor.dashboard.api.values import Answer, Moment
from pumonitor.monitor.dashboard.pages.labels_page import health_of
from pumonitor.monitor.inspection.label_health import (
    Arrival,
    Interval,
    LabelOrigin,
)
from pumonitor.monitor.windows.known_labels import LabelsToCome
from pumonitor.ports import ReviewerCounts, State
from pumonitor.reviews.next_reviews import NextReviews

__all__ = ["Labels", "labels_answer"]


class WindowLabels(Answer):
    """Labels of one window as they are known by its last look."""

    start: Moment
    state: State
    predictions: int
    complaints: int = Field(description="Labels, where the monitor has no reviews.")
    verdicts: int | None
    undecided: int | None
    to_come: LabelsToCome | None = Field(description="Of a window that is not mature.")
    label_frequency: Interval


class Labels(Answer):
    """Labels of a monitor, with the fields that `pumonitor insights` has under labels."""

    monitor: str
    has_reviews: bool
    window_start: Moment | None = Field(
        description="Of the newest mature window, which all but arrivals and windows are about."
    )
    window_end: Moment | None
    state: State | None
    predictions: int
    origins: list[LabelOrigin]
    not_reviewed: float | None = Field(description="Share of all rows that nobody reviewed.")
    stopped: float | None = Field(description="Share declined outright without a verdict.")
    known_positives: int
    positives: Interval = Field(description="Positives that the window is estimated to have.")
    reviewers: list[ReviewerCounts] = Field(
        description="By what they said since that window began, in all windows."
    )
    next_reviews: list[NextReviews] = Field(
        description="Width of recall and F1 expected after 100 reviews more, by where."
    )
    arrivals: list[Arrival] = Field(description="Share of labels known by age of a window.")
    windows: list[WindowLabels]


def labels_answer(
    reading: Reading, path: Mapping[str, str], query: NoQuery
) -> Callable[[], Labels]:
    """What looks at the labels of a monitor, to be called after the snapshot."""
    name, site = reading.seen(path["monitor"]), reading.site
    return lambda: Labels.model_validate(health_of(site, name))
