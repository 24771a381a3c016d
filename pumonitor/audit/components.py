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
    shape : ndarray of shape (components,)
        Of p: which of the precisions is its own.
    precision_p : ndarray of shape (shapes, bins, bins)
    precision_v : ndarray of shape (bins, bins)
        That of all of them: p and v are independent.
    log_determinant : ndarray of shape (components,)
        Of both precisions.
    levels : int
        Components of one shape, next to each other from the lowest level to the highest.
    """

    log_weight: FloatArray
    mean: FloatArray
    shape: NDArray[np.intp]
    precision_p: FloatArray
    precision_v: FloatArray
    log_determinant: FloatArray
    levels: int

    @classmethod
    def of(
        cls,
        *,
        of_p: Sequence[Normal],
        of_v: Normal,
        level: float,
        levels: int = _LEVELS,
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
        height, own, weight = np.zeros(1), level, np.zeros(1)
        if levels > 1:
            height = np.linspace(-_REACH, _REACH, levels) * level
            own = _OVERLAP * (height[1] - height[0])
            weight = -0.5 * height**2 / (level**2 - own**2)
        covariance_p = np.stack([normal.covariance for normal in of_p])
        covariance_v = of_v.covariance + own**2
        shape, at = (index.ravel() for index in np.indices((len(of_p), levels)))
        mean_p = np.stack([normal.mean for normal in of_p])[shape]
        mean_v = of_v.mean + height[at, np.newaxis]
        log_determinant = -np.linalg.slogdet(covariance_p)[1] - np.linalg.slogdet(covariance_v)[1]
        return cls(
            log_weight=weight[at] - special.logsumexp(weight) - np.log(len(of_p)),
            mean=np.concatenate([mean_p, mean_v], axis=1),
            shape=shape,
            precision_p=np.asarray(np.linalg.inv(covariance_p), dtype=float),
            precision_v=np.asarray(np.linalg.inv(covariance_v), dtype=float),
            log_determinant=log_determinant[shape],
            levels=levels,
        )

    def pull(self, x: FloatArray, component: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """The precision of a component times x less its mean, and x less its mean.

        Parameters
        ----------
        x : ndarray of shape (n, 2 * bins)
        component : ndarray of shape (n,)
        """
        bins = len(self.precision_v)
        away = x - self.mean[component]
        pulled, shape = np.empty_like(away), self.shape[component]
        pulled[:, bins:] = away[:, bins:] @ self.precision_v
        for at in np.unique(shape):
            same = shape == at
            pulled[same, :bins] = away[same, :bins] @ self.precision_p[at]
        return pulled, away


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
