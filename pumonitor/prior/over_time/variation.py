"""How much windows differ by themselves, learned from the windows: nothing of it lasts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.stored import rounded

_PRIORS: Final = (0.0, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9)
_FREQUENCIES: Final = (0.0, 0.1, 0.2, 0.4)
_NEGATIVES: Final = (0.0, 0.1, 0.3, 0.8, 2.0)
_KEPT: Final = (0.0, 0.7)
_RESPONSES: Final = (0.0, 1.0)
_POINTS: Final = np.array(
    [
        deviations
        for deviations in itertools.product(_PRIORS, _FREQUENCIES, _NEGATIVES, _KEPT, _RESPONSES)
        # Without deviations of the class prior nothing is correlated with them.
        if deviations[0] > 0 or deviations[3:] == (0, 1)
    ]
)
_PRIOR, _FREQUENCY, _NEGATIVE, _RHO, _RESPONSE = _POINTS.T
# What windows confirm differs rather because their class priors do: reviewers and rules differ less
# from window to window than what makes positives.
_LOG_PRIOR: Final = (
    -0.5 * (_PRIOR / 0.4) ** 2 - 0.5 * (_FREQUENCY / 0.2) ** 2 - 0.5 * (_NEGATIVE / 0.8) ** 2
)
KEPT_DIGITS: Final[Mapping[str, int]] = {"log_weight": 12, "deviation": 10, "variance": 8}
"""Binary digits after the first of what is stored."""

_NONE: Final = -60.0
_DEGREES: Final = 5.0
_LEAST: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPrior:
    """What is expected of a window's own class prior, and of all else that differs by itself.

    Attributes
    ----------
    mean, variance : float
        Of the logarithm of the window's class prior over the level.
    frequency : float
        Variance of the logarithm of its label frequency.
    negatives : float
        Variance of the mean index of its rows, in squares of the positives' part of that mean.
    share_variance : float
        How sure it is which part of what is confirmed too much is due to the class prior: variance
        of that part.
    response, response_variance : float
        How much of what the window's own class prior should move the mean index of its rows it
        does move, and the variance of that.
    """

    mean: float
    variance: float
    frequency: float
    negatives: float
    share_variance: float
    response: float
    response_variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """How far a window is from what the level predicts.

    Attributes
    ----------
    confirmed, confirmed_variance : float
        Logarithm of the number confirmed over what was expected, and the variance of its error.
    index, index_variance : float
        Mean index of all rows less what was expected, as a share of the positives' part of it; NaN
        where scores are not read.
    """

    confirmed: float
    confirmed_variance: float
    index: float
    index_variance: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variation:
    """Posterior of how much windows differ by themselves, on a grid.

    The logarithm of a window's class prior over the level is normal, its mean such that windows'
    mean prior is the level, and keeps a share of its deviation from one window to the next. The
    label frequency and the negatives' mean index differ from window to window. The standard
    deviations of the three and that share are unknown and have a grid. A deviation of the prior
    moves the number confirmed and the mean index together, one of the label frequency the former
    alone, one of negatives the latter. But where rows are alike in all weeks and only what becomes
    of them differs (the same flights in a storm), their scores stay although more are positive:
    whether the mean index responds at all is a fifth thing to learn.

    Attributes
    ----------
    log_weight : ndarray of shape (points,)
        Up to a constant.
    deviation, variance : ndarray of shape (points,)
        Of the last window's prior, for each point: posterior mean and variance.

    Notes
    -----
    Each point has a Kalman filter for the deviation, given what the level predicts. Deviations have
    heavy tails (Student's t of 5 degrees of freedom): one burst does not teach that all windows
    differ. The level itself is followed by the filter.
    """

    log_weight: FloatArray
    deviation: FloatArray
    variance: FloatArray

    @classmethod
    def none(cls) -> Variation:
        """Windows that differ by sampling alone, for certain."""
        plain = (_POINTS[:, :-1] == 0).all(axis=1)
        zero = np.zeros(len(_POINTS))
        return cls(log_weight=np.where(plain, 0.0, _NONE), deviation=zero, variance=zero)

    @classmethod
    def unknown(cls) -> Variation:
        """Before any window."""
        return cls(log_weight=_LOG_PRIOR, deviation=np.zeros(len(_POINTS)), variance=_PRIOR**2)

    def after(self, residual: Residual, *, power: float = 1.0) -> Variation:
        """With another window.

        Parameters
        ----------
        residual : Residual
        power : float
            Of its likelihood: less where something else may have happened in it.
        """
        deviation, variance = self._ahead()
        own, error = variance, residual.confirmed_variance
        off = residual.confirmed - deviation + 0.5 * _PRIOR**2
        of_count = own + _FREQUENCY**2 + error + _LEAST
        if np.isnan(residual.index):
            inside, determinant, dimensions = off**2 / of_count, of_count, 1
            gained, explained = own / of_count * off, own**2 / of_count
        else:
            shared = _RESPONSE * own
            beside = residual.index - _RESPONSE * (deviation - 0.5 * _PRIOR**2)
            of_index = shared + _NEGATIVE**2 + residual.index_variance + _LEAST
            determinant, dimensions = of_count * of_index - shared**2, 2
            inside = (
                of_index * off**2 - 2 * shared * off * beside + of_count * beside**2
            ) / determinant
            to_count, to_index = of_index - shared, _RESPONSE * (of_count - own)
            gained = own * (to_count * off + to_index * beside) / determinant
            explained = own**2 * (to_count + to_index) / determinant
        log_chance = -0.5 * np.log(determinant) - 0.5 * (_DEGREES + dimensions) * np.log1p(
            inside / _DEGREES
        )
        log_weight = self.log_weight + power * log_chance
        return Variation(
            log_weight=np.maximum(log_weight - log_weight.max(), _NONE),
            deviation=deviation + gained,
            variance=np.maximum(own - explained, 0.0),
        ).rounded()

    def _ahead(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the next window's deviation, in each point."""
        return _RHO * self.deviation, _RHO**2 * self.variance + (1 - _RHO**2) * _PRIOR**2

    def next_window(self, *, expected: float) -> OwnPrior:
        """What is expected of the next window, in which so many are expected to be confirmed."""
        weight = self.weight()
        deviation, variance = self._ahead()
        means = deviation - 0.5 * _PRIOR**2
        mean = float(weight @ means)
        share = variance / (variance + _FREQUENCY**2 + 1 / (expected + 1.0))
        of_own = weight * (variance + _LEAST)
        response = float(of_own @ _RESPONSE / of_own.sum())
        return OwnPrior(
            mean=mean,
            variance=float(weight @ (variance + (means - mean) ** 2)),
            frequency=float(weight @ _FREQUENCY**2),
            negatives=float(weight @ _NEGATIVE**2),
            share_variance=float(weight @ (share - weight @ share) ** 2),
            response=response,
            response_variance=response * (1 - response),
        )

    def of_mean(self, windows: int) -> tuple[float, float, float]:
        """Variances of what the mean of so many windows is off.

        Returns
        -------
        tuple of float
            Of the logarithm of the class prior, which neighbours have in common; of that of the
            label frequency; of the mean index of negatives, as in `OwnPrior`.
        """
        weight = self.weight()
        lags = np.arange(1, windows)
        together = 1 + 2 * ((1 - lags / windows) @ _RHO ** lags[:, np.newaxis])
        prior = weight @ (_PRIOR**2 * together) / windows
        return (
            float(prior),
            float(weight @ _FREQUENCY**2) / windows,
            float(weight @ _NEGATIVE**2) / windows,
        )

    def weight(self) -> FloatArray:
        """Posterior weight of each point."""
        return np.asarray(special.softmax(self.log_weight))

    def rounded(self) -> Variation:
        """As it is stored."""
        return Variation(
            **{name: rounded(getattr(self, name), bits) for name, bits in KEPT_DIGITS.items()}
        )
