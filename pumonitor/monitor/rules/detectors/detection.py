"""Input and output of a detector, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DetectionKind = Literal["learning", "good", "breach", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The estimate of one window, as input to a detector.

    Attributes
    ----------
    index : int
        Number of the window; differences of it are distances between windows.
    value : float or None
        None or NaN if undefined.
    se : float or None
        Standard error. None or 0 if unknown or if the value is exact, as counts are; the variation
        between windows is then learned from the values alone.
    n_labeled : int or None
        Number of labeled rows behind the estimate.
    bounds : (float, float) or None
        Bounds of a single positive's placement, of which the value is the mean. Only "betting"
        uses them: (0, 1) for AUL and recall, `auc_bounds` for AUC.
    """

    index: int
    value: float | None
    se: float | None = None
    n_labeled: int | None = None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Result of a detector for one window.

    Attributes
    ----------
    index : int
        Number of the window.
    kind : {"learning", "good", "breach", "missing"}
        "learning" within the reference; "missing" for a window without a value, which changes
        nothing.
    statistic : float or None
        Evidence for a change so far. During a breach it falls from the limit; the breach ends at 0.
    limit : float
        A breach begins when the statistic reaches it.
    z : float or None
        Standardised value of this window: N(0, 1) while nothing changes.
    expected : float or None
        Expected value on the metric's own scale; during a breach the level before the change.
    direction : {"down", "up"} or None
        Direction of the change. This field and those below are None outside a breach.
    since : int or None
        Number of the window at which the change is estimated to have begun.
    size, size_low, size_high : float or None
        Size of the change and its 95% interval, on the metric's own scale.
    """

    index: int
    kind: DetectionKind
    limit: float
    statistic: float | None = None
    z: float | None = None
    expected: float | None = None
    direction: Literal["down", "up"] | None = None
    since: int | None = None
    size: float | None = None
    size_low: float | None = None
    size_high: float | None = None
