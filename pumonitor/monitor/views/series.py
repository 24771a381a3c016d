"""One metric over windows."""

from __future__ import annotations

from pydantic import Field

from pumonitor.ports import State
from pumonitor.views.model import Moment, Number, View


class ExpectedView(View):
    """What a provisional value is expected to become."""

    value: Number
    low: Number
    high: Number


class PointView(View):
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
    expected: ExpectedView | None
    predictions: Number
    labeled_positives: Number
    label_maturity: Number


class SeriesView(View):
    """One metric over windows, in order of time."""

    monitor: str
    metric: str
    title: str
    segment: str
    as_of: Moment | None
    is_cut: bool = Field(description="Older windows were left out, because there are too many.")
    items: list[PointView]
