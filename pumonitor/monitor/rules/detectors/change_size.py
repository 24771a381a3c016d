"""Estimate the size of a lasting change, given the window at which it began."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.standardise import Standardiser

_TAIL: Final = 0.025
_NOTHING: Final = 1e-9
# Points at which the distribution function is computed, in standard deviations.
_AROUND: Final = np.linspace(-6.0, 6.0, 241)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangeSize:
    """Estimator of a lasting shift of one series, with the standardiser's model.

    At each point of the grid the shift is estimated by generalised least squares. One filter runs
    on the series as if nothing had changed, a second one on the constant 1 (a unit shift). The
    prediction errors of the first are regressed on those of the second. Grid points are weighted by
    the likelihood of the windows with a flat prior on the shift. The interval includes the
    uncertainty of the level before the change.

    Attributes
    ----------
    series : Standardiser
        The filter on the series.
    response : ndarray of shape (2, points)
        Level and deviation of the filter on the unit shift.
    shift, information : ndarray of shape (points,)
        Estimated shift, and 1 over its variance.
    log_weight : ndarray of shape (points,)
        Log weights of the grid points, up to a constant.
    before : float
        Level before the change.
    """

    series: Standardiser
    response: FloatArray
    shift: FloatArray
    information: FloatArray
    log_weight: FloatArray
    before: float

    @classmethod
    def from_window(cls, series: Standardiser) -> ChangeSize:
        """Start an estimate of a shift that begins with the next window."""
        points = series.level.shape[1]
        return cls(
            series=series,
            response=np.zeros((2, points)),
            shift=np.zeros(points),
            information=np.zeros(points),
            log_weight=series.log_weight[0],
            before=float(series.known_level()[0][0]),
        )

    def after(self, value: float, error: float, *, gap: int) -> ChangeSize:
        """The estimator after one more window, `gap` windows after the last."""
        values, errors = np.array([value]), np.array([error])
        ahead = self.series.ahead(gap)
        level, deviation = self.response[0], ahead.kept(gap) * self.response[1]
        variances = ahead.variance(errors)
        variance = variances[0]
        to_level, to_deviation = (gain[0] for gain in ahead.gains(variances))
        response = 1.0 - level - deviation
        off = value - ahead.level[0] - ahead.deviation[0] - response * self.shift
        first = not self.information.any()
        information = self.information + response**2 / variance
        # The prior on the shift is flat, so the first window has no likelihood of its own.
        spread = variance if first else variance + response**2 / self.information
        likelihood = 0.0 if first else -0.5 * (off**2 / spread + np.log(spread))
        log_weight = self.log_weight + likelihood
        return replace(
            self,
            series=ahead.taught(values, errors),
            response=np.array([level + to_level * response, deviation + to_deviation * response]),
            shift=self.shift + response / variance / information * off,
            information=information,
            log_weight=log_weight - log_weight.max(),
        )

    def estimate(self) -> tuple[float, float, float]:
        """The estimated shift and the lower and upper end of its 95% interval."""
        weight = special.softmax(self.log_weight)
        # Leave out grid points with negligible weight.
        some = weight > _NOTHING
        weight, shift = weight[some] / weight[some].sum(), self.shift[some]
        spreads = 1 / np.sqrt(self.information[some])
        mean = float(weight @ shift)
        spread = float(np.sqrt(weight @ (spreads**2 + (shift - mean) ** 2)))
        at = mean + spread * _AROUND
        below = special.ndtr((at[:, np.newaxis] - shift) / spreads) @ weight
        low, high = np.interp([_TAIL, 1 - _TAIL], below, at).tolist()
        return min(max(mean, low), high), low, high
