"""The four numbers that the filter reads of a window."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSummary:
    """How many rows a window has, how many are confirmed, and where both score on the index.

    Attributes
    ----------
    rows : float
        All rows, the confirmed ones among them.
    confirmed : float
    all_mean, all_variance : float
        Mean index over all rows, and the variance of this mean; NaN where there is no index, and
        the window then tells of its counts alone.
    confirmed_mean, confirmed_variance : float
        The same over confirmed rows; NaN without any, or without an index.
    arrived : float
        Share of the labels to come that has arrived, in (0, 1].
    arrived_variance : float
        Variance of its logarithm.

    Raises
    ------
    ValueError
        If counts or variances are impossible.

    Examples
    --------
    >>> counts_alone = WindowSummary(rows=2000, confirmed=31)
    >>> counts_alone.has_index
    False
    """

    rows: float
    confirmed: float
    all_mean: float = math.nan
    all_variance: float = math.nan
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
        means = {
            "all rows": (self.all_mean, self.all_variance),
            "confirmed rows": (self.confirmed_mean, self.confirmed_variance),
        }
        for of, (mean, variance) in means.items():
            if not math.isnan(mean) and not (math.isfinite(variance) and variance > 0):
                msg = (
                    f"the mean index of {of} needs a variance that is above 0 and finite, "
                    f"got {variance}"
                )
                raise ValueError(msg)

    @property
    def has_index(self) -> bool:
        """Whether it says where rows score, not their numbers alone."""
        return not math.isnan(self.all_mean)
