"""The cumulative sum of log likelihood ratios, one for each size of a change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from pumonitor.monitor.rules.detectors.shifts import SIZES

__all__ = ["Cusum"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# The rate of all sums together, as a share of their own rates added up: neighbouring sizes see the
# same windows, which makes it about .5 for independent N(0, 1). The rest is for errors that are
# neither quite normal nor independent, as in Shiryaev-Roberts.
_TOGETHER: Final = 0.75
_CELLS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cusum:
    """W_t = max(W_{t-1}, 0) + the window's log ratio, for each size; each has its own limit.

    The statistic is the largest W_t as a share of its limit. Limits are set so that each sum alarms
    equally often by itself, and all together at the rate asked for.

    Guarantee: for independent N(0, 1) each sum by itself has its share of the rate or less, and all
    together at most the rate asked for; in expectation over references and series, as far as the
    z_t are such.

    Attributes
    ----------
    limit : float
    limits : ndarray of shape (shifts,)
    sums : ndarray of shape (series, shifts)
        The W_t.

    References
    ----------
    Page (1954), Continuous inspection schemes; Brook, Evans (1972), An approach to the probability
    distribution of cusum run length.
    """

    limit: float
    limits: FloatArray
    sums: FloatArray

    @classmethod
    def of_shifts(cls, series: int, shifts: int, windows_per_alarm: float) -> Cusum:
        """Of ratios of normal estimates."""
        alone = _TOGETHER * shifts * windows_per_alarm
        # A shift so large that one window shows it would have a limit near 0, where errors that are
        # not quite normal cross far too often: no limit is below one of a smaller shift.
        limits = np.maximum.accumulate([_limit_of(size, alone) for size in SIZES])
        return cls(
            limit=1.0,
            limits=np.tile(limits, shifts // len(SIZES)),
            sums=np.zeros((series, shifts)),
        )

    def after(self, log_ratio: FloatArray) -> Cusum:
        """With another window."""
        return replace(self, sums=np.maximum(self.sums, 0.0) + log_ratio)

    def statistic(self) -> FloatArray:
        """Of each series; an alarm is due when it reaches the limit."""
        return np.asarray(np.maximum(np.max(self.sums / self.limits, axis=1), 0.0))

    def strongest(self) -> NDArray[np.intp]:
        """The shift of each series that has most evidence."""
        return np.asarray(np.argmax(self.sums / self.limits, axis=1))

    def cleared(self, which: BoolArray) -> Cusum:
        """Begun anew for some series."""
        return replace(self, sums=np.where(which[:, np.newaxis], 0.0, self.sums))


@lru_cache(maxsize=256)
def _limit_of(size: float, windows_per_alarm: float) -> float:
    """The limit of one sum with which windows between alarms are so many."""

    def surplus(limit: float) -> float:
        return math.log(_windows_until_alarm(size, limit) / windows_per_alarm)

    lowest, highest = 1e-3, 50.0
    if surplus(lowest) >= 0:
        return lowest
    # Never more than the sum of windows until exp(W) crosses, whose mean is at least exp(limit).
    highest = min(highest, math.log(windows_per_alarm) + 1e-6)
    return float(optimize.brentq(surplus, lowest, highest, xtol=1e-4))


def _windows_until_alarm(size: float, limit: float) -> float:
    """Mean number of windows until a sum that begins at 0 reaches the limit.

    The sum as a Markov chain on cells of [0, limit), the first of which is at 0.
    """
    width = limit / (_CELLS - 0.5)
    middles = width * np.arange(_CELLS)
    ends = np.append(-np.inf, middles + 0.5 * width)
    below = special.ndtr((ends - middles[:, np.newaxis] + 0.5 * size**2) / size)
    stays = np.diff(below, axis=1)
    return float(np.linalg.solve(np.eye(_CELLS) - stays, np.ones(_CELLS))[0])
