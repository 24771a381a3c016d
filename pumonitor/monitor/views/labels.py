"""Where labels of a monitor come from, how late they are, and what more of them would tell."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from pumonitor.ports import ReviewerCounts, State
from pumonitor.results import Finding
from pumonitor.text import count_text
from pumonitor.views.model import Moment, Number, View

LABELS_TO_COME: Final = "labels_to_come"
"""Name of the finding."""


class IntervalView(View):
    """A number with the ends of its 95% interval; null where it is not known."""

    value: Number = None
    low: Number = None
    high: Number = None


class LabelOriginView(View):
    """Cases of a window that came to be known, or did not, in one way."""

    name: str
    cases: int = Field(description="Of those without a review, the ones that complained.")
    positive: int = Field(default=0, description="By verdict; by complaint where there is none.")
    negative: int = 0
    both: int = Field(default=0, description="Cases of a queue that complained as well.")
    undecided: int = Field(default=0, description="That reviewers could not tell.")
    differing: int = Field(default=0, description="That reviewers differ on.")
    waiting: int = Field(default=0, description="That wait for a verdict.")


class LabelsToCome(View):
    """What a window that is not mature waits for."""

    waiting: int | None = Field(
        description="Cases that were queued and have no verdict yet; null where no queue says when "
        "it queued them."
    )
    complaints: int = Field(description="Complaints that are known.")
    expected: Number = Field(
        description="Complaints that are still to come by the maturity; null while no earlier "
        "window tells: none is mature, or none had complaints at this age."
    )
    low: Number
    high: Number

    @property
    def sentence(self) -> str:
        """In words."""
        queued = ""
        if self.waiting is not None:
            are = "case is" if self.waiting == 1 else "cases are"
            queued = f"{self.waiting:,} {are} queued without a verdict. "
        if self.expected is None or self.low is None or self.high is None:
            return (
                f"{queued}{self.complaints:,} complaints have come; how many are still to come "
                "cannot be told yet: no earlier window is mature, or none had complaints so early."
            )
        return (
            f"{queued}{self.complaints:,} complaints have come, and {count_text(self.expected)} "
            f"({count_text(self.low)} to {count_text(self.high)}) are still to come by the "
            "maturity."
        )

    def as_finding(self) -> Finding:
        """Among the findings of the window."""
        return Finding(name=LABELS_TO_COME, severity="note", sentence=self.sentence)


class WindowLabelsView(View):
    """Labels of one window as they are known by its last look."""

    start: Moment
    state: State
    predictions: int
    complaints: int = Field(description="Labels, where the monitor has no reviews.")
    verdicts: int | None
    undecided: int | None
    to_come: LabelsToCome | None = Field(description="Of a window that is not mature.")
    label_frequency: IntervalView = Field(description="Share of the positives that is confirmed.")


class NextReviewsView(View):
    """What some reviews more would come to."""

    where: Literal["below the cut", "random", "at the threshold"]
    cases: int
    positives: Number = Field(description="How many of them are expected to be positive.")
    width_now: dict[str, float]
    width_then: dict[str, float]
    narrower: dict[str, float] = Field(description="By what share each interval narrows.")
    hardly_anything: bool = Field(description="Whether none becomes narrower by a twentieth.")


class ArrivalView(View):
    """Shares of the labels known at the maturity that are known at an age."""

    age_days: float = Field(description="After the end of the window.")
    verdicts: IntervalView
    complaints: IntervalView


class LabelsView(View):
    """Labels of a monitor."""

    monitor: str
    has_reviews: bool
    window_start: Moment | None = Field(
        default=None,
        description="Of the newest mature window, which all but arrivals and windows are about.",
    )
    window_end: Moment | None = None
    state: State | None = None
    predictions: int = 0
    origins: list[LabelOriginView] = Field(default=[])
    not_reviewed: Number = Field(
        default=None, description="Share of all rows that nobody reviewed."
    )
    stopped: Number = Field(default=None, description="Share declined outright without a verdict.")
    known_positives: int = 0
    positives: IntervalView = Field(
        default=IntervalView(), description="Positives that the window is estimated to have."
    )
    reviewers: list[ReviewerCounts] = Field(
        default=[], description="By what they said since that window began, in all windows."
    )
    next_reviews: list[NextReviewsView] = Field(
        default=[],
        description="Width of recall and F1 expected after 100 reviews more, by where.",
    )
    arrivals: list[ArrivalView] = Field(
        default=[], description="Share of labels known by age of a window."
    )
    windows: list[WindowLabelsView] = Field(default=[])
