"""The Shiryaev-Roberts statistic, averaged over the sizes of a change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import BoolArray, FloatArray
from pumonitor.monitor.rules.detectors.shifts import SIZES

# Mean overshoot of a random walk with normal steps over a limit, in standard deviations of a step
# (Siegmund 1985, Sequential analysis, chapter 10). exp(-overshoot) is within .02 of the exact
# factor up to 3 deviations. For larger changes the value at 3 is used: .17 instead of .06 at 5.6,
# which makes the limit higher than needed.
_OVERSHOOT: Final = 0.583
_LARGEST: Final = 3.0
# Factor on the limit, because errors of estimates are not exactly normal or independent; measured
# by `python -m benchmarks.detection`. Without it AUC has 1.3 false alarms at a chosen rate of 1.
_CAUTION: Final = 1.25


def overshoot(size: FloatArray) -> FloatArray:
    """Excess of the log statistic of a shift of this size over the limit when it crosses it.

    Defined as -log(mean(exp(-excess))), which is what the run length depends on.
    """
    return _OVERSHOOT * np.minimum(size, _LARGEST)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiryaevRoberts:
    """R_t = (1 + R_{t-1}) times the window's ratio, for each size; the statistic is their mean.

    Guarantee: while nothing changes each ratio has mean 1 given the past. The statistic less t is
    then a martingale, and the mean number of windows until it reaches a limit A is at least A,
    however the sizes depend on each other. For bets, whose ratios have mean 1 or less under every
    distribution, A is the chosen number of windows per alarm. Normal ratios overshoot the limit
    when they cross it, so A is lower by the factor mean(exp(-overshoot)) times a margin
    (`_CAUTION`); independent N(0, 1) then have .74 of the chosen alarms. All this is in expectation
    over references and series, as far as the ratios have mean 1.

    Attributes
    ----------
    limit : float
        Limit of the statistic.
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
        """A statistic of likelihood ratios of normal estimates."""
        less = _CAUTION * float(np.mean(np.exp(-overshoot(np.array(SIZES)))))
        return cls(
            limit=max(less * windows_per_alarm, 1.0), log_sums=np.full((series, shifts), -np.inf)
        )

    @classmethod
    def of_bets(cls, series: int, bets: int, windows_per_alarm: float) -> ShiryaevRoberts:
        """A statistic of bets, valid for every distribution."""
        return cls(limit=max(windows_per_alarm, 1.0), log_sums=np.full((series, bets), -np.inf))

    def after(self, log_ratio: FloatArray) -> ShiryaevRoberts:
        """The statistic after one more window."""
        return replace(self, log_sums=np.logaddexp(0.0, self.log_sums) + log_ratio)

    def statistic(self) -> FloatArray:
        """Statistic of each series; an alarm begins when it reaches the limit."""
        log_mean = np.logaddexp.reduce(self.log_sums, axis=1) - np.log(self.log_sums.shape[1])
        return np.asarray(np.exp(np.minimum(log_mean, 700.0)))

    def strongest(self) -> NDArray[np.intp]:
        """Index of the shift with the strongest evidence, for each series."""
        return np.asarray(np.argmax(self.log_sums, axis=1))

    def cleared(self, which: BoolArray) -> ShiryaevRoberts:
        """The statistic with some series reset."""
        return replace(self, log_sums=np.where(which[:, np.newaxis], -np.inf, self.log_sums))
