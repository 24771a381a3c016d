"""Quantiles of draws: those of NumPy to the last digit, in a fifth of the time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray

_MANY: Final = 1000
_TAIL: Final = (0.001, 0.25)
"""Shares whose two quantiles have values between them and beyond them, where there are as many."""


def quantiles(values: FloatArray, shares: Sequence[float] | FloatArray) -> FloatArray:
    """Quantiles along the first axis, interpolated linearly; NaN where a value is NaN.

    What ``np.quantile(values, shares, axis=0)`` returns. That one selects the few values which it
    needs; to sort all of them is quicker, by far on processors with wide registers.

    Parameters
    ----------
    values : ndarray of shape (draws, ...)
        At least one draw.
    shares : sequence of float
        From 0 to 1.

    Examples
    --------
    >>> quantiles(np.array([4.0, 1.0, 2.0]), [0.0, 0.5, 0.75])
    array([1., 2., 3.])
    """
    ordered = np.array(values.T, order="C")  # draws of one quantity side by side: quicker to sort
    ordered.sort()
    ordered = ordered.T
    position = (len(ordered) - 1) * np.asarray(shares, dtype=float)
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, len(ordered) - 1)
    along = (position - below).reshape(-1, *(1,) * (ordered.ndim - 1))
    low, high = ordered[below], ordered[above]
    step = high - low
    # From the nearer end, as NumPy does, so that rounding is the same.
    found = np.where(along < 0.5, low + step * along, high - step * (1 - along))
    found[:, np.isnan(ordered[-1])] = np.nan
    return np.asarray(found)


def both_tails(values: FloatArray, share: float) -> tuple[float, float]:
    """The quantiles at a share and at one minus it, of values none of which is NaN.

    Of many values only those around the two quantiles are put in their places: that takes two
    thirds of the time of sorting them, and less where registers are narrow.

    Parameters
    ----------
    values : ndarray of shape (draws,)
        At least one.
    share : float
        From 0 to 0.5.

    Examples
    --------
    >>> both_tails(np.array([4.0, 1.0, 2.0]), 0.25)
    (1.5, 3.0)
    """
    low, high = (len(values) - 1) * share, (len(values) - 1) * (1 - share)
    if len(values) < _MANY or not _TAIL[0] < share < _TAIL[1]:
        ordered = np.sort(values)
        return _at(ordered, low), _at(ordered, high)
    below, above = math.floor(low), math.floor(high)
    parted = np.partition(values, below + 1)
    rest = parted[below + 1 :]
    at_low = _between(float(parted[: below + 1].max()), float(rest[0]), low - below)
    place = above - below - 1
    rest.partition(place)
    at_high = _between(float(rest[place]), float(rest[place + 1 :].min()), high - above)
    return at_low, at_high


def _at(ordered: FloatArray, position: float) -> float:
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return _between(float(ordered[below]), float(ordered[above]), position - below)


def _between(low: float, high: float, along: float) -> float:
    step = high - low
    # From the nearer end, as NumPy does, so that rounding is the same.
    return low + step * along if along < 0.5 else high - step * (1 - along)
