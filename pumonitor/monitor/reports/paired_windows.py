"""Two series of windows side by side: the mean difference in the windows that both have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

FEWEST: Final = 3
"""Windows from whose differences an interval is made."""


class WindowValue(NamedTuple):
    """A metric of one window with its own interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


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
    one: Mapping[datetime, WindowValue],
    other: Mapping[datetime, WindowValue],
    *,
    uses_prior: bool,
    confidence_level: float = 0.95,
) -> PairedWindows:
    """Compare two series window by window.

    Parameters
    ----------
    one, other : mapping of datetime to WindowValue
        By the start of the window; what is not finite is left out.
    uses_prior : bool
        Whether the values were computed with class priors.
    confidence_level : float
        That of the windows' own intervals too.

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

        mean(d) +- r,  r = t(K - 1) * s(d) / sqrt(K)

    with Student's quantile. s(d) is what the differences vary by, whatever the reason, so nothing
    need be known about which rows both have, and neither series need be independent of the other.
    It holds if the differences of different windows are independent and vary about one mean, and
    it is too narrow where the difference drifts over the windows.

    An error that all windows of a series share does not show in s(d), and no number of windows
    makes it smaller. That of a class prior is of this kind: the windows are founded on one estimate
    and go on from it. Each window's own interval has it, so with `uses_prior` the mean reach of
    these intervals, l below and u above, is added for either series as independent of the rest:

        mean(d) - sqrt(r**2 + l_one**2 + u_other**2) to mean(d) + sqrt(r**2 + u_one**2 + l_other**2)

    This is not divided by K. It is wider than need be: the windows' intervals also have what r has
    already, and an error common to both series cancels in part.

    From fewer than 3 windows s(d) says too little, so no interval is made.

    References
    ----------
    Student (1908), The probable error of a mean.
    Zou and Donner (2008), Construction of confidence limits about effect measures: intervals of a
    difference from those of its parts.

    Examples
    --------
    >>> from datetime import UTC
    >>> days = [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 6)]
    >>> before = [0.60, 0.55, 0.70, 0.64, 0.52]
    >>> gains = [0.05, 0.03, 0.06, 0.04, 0.05]
    >>> one = {day: WindowValue(a + b) for day, a, b in zip(days, before, gains)}
    >>> other = {day: WindowValue(a) for day, a in zip(days, before)}
    >>> found = paired_windows(one, other, uses_prior=False)
    >>> found.windows, round(found.difference, 3), round(found.low, 3), round(found.high, 3)
    (5, 0.046, 0.032, 0.06)
    """
    common = sorted(set(one) & set(other))
    pairs = [
        (one[at], other[at])
        for at in common
        if math.isfinite(one[at].value) and math.isfinite(other[at].value)
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
    values = np.array(pairs)  # (window, series, value and interval)
    first, second = values[:, :, 0].T
    differences = first - second
    mean = float(differences.mean())
    below = above = math.nan
    why = ""
    if number < FEWEST:
        why = f"fewer than {FEWEST} mature windows have both"
    elif uses_prior and not np.isfinite(values).all():
        why = "a window has no interval, so the class prior's error is not known"
    else:
        quantile = float(special.stdtrit(number - 1, 0.5 + 0.5 * confidence_level))
        below = above = quantile * float(differences.std(ddof=1)) / math.sqrt(number)
        if uses_prior:
            (low_one, low_other), (high_one, high_other) = _mean_reaches(values)
            below = math.hypot(below, low_one, high_other)
            above = math.hypot(above, high_one, low_other)
    return PairedWindows(
        windows=number,
        one=float(first.mean()),
        other=float(second.mean()),
        difference=mean,
        low=mean - below,
        high=mean + above,
        why_no_interval=why,
    )


def _mean_reaches(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the windows' intervals reach below and above their values, of either series."""
    value, low, high = (values[:, :, place].mean(axis=0) for place in range(3))
    return np.array([value - low, high - value])
