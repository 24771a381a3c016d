"""The four numbers that the filter reads of a window."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["WindowSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSummary:
    """How many rows a window has, how many are confirmed, and where both score on the index.

    Attributes
    ----------
    rows : float
        All rows, the confirmed ones among them.
    confirmed : float
    all_mean, all_variance : float
        Mean index over all rows, and the variance of this mean.
    confirmed_mean, confirmed_variance : float
        The same over confirmed rows; NaN without any.
    arrived : float
        Share of the labels to come that has arrived, in (0, 1].
    arrived_variance : float
        Variance of its logarithm.

    Raises
    ------
    ValueError
        If counts or variances are impossible.
    """

    rows: float
    confirmed: float
    all_mean: float
    all_variance: float
    confirmed_mean: float = math.nan
    confirmed_variance: float = math.nan
    arrived: float = 1.0
    arrived_variance: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.confirmed <= self.rows or self.rows <= 0:
            msg = (
                "a window must satisfy 0 <= confirmed <= rows and rows > 0, got "
                f"{self.confirmed:g} of {self.rows:g}"
            )
            raise ValueError(msg)
        if not 0 < self.arrived <= 1 or not self.arrived_variance >= 0:
            msg = (
                "the share of labels that have arrived must satisfy 0 < arrived <= 1 and its "
                f"variance >= 0, got {self.arrived:g} and {self.arrived_variance:g}"
            )
            raise ValueError(msg)
        variances = [self.all_variance, *([self.confirmed_variance] if self.confirmed > 0 else [])]
        if not all(math.isfinite(one) and one > 0 for one in variances):
            msg = f"variances of mean indices must be above 0 and finite, got {variances}"
            raise ValueError(msg)
