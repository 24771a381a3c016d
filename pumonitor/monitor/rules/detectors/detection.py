"""What goes into a detector and what comes out, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Detection", "DetectionKind", "Observation"]

DetectionKind = Literal["learning", "good", "breach", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """An estimate of one window.

    Attributes
    ----------
    index : int
        Of the window; distances between windows are differences of it.
    value : float or None
        None or NaN where there is none.
    se : float or None
        Standard error. None or 0 where it is not known or the number is exact, as counts are: how
        much windows vary is then learned from them alone.
    n_labeled : int or None
        Labeled rows it comes from.
    bounds : (float, float) or None
        What the placement of a single positive can be, whose mean the value is; `betting` alone
        reads it. (0, 1) for AUL and recall, `auc_bounds` for AUC.
    """

    index: int
    value: float | None
    se: float | None = None
    n_labeled: int | None = None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What a detector says of a window.

    Attributes
    ----------
    index : int
        Of the window.
    kind : {"learning", "good", "breach", "missing"}
        "learning" in the reference; "missing" without a value, which changes nothing.
    statistic : float or None
        Evidence so far. In a breach, what is left of the limit: at 0 the breach is over.
    limit : float
        A breach begins when the statistic reaches it.
    z : float or None
        How unusual the window is by itself: N(0, 1) while nothing changes.
    expected : float or None
        What the window was expected to be, on the metric's own scale; in a breach, the level before
        the change.
    direction : {"down", "up"} or None
        Of the change; this and what follows are there in a breach alone.
    since : int or None
        Index of the window at which the change is estimated to have begun.
    size, size_low, size_high : float or None
        The change and its 95% interval, on the metric's own scale.
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
