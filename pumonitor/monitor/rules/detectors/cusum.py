"""CUSUM: cumulative sums of log likelihood ratios, one for each size of a change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import BoolArray, FloatArray
from pumonitor.monitor.rules.detectors.shifts import SIZES

# Rate of alarms of all sums together, as a share of the sum of their single rates. The sums depend
# on the same windows, so it is about .5 for independent N(0, 1). The margin above it covers errors
# that are not exactly normal or independent, as in Shiryaev-Roberts.
_TOGETHER: Final = 0.75
_CELLS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cusum:
    """W_t = max(W_{t-1}, 0) + log likelihood ratio of the window, for each size of a change.

    Each size has its own limit, and the statistic is the largest W_t divided by its limit. The
    limits give each sum the same rate of false alarms, and all together the chosen rate.

    Guarantee: if the z_t are independent N(0, 1), each sum has at most its share of the rate and
    all together at most the chosen rate, in expectation over references and series.

    Attributes
    ----------
    limit : float
        Limit of the statistic: 1.
    limits : ndarray of shape (shifts,)
        Limits of the W_t.
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
        """A CUSUM of likelihood ratios of normal estimates."""
        alone = _TOGETHER * shifts * windows_per_alarm
        # A shift so large that one window shows it would get a limit near 0, which errors that are
        # not exactly normal cross far too often. So no limit is below that of a smaller shift.
        limits = np.maximum.accumulate([_limit_of(size, alone) for size in SIZES])
        return cls(
            limit=1.0,
            limits=np.tile(limits, shifts // len(SIZES)),
            sums=np.zeros((series, shifts)),
        )

    def after(self, log_ratio: FloatArray) -> Cusum:
        """The sums after one more window."""
        return replace(self, sums=np.maximum(self.sums, 0.0) + log_ratio)

    def statistic(self) -> FloatArray:
        """Statistic of each series; an alarm begins when it reaches the limit."""
        return np.asarray(np.maximum(np.max(self.sums / self.limits, axis=1), 0.0))

    def strongest(self) -> NDArray[np.intp]:
        """Index of the shift with the strongest evidence, for each series."""
        return np.asarray(np.argmax(self.sums / self.limits, axis=1))

    def cleared(self, which: BoolArray) -> Cusum:
        """The sums with those of some series reset."""
        return replace(self, sums=np.where(which[:, np.newaxis], 0.0, self.sums))


@lru_cache(maxsize=256)
def _limit_of(size: float, windows_per_alarm: float) -> float:
    """Limit with which one sum has a false alarm every `windows_per_alarm` windows on average."""
    from scipy import optimize

    def surplus(limit: float) -> float:
        return math.log(_windows_until_alarm(size, limit) / windows_per_alarm)

    lowest, highest = 1e-3, 50.0
    if surplus(lowest) >= 0:
        return lowest
    # The mean number of windows is at least exp(limit), which bounds the limit from above.
    highest = min(highest, math.log(windows_per_alarm) + 1e-6)
    return float(optimize.brentq(surplus, lowest, highest, xtol=1e-4))


def _windows_until_alarm(size: float, limit: float) -> float:
    """Mean number of windows until a sum that starts at 0 reaches the limit.

    Brook and Evans: the sum is approximated by a Markov chain on cells of [0, limit).
    """
    width = limit / (_CELLS - 0.5)
    middles = width * np.arange(_CELLS)
    ends = np.append(-np.inf, middles + 0.5 * width)
    below = special.ndtr((ends - middles[:, np.newaxis] + 0.5 * size**2) / size)
    stays = np.diff(below, axis=1)
    return float(np.linalg.solve(np.eye(_CELLS) - stays, np.ones(_CELLS))[0])
