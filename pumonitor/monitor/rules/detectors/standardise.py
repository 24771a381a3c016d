"""Self-starting standardisation: the z-value of a window given the windows before it.

The model of an estimate x_t with standard error s_t is x_t = level + a_t + sqrt(phi) s_t e_t. Here
a_t is an AR(1) process with standard deviation tau and autocorrelation rho: the variation between
windows beyond sampling error. All parameters are unknown. The level has a flat prior; tau, phi and
rho are averaged over a grid, weighted by the likelihood of the series. At each grid point a Kalman
filter predicts mean and standard deviation of the next estimate. The predictive distribution is
Student's t with 10 degrees of freedom, as days vary by more than a normal and means of placements
are skewed. z_t is the normal quantile of the mixture's distribution function at x_t. While nothing
changes the z_t are independent and nearly N(0, 1) even after a short reference, because uncertain
parameters widen the prediction.

The first axis of all arrays is the series, so that many are stepped at once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import BoolArray, FloatArray

_TAUS: Final = (0.0, 0.25, 0.5, 1.0, 2.0)
_PHIS: Final = (0.06, 0.2, 0.5, 1.0, 1.7)
_RHOS: Final = (0.0, 0.3, 0.7, 0.95)
_POINTS: Final = np.array(
    [
        (tau, phi, rho)
        for tau, phi, rho in itertools.product(_TAUS, _PHIS, _RHOS)
        if tau > 0 or rho == 0  # without deviations there is nothing to be correlated
    ]
)
_TAU, _PHI, _RHO = _POINTS.T
# A weak prior: standard errors are about right, and deviations at most about as large. Strongly
# autocorrelated deviations look like a change, so they need evidence from the series.
_LOG_PRIOR: Final = (
    -0.5 * (np.log2(_PHI) / 1.5) ** 2
    - 0.5 * (_TAU / 0.8) ** 2
    - np.interp(_RHO, _RHOS, (0.0, 0.7, 2.0, 5.0))
)
# A window with a larger |z| is not learned from: one gross error must not widen the prediction.
_FURTHEST: Final = 4.0
_LEAST_ERROR: Final = 0.01
# With a normal distribution, rules on a fall of AUL had up to 1.5 false alarms at a chosen rate of
# 1, with this 1.2. Delays are the same: false alarms come from a few far windows, a change from
# many that are slightly off.
_DEGREES: Final = 10
_COSINES: Final = (35 / 128, 5 / 16, 3 / 8, 1 / 2, 1.0)
_NEAR_TAIL, _LEAST_TAIL, _FARTHEST = 1e-6, 1e-300, 1e30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expected:
    """Prediction of the next estimate, and the standardised value of the estimate itself.

    Attributes
    ----------
    mean, spread : ndarray of shape (series,)
        Mean and standard deviation of the prediction.
    z : ndarray of shape (series,)
        Normal quantile of the predictive distribution function at the estimate.
    """

    mean: FloatArray
    spread: FloatArray
    z: FloatArray

    def near(self) -> BoolArray:
        """Whether the estimate is close enough to the prediction to be learned from."""
        return np.asarray(np.abs(self.z) <= _FURTHEST)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standardiser:
    """State of the Kalman filters of each series and grid point. Immutable.

    Attributes
    ----------
    unit : ndarray of shape (series, 1)
        Unit of tau.
    level, deviation : ndarray of shape (series, points)
        Posterior means of the level and of a_t.
    level_variance, deviation_variance, covariance : ndarray of shape (series, points)
        Their posterior variances and covariance.
    log_weight : ndarray of shape (series, points)
        Log weights of the grid points, up to a constant.
    """

    unit: FloatArray
    level: FloatArray
    deviation: FloatArray
    level_variance: FloatArray
    deviation_variance: FloatArray
    covariance: FloatArray
    log_weight: FloatArray

    @classmethod
    def started(cls, value: FloatArray, error: FloatArray, *, unit: FloatArray) -> Standardiser:
        """State after the first estimate; with the flat prior it is the mean of the level."""
        shape = (len(value), len(_POINTS))
        own = np.broadcast_to((_TAU * unit[:, np.newaxis]) ** 2, shape)
        return cls(
            unit=unit[:, np.newaxis],
            level=np.broadcast_to(value[:, np.newaxis], shape),
            deviation=np.zeros(shape),
            level_variance=own + _sampling(error, unit[:, np.newaxis]),
            deviation_variance=own,
            covariance=-own,
            log_weight=np.broadcast_to(_LOG_PRIOR - _LOG_PRIOR.max(), shape),
        )

    def ahead(self, gap: int) -> Standardiser:
        """State predicted `gap` windows ahead: deviations decay."""
        kept = self.kept(gap)
        return replace(
            self,
            deviation=kept * self.deviation,
            deviation_variance=kept**2 * self.deviation_variance
            + (1 - kept**2) * (_TAU * self.unit) ** 2,
            covariance=kept * self.covariance,
        )

    @staticmethod
    def kept(gap: int) -> FloatArray:
        """Share of a deviation left after `gap` windows, for each grid point."""
        return np.asarray(_RHO**gap)

    def expected(self, value: FloatArray, error: FloatArray) -> Expected:
        """Prediction of an estimate with this standard error, and the estimate's z."""
        weight = self.weight()
        center = self.level + self.deviation
        variance = self.variance(error)
        mean = np.sum(weight * center, axis=1)
        spread = np.sqrt(np.sum(weight * (variance + (center - mean[:, np.newaxis]) ** 2), axis=1))
        side = np.where(value > mean, -1.0, 1.0)  # computed in the nearer tail, for precision
        distance = side[:, np.newaxis] * (value[:, np.newaxis] - center) / np.sqrt(variance)
        tail = np.sum(weight * _below(distance), axis=1)
        z = special.ndtri(np.maximum(tail, _LEAST_TAIL))
        return Expected(mean=mean, spread=spread, z=side * z)

    def weight(self) -> FloatArray:
        """Posterior weight of each grid point."""
        weight = np.exp(self.log_weight)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def variance(self, error: FloatArray) -> FloatArray:
        """Predictive variance of the next estimate, for each grid point."""
        return np.asarray(
            self.level_variance
            + self.deviation_variance
            + 2 * self.covariance
            + _sampling(error, self.unit)
        )

    def gains(self, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Kalman gains of the level and of the deviation for an estimate with this variance."""
        return (
            (self.level_variance + self.covariance) / variance,
            (self.deviation_variance + self.covariance) / variance,
        )

    def taught(
        self, value: FloatArray, error: FloatArray, *, which: BoolArray | None = None
    ) -> Standardiser:
        """State updated by an estimate. Series outside `which` are not updated."""
        variance = self.variance(error)
        off = value[:, np.newaxis] - self.level - self.deviation
        seen = 1.0 if which is None else which[:, np.newaxis]
        to_level, to_deviation = (seen * gain for gain in self.gains(variance))
        with_deviation = self.deviation_variance + self.covariance
        log_weight = self.log_weight - 0.5 * seen * (off**2 / variance + np.log(variance))
        return replace(
            self,
            level=self.level + to_level * off,
            deviation=self.deviation + to_deviation * off,
            level_variance=self.level_variance - to_level * (self.level_variance + self.covariance),
            deviation_variance=self.deviation_variance - to_deviation * with_deviation,
            covariance=self.covariance - to_level * with_deviation,
            log_weight=log_weight - log_weight.max(axis=1, keepdims=True),
        )

    def known_level(self) -> tuple[FloatArray, FloatArray]:
        """Posterior mean and standard deviation of the level, over the grid."""
        weight = self.weight()
        mean = np.sum(weight * self.level, axis=1)
        variance = self.level_variance + (self.level - mean[:, np.newaxis]) ** 2
        return mean, np.sqrt(np.sum(weight * variance, axis=1))


def _sampling(error: FloatArray, unit: FloatArray) -> FloatArray:
    """Sampling variance for each grid point; never 0."""
    return np.asarray(_PHI * np.maximum(error[:, np.newaxis], _LEAST_ERROR * unit) ** 2)


def _below(distance: FloatArray) -> FloatArray:
    """Distribution function of Student's t with 10 degrees of freedom, scaled to variance 1.

    For even degrees of freedom it is a polynomial (Abramowitz, Stegun 26.7.4) and ten times as fast
    as `stdtr`. In the far lower tail the polynomial cancels and `stdtr` is used.
    """
    held = np.clip(distance, -_FARTHEST, _FARTHEST)
    squared = held**2 * _DEGREES / (_DEGREES - 2)
    left = _DEGREES / (_DEGREES + squared)
    sine = np.sign(held) * np.sqrt(squared / (_DEGREES + squared))
    below = 0.5 + 0.5 * sine * np.polyval(_COSINES, left)
    far = below < _NEAR_TAIL
    if far.any():
        below[far] = special.stdtr(_DEGREES, -np.sqrt(squared[far]))
    return np.asarray(below)


def learned(
    values: FloatArray, errors: FloatArray, gaps: NDArray[np.intp]
) -> tuple[Standardiser, FloatArray]:
    """Run the filters over the reference windows.

    Parameters
    ----------
    values, errors : ndarray of shape (series, windows)
        Estimates and their standard errors.
    gaps : ndarray of int of shape (windows,)
        Number of windows since the one before; the first entry is not used.

    Returns
    -------
    Standardiser
        State after the reference.
    ndarray of shape (series,)
        Predictive standard deviation of a next window with the reference's median standard error.
    """
    usual = np.median(errors, axis=1)
    spread = np.std(values, axis=1, ddof=1)
    # A lower bound, for series that do not vary.
    rounding = 1e-9 * np.maximum(np.max(np.abs(values), axis=1), 1e-9)
    unit = np.maximum(np.hypot(usual, spread), rounding)
    state = Standardiser.started(values[:, 0], errors[:, 0], unit=unit)
    for at in range(1, values.shape[1]):
        state = state.ahead(int(gaps[at])).taught(values[:, at], errors[:, at])
    return state, state.ahead(1).expected(values[:, -1], usual).spread
