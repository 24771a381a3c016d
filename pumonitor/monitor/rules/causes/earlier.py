"""How many more confirmations can be in by the maturity because they come earlier."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_most_by_earlier"]

_REACH = 2.0


def log_most_by_earlier(arrivals: NDArray[np.float64]) -> float:
    """Log of the largest ratio that earlier confirmations can bring; infinite where it is open.

    Parameters
    ----------
    arrivals : ndarray of shape (steps + 1,)
        Confirmed positives by their delay in equal steps of the maturity, and later ones last.

    Notes
    -----
    Earlier confirmations bring those in that came after the maturity, and no others. So the share
    that was in, F, bounds the ratio by 1 / F. What comes later is seldom in the counts. It is taken
    to fall off as it does within the maturity, by a factor r from one half to the next:
    F = 1 - r^2, exact for exponential delays. Of r the upper end counts (two standard errors), and
    of what comes later the larger of this and of what was seen.

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
