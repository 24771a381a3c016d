"""Upper bound on how much earlier confirmations can raise the number known at the maturity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_REACH = 2.0


def log_most_by_earlier(arrivals: NDArray[np.float64]) -> float:
    """Log of the largest factor by which shorter delays can raise the number of confirmations.

    Infinite when the delays do not bound it.

    Parameters
    ----------
    arrivals : ndarray of shape (steps + 1,)
        Confirmed positives by delay, in equal steps of the maturity; the last entry counts those
        that came later.

    Notes
    -----
    Shorter delays can only bring in confirmations that used to come after the maturity. If a share
    F came within it, the factor is at most 1 / F. Confirmations after the maturity are seldom in
    the counts, so F is extrapolated: numbers fall by a factor r from the first half of the maturity
    to the second, and go on falling so, which gives F = 1 - r^2 (exact for exponential delays). The
    upper end of r (two standard errors) is used. If the counts show more late confirmations than
    that, those are used.

    Examples
    --------
    >>> round(log_most_by_earlier(np.array([6000.0, 3000.0, 1500.0, 750.0, 0.0])), 2)
    0.07
    """
    inside, later = np.asarray(arrivals[:-1], dtype=np.float64), float(arrivals[-1])
    half = len(inside) // 2
    early, late = float(inside[:half].sum()), float(inside[half:].sum())
    if early == 0:
        return math.inf
    # The standard error of the log of a ratio of two counts.
    kept = (late + 1) / early * math.exp(_REACH * math.sqrt(1 / (late + 1) + 1 / early))
    if kept >= 1:
        return math.inf
    return max(-math.log1p(-(kept**2)), math.log1p(later / (early + late)))
