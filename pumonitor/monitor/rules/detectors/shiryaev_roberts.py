"""The Shiryaev-Roberts statistic, averaged over sizes of a change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.rules.detectors.shifts import SIZES

__all__ = ["ShiryaevRoberts", "overshoot"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# What a random walk of normal steps exceeds a limit by, in standard deviations of a step
# (Siegmund 1985, Sequential analysis, chapter 10). exp(-overshoot) is within .02 of the exact
# factor up to 3 deviations. Larger changes are held there: at 5.6 it has .17 in place of .06, and
# the limit is the higher for it.
_OVERSHOOT: Final = 0.583
_LARGEST: Final = 3.0
# Errors of estimates are neither quite normal nor independent: so much for that, measured by
# `python -m benchmarks.detection`. Without it AUC has 1.3 false alarms where one is asked for.
_CAUTION: Final = 1.25


def overshoot(size: FloatArray) -> FloatArray:
    """By how much the log statistic of a shift of this size exceeds a limit when it crosses it.

    Minus the logarithm of the mean of exp(-excess), which is what a run length asks for.
    """
    return _OVERSHOOT * np.minimum(size, _LARGEST)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiryaevRoberts:
    """R_t = (1 + R_{t-1}) times the window's ratio, for each size; their mean is the statistic.

    Guarantee: while nothing changes each ratio has mean 1 given the past, so the mean of the R_t
    less t is a martingale, and the mean number of windows until it reaches a limit A is at least A,
    however the sizes depend on each other. For bets, whose ratios have mean 1 or less whatever the
    distribution, A is the number of windows asked for. For normal ratios a limit is exceeded by
    some when it is crossed, and A is lower by the mean of exp(-overshoot), but for some caution:
    independent N(0, 1) then have .74 of the alarms asked for. This is in expectation over
    references and series, as far as the ratios have mean 1.

    Attributes
    ----------
    limit : float
    log_sums : ndarray of shape (series, shifts)
        Logarithms of the R_t.

    References
    ----------
    Pollak (1987), Average run lengths of an optimal method of detecting a change in distribution.
    """

    limit: float
    log_sums: FloatArray

    @classmethod
    def of_shifts(cls, series: int, shifts: int, windows_per_alarm: float) -> ShiryaevRoberts:
        """Of ratios of normal estimates."""
        less = _CAUTION * float(np.mean(np.exp(-overshoot(np.array(SIZES)))))
        return cls(
            limit=max(less * windows_per_alarm, 1.0), log_sums=np.full((series, shifts), -np.inf)
        )

    @classmethod
    def of_bets(cls, series: int, bets: int, windows_per_alarm: float) -> ShiryaevRoberts:
        """Of bets, which may have any distribution."""
        return cls(limit=max(windows_per_alarm, 1.0), log_sums=np.full((series, bets), -np.inf))

    def after(self, log_ratio: FloatArray) -> ShiryaevRoberts:
        """With another window."""
        return replace(self, log_sums=np.logaddexp(0.0, self.log_sums) + log_ratio)

    def statistic(self) -> FloatArray:
        """Of each series; an alarm is due when it reaches the limit."""
        log_mean = np.logaddexp.reduce(self.log_sums, axis=1) - np.log(self.log_sums.shape[1])
        return np.asarray(np.exp(np.minimum(log_mean, 700.0)))

    def strongest(self) -> NDArray[np.intp]:
        """The shift of each series that has most evidence."""
        return np.asarray(np.argmax(self.log_sums, axis=1))

    def cleared(self, which: BoolArray) -> ShiryaevRoberts:
        """Begun anew for some series."""
        return replace(self, log_sums=np.where(which[:, np.newaxis], -np.inf, self.log_sums))
