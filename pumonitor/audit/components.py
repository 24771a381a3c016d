"""What is believed of p and e by score before anything is counted: mixtures of normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Components", "Normal", "smooth_covariance", "wiener_covariance"]

FloatArray = NDArray[np.float64]

_LEVELS: Final = 21
_REACH: Final = 2.6  # standard deviations of the level's prior
_OVERLAP: Final = 0.9  # standard deviation of a component, in steps


class Normal(NamedTuple):
    """Mean and covariance over the bins."""

    mean: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Components:
    """Normals of (logit p, -logit e) by bin, whose mixture is what is believed.

    The level of e is not normal given what was counted, where reviews block or an audit found
    nothing: hence a component for each stretch of it. Their standard deviation is .9 steps, so that
    the mixture is the normal prior of the level.

    Attributes
    ----------
    log_weight : ndarray of shape (components,)
    mean : ndarray of shape (components, 2 * bins)
    precision : ndarray of shape (components, 2 * bins, 2 * bins)
    log_determinant : ndarray of shape (components,)
        Of the precision.
    """

    log_weight: FloatArray
    mean: FloatArray
    precision: FloatArray
    log_determinant: FloatArray

    @classmethod
    def of(
        cls, *, of_p: Sequence[Normal], of_v: Normal, level: float, levels: int = _LEVELS
    ) -> Components:
        """All pairs of a shape of p and a stretch of the level of e.

        Parameters
        ----------
        of_p : sequence of Normal
            Of logit p, equally probable.
        of_v : Normal
            Of v = -logit e, but for its level.
        level : float
            Standard deviation of the level, which all bins have in common, around the mean.
        levels : int
            Stretches of it; 1 for a level that is normal given what was counted.
        """
        bins = len(of_v.mean)
        height, own, weight = np.zeros(1), level, np.zeros(1)
        if levels > 1:
            height = np.linspace(-_REACH, _REACH, levels) * level
            own = _OVERLAP * (height[1] - height[0])
            weight = -0.5 * height**2 / (level**2 - own**2)
        covariance_v = of_v.covariance + own**2
        count = len(of_p) * levels
        mean = np.empty((count, 2 * bins))
        precision = np.zeros((count, 2 * bins, 2 * bins))
        log_determinant = np.empty(count)
        for at, (mean_p, covariance_p) in enumerate(of_p):
            some = slice(at * levels, (at + 1) * levels)
            mean[some, :bins] = mean_p
            mean[some, bins:] = of_v.mean + height[:, np.newaxis]
            precision[some, :bins, :bins] = np.linalg.inv(covariance_p)
            precision[some, bins:, bins:] = np.linalg.inv(covariance_v)
            both = (covariance_p, covariance_v)
            log_determinant[some] = -sum(np.linalg.slogdet(each)[1] for each in both)
        return cls(
            log_weight=np.tile(weight - special.logsumexp(weight), len(of_p)) - np.log(len(of_p)),
            mean=mean,
            precision=precision,
            log_determinant=log_determinant,
        )


def smooth_covariance(
    away: FloatArray, *, level: float, slope: float, bend: float, noise: float
) -> FloatArray:
    """Of logit p in bins so far from the anchor: level, slope, an integrated Wiener process, noise.

    Parameters
    ----------
    away : ndarray of shape (bins,)
    level, slope : float
        Standard deviations.
    bend : float
        Standard deviation of the change of the slope over one unit.
    noise : float
        Standard deviation by which bins depart from that.
    """
    return np.asarray(
        level**2
        + slope**2 * np.multiply.outer(away, away)
        + bend**2 * wiener_covariance(away)
        + noise**2 * np.eye(len(away))
    )


def wiener_covariance(away: FloatArray) -> FloatArray:
    """Covariance of an integrated Wiener process that starts at 0 to either side."""
    far = np.abs(away)
    near, farther = np.minimum.outer(far, far), np.maximum.outer(far, far)
    same_side = np.multiply.outer(away, away) > 0
    return np.where(same_side, near**2 * (farther / 2 - near / 6), 0.0)
