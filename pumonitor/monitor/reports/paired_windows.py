"""Two series of windows side by side: the mean difference in the windows that both have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from scipy import special

__all__ = ["FEWEST", "PairedWindows", "paired_windows"]

FEWEST: Final = 3
"""Windows from whose differences an interval is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedWindows:
    """The mean difference of a metric between two series, over the windows that both have.

    Attributes
    ----------
    windows : int
        Windows in which both have a value.
    one, other : float
        Their means over these windows; NaN without any.
    difference : float
        ``one - other``.
    low, high : float
        Its interval; NaN where none can be made.
    why_no_interval : str
        "" with one.
    """

    windows: int
    one: float
    other: float
    difference: float
    low: float
    high: float
    why_no_interval: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the interval tells which of the two is higher."""
        return self.low > 0 or self.high < 0


def paired_windows(
    one: Mapping[datetime, float],
    other: Mapping[datetime, float],
    *,
    confidence_level: float = 0.95,
) -> PairedWindows:
    """Compare two series window by window.

    Parameters
    ----------
    one, other : mapping of datetime to float
        Values by the start of the window; what is not finite is left out.
    confidence_level : float

    Returns
    -------
    PairedWindows

    Notes
    -----
    The ledger keeps counts per score cell of each series and no rows, so which rows two series have
    in common is not known, and the errors of one window cannot be paired as
    `pumonitor.compare` does. Windows can: what moves both series in a window (its cases, the
    season, the labels that they share) leaves their difference d. Over K windows the mean
    difference has the interval

        mean(d) +- t(K - 1) * s(d) / sqrt(K)

    with Student's quantile. s(d) is what the differences vary by, whatever the reason, so nothing
    need be known about which rows both have, and neither series need be independent of the other.
    It holds if the differences of different windows are independent and vary about one mean, and
    it is too narrow where the difference drifts over the windows. It leaves out an error that all
    windows share: an assumed class prior that is wrong moves all differences alike.

    From fewer than 3 windows s(d) says too little. Each window's own intervals would have to be
    combined as if the two were independent: this is too wide where they share rows, and they may
    share any number, so none is made.

    References
    ----------
    Student (1908), The probable error of a mean.

    Examples
    --------
    >>> from datetime import UTC
    >>> days = [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 6)]
    >>> before = [0.60, 0.55, 0.70, 0.64, 0.52]
    >>> gains = [0.05, 0.03, 0.06, 0.04, 0.05]
    >>> after = [value + gain for value, gain in zip(before, gains)]
    >>> found = paired_windows(dict(zip(days, after)), dict(zip(days, before)))
    >>> found.windows, round(found.difference, 3), round(found.low, 3), round(found.high, 3)
    (5, 0.046, 0.032, 0.06)
    """
    common = sorted(set(one) & set(other))
    pairs = [
        (one[at], other[at]) for at in common if math.isfinite(one[at]) and math.isfinite(other[at])
    ]
    number = len(pairs)
    if not pairs:
        return PairedWindows(
            windows=0,
            one=math.nan,
            other=math.nan,
            difference=math.nan,
            low=math.nan,
            high=math.nan,
            why_no_interval="no mature window has both",
        )
    first, second = np.array(pairs).T
    differences = first - second
    mean = float(differences.mean())
    reach, why = math.nan, ""
    if number < FEWEST:
        why = f"fewer than {FEWEST} mature windows have both"
    else:
        quantile = float(special.stdtrit(number - 1, 0.5 + 0.5 * confidence_level))
        reach = quantile * float(differences.std(ddof=1)) / math.sqrt(number)
    return PairedWindows(
        windows=number,
        one=float(first.mean()),
        other=float(second.mean()),
        difference=mean,
        low=mean - reach,
        high=mean + reach,
        why_no_interval=why,
    )
