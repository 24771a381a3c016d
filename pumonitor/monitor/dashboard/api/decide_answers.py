"""What is answered about a decision."""

from __future__ import annotations

from pydantic import Field

from pumonitor.audit.estimates import Method
from pumonitor.decisions import Where
from pumonitor.monitor.dashboard.pages.decide_found import Kind
from pumonitor.monitor.ledger.records.results import REASON
from pumonitor.ports import State
from pumonitor.views.model import Moment, Number, View


class Interval(View):
    """An interval of 95%."""

    low: Number
    high: Number


class DecidedEstimate(Interval):
    """An estimate at a threshold."""

    value: Number
    undefined_reason: str | None = REASON
    infeasible_reason: str | None = Field(
        description="Why the value is impossible, or which impossible one it is made of."
    )


class Threshold(View):
    """What one threshold brings in a window."""

    kind: Kind = Field(description="The present one, the one asked for, or the best one.")
    threshold: float
    estimates: dict[str, DecidedEstimate]
    relied_on: Interval = Field(
        description="Interval of the criterion that holds at all thresholds at once."
    )


class CurveOfThresholds(View):
    """An estimate over thresholds, with its interval at each."""

    threshold: list[float]
    value: list[Number]
    low: list[Number]
    high: list[Number]


class Review(View):
    """A random review, and what it is expected to bring."""

    where: Where = Field(
        description="Among which cases not yet confirmed: by the threshold, or as an audit spreads "
        "them over score bins."
    )
    cases: int
    positives: Number = Field(description="How many of them are expected to be positive.")
    widths: dict[str, Number] = Field(description="Expected widths of intervals afterwards.")


class Reviews(View):
    """Random reviews of one size beside each other."""

    now: dict[str, Number] = Field(description="Widths of the intervals today.")
    options: list[Review]


class Decided(View):
    """What thresholds bring, from the newest mature window with estimates."""

    monitor: str
    segment: str
    model_version: str | None = None
    window_start: Moment | None = Field(
        default=None, description="Null if no mature window has estimates."
    )
    window_end: Moment | None = None
    state: State | None = None
    revision: int | None = None
    passed: list[Moment] = Field(description="Newer mature windows, which have no estimates.")
    audit: str = Field(
        default="", description="Name of the audit that all numbers are by; empty without one."
    )
    audit_method: Method | None = Field(
        default=None,
        description="Whether its verdicts are on the rows of the window alone, or are carried.",
    )
    thresholds: list[Threshold] = Field(default=[])
    criterion: str | None = Field(
        default=None, description="What is highest, at its lower bound, at the best."
    )
    best_said: str = ""
    chosen_said: str = Field(
        default="", description="What was done to the threshold or capacity asked for."
    )
    curves: dict[str, CurveOfThresholds] = Field(default={})
    reviews: Reviews | None = None
    reviews_refused: str = Field(
        default="", description="Why no reviews are compared; may be empty."
    )
