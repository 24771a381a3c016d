"""Self-starting standardisation: how unusual a window is beside those before it.

Estimates x_t with standard errors s_t are taken for x_t = level + a_t + sqrt(phi) s_t e_t, where
a_t is an AR(1) deviation of standard deviation tau and autocorrelation rho: what windows differ by
beyond their sampling error. None of these is known. The level has a flat prior, and tau, phi and
rho are averaged over on a grid, with the weight the series gives them. For each point of the grid
a Kalman filter gives mean and standard deviation of the next estimate, taken for a Student's t of
10 degrees: days differ by more than a normal has, and means of placements are skewed. The mixture's
distribution function at what comes, as a normal quantile, is z_t. As long as nothing changes these
are independent and nearly N(0, 1), however short the reference: what is not known makes the
expected spread wider.

All arrays have a first axis for series, so that many can be stepped at once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Expected", "Standardiser", "learned"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

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
# Weak: stated errors are about right, deviations about as large as these or smaller. Deviations
# that last look much like a change, so they are believed in only where the series shows them.
_LOG_PRIOR: Final = (
    -0.5 * (np.log2(_PHI) / 1.5) ** 2
    - 0.5 * (_TAU / 0.8) ** 2
    - np.interp(_RHO, _RHOS, (0.0, 0.7, 2.0, 5.0))
)
# A window further off than this teaches nothing: one gross error must not widen what is expected.
_FURTHEST: Final = 4.0
_LEAST_ERROR: Final = 0.01
# With a normal a fall of AUL had up to 1.5 false alarms where one is asked for, with this 1.2, and
# delays are the same: a few far windows make false alarms, many a little off show a change.
_DEGREES: Final = 10
_COSINES: Final = (35 / 128, 5 / 16, 3 / 8, 1 / 2, 1.0)
_NEAR_TAIL, _LEAST_TAIL, _FARTHEST = 1e-6, 1e-300, 1e30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expected:
    """What the next estimate was expected to be, and how unusual it is.

    Attributes
    ----------
    mean, spread : ndarray of shape (series,)
        Mean and standard deviation.
    z : ndarray of shape (series,)
        Normal quantile of the distribution function at what came.
    """

    mean: FloatArray
    spread: FloatArray
    z: FloatArray

    def near(self) -> BoolArray:
        """Whether it is no gross error, from which nothing should be learned."""
        return np.asarray(np.abs(self.z) <= _FURTHEST)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standardiser:
    """What a series has shown so far. Never changed: each method returns another.

    Attributes
    ----------
    unit : ndarray of shape (series, 1)
        Of tau.
    level, deviation : ndarray of shape (series, points)
        Means of the level and of a_t.
    level_variance, deviation_variance, covariance : ndarray of shape (series, points)
    log_weight : ndarray of shape (series, points)
        Of the grid's points, up to a constant.
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
        """After the first estimate, which a flat prior of the level makes its own mean."""
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
        """Some windows later: deviations have died away by so much."""
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
        """Of a deviation after some windows, for each point of the grid."""
        return np.asarray(_RHO**gap)

    def expected(self, value: FloatArray, error: FloatArray) -> Expected:
        """What an estimate with this standard error was expected to be, and how unusual it is."""
        weight = self.weight()
        center = self.level + self.deviation
        variance = self.variance(error)
        mean = np.sum(weight * center, axis=1)
        spread = np.sqrt(np.sum(weight * (variance + (center - mean[:, np.newaxis]) ** 2), axis=1))
        side = np.where(value > mean, -1.0, 1.0)  # the tail is read from its own end
        distance = side[:, np.newaxis] * (value[:, np.newaxis] - center) / np.sqrt(variance)
        tail = np.sum(weight * _below(distance), axis=1)
        z = special.ndtri(np.maximum(tail, _LEAST_TAIL))
        return Expected(mean=mean, spread=spread, z=side * z)

    def weight(self) -> FloatArray:
        """Of each point of the grid."""
        weight = np.exp(self.log_weight)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def variance(self, error: FloatArray) -> FloatArray:
        """Of the next estimate, for each point of the grid."""
        return np.asarray(
            self.level_variance
            + self.deviation_variance
            + 2 * self.covariance
            + _sampling(error, self.unit)
        )

    def gains(self, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far the level and the deviation follow the next estimate, which has this variance."""
        return (
            (self.level_variance + self.covariance) / variance,
            (self.deviation_variance + self.covariance) / variance,
        )

    def taught(
        self, value: FloatArray, error: FloatArray, *, which: BoolArray | None = None
    ) -> Standardiser:
        """Having seen an estimate; series not among `which` learn nothing from it."""
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
        """Mean and standard deviation of the level."""
        weight = self.weight()
        mean = np.sum(weight * self.level, axis=1)
        variance = self.level_variance + (self.level - mean[:, np.newaxis]) ** 2
        return mean, np.sqrt(np.sum(weight * variance, axis=1))


def _sampling(error: FloatArray, unit: FloatArray) -> FloatArray:
    """Variance by sampling, for each point of the grid; no estimate is quite without."""
    return np.asarray(_PHI * np.maximum(error[:, np.newaxis], _LEAST_ERROR * unit) ** 2)


def _below(distance: FloatArray) -> FloatArray:
    """Distribution function of Student's t of 10 degrees, scaled to variance 1.

    For an even number of degrees it is a polynomial (Abramowitz, Stegun 26.7.4), ten times as fast
    as `stdtr`; in the far lower tail, where its digits cancel, `stdtr` is asked.
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
    """What reference windows teach, and the spread to be expected of windows like them.

    Parameters
    ----------
    values, errors : ndarray of shape (series, windows)
    gaps : ndarray of int of shape (windows,)
        Windows since the one before; the first is not read.

    Returns
    -------
    Standardiser
    ndarray of shape (series,)
        Standard deviation of a window with the reference's median error, given the reference.
    """
    usual = np.median(errors, axis=1)
    spread = np.std(values, axis=1, ddof=1)
    # Where nothing varies there is still rounding.
    rounding = 1e-9 * np.maximum(np.max(np.abs(values), axis=1), 1e-9)
    unit = np.maximum(np.hypot(usual, spread), rounding)
    state = Standardiser.started(values[:, 0], errors[:, 0], unit=unit)
    for at in range(1, values.shape[1]):
        state = state.ahead(int(gaps[at])).taught(values[:, at], errors[:, at])
    return state, state.ahead(1).expected(values[:, -1], usual).spread
