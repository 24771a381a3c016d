"""How much farther a band reaches that holds a curve at all its points at once, by its redraws."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.stats.quantiles import quantiles


def reaches_alone(
    value: FloatArray, redrawn: FloatArray, *, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """How far the interval at each point alone reaches down and up from the estimate.

    Parameters
    ----------
    value : ndarray of shape (points,)
        The curve as estimated.
    redrawn : ndarray of shape (redraws, points)
    confidence_level : float
    """
    tail = 0.5 * (1 - confidence_level)
    low, high = quantiles(redrawn, [tail, 1 - tail])
    return value - np.minimum(low, value), np.maximum(high, value) - value


def simultaneous_widening(
    beyond: FloatArray, reach: FloatArray, *, confidence_level: float
) -> float:
    """How many times its reach one half of a band needs, to hold all points at once.

    Parameters
    ----------
    beyond : ndarray of shape (redraws, points)
        How far each redraw is beyond the estimate, on the side of this half.
    reach : ndarray of shape (points,)
        Of the interval at each point alone; points without any are left out.
    confidence_level : float
        Each half misses the curve somewhere in half of what may be missed.

    Notes
    -----
    With M(t) the curve, M_b(t) its redraw b (of all points together) and l(t) = M(t) - q(t), q the
    lower quantile of the redraws at t alone, the least k >= 1 such that a share of
    (1 + confidence_level) / 2 of the redraws lies above M(t) - k l(t) at every t is

        k = quantile over b of max over t of (M(t) - M_b(t)) / l(t),

    and likewise upwards.

    References
    ----------
    Romano and Wolf (2005), Stepwise multiple testing as formalized data snooping, section 4;
    Montiel Olea and Plagborg-Moller (2019), Simultaneous confidence bands, section 2 (sup-t band).

    Examples
    --------
    >>> redrawn, level = np.random.default_rng(0).normal(size=(4000, 10)), {"confidence_level": 0.9}
    >>> down, _ = reaches_alone(np.zeros(10), redrawn, **level)
    >>> low = -simultaneous_widening(-redrawn, down, **level) * down
    >>> round(float(np.mean((redrawn >= low).all(axis=1))), 3)
    0.95
    """
    inverse = np.divide(1.0, reach, out=np.zeros_like(reach), where=reach > 0)
    in_reaches = beyond * inverse
    farthest = in_reaches[np.arange(len(beyond)), in_reaches.argmax(axis=1)]  # quicker than max
    return max(1.0, float(quantiles(farthest, [0.5 * (1 + confidence_level)])[0]))
