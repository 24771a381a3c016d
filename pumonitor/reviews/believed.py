"""What is believed of p and e by score before anything is counted: mixtures of normals.

See ``docs/decisions/reviews.md`` for the derivation and for what each number was chosen by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["UNKNOWN_COMPLAINTS", "ComplaintRate", "Components", "smooth_covariance"]

FloatArray = NDArray[np.float64]

P_LEVEL: Final = (-2.0, 4.0)
"""Mean and standard deviation of logit p at the highest cut."""
P_SLOPE: Final = (1.5, 1.5)
"""The same of its slope along the normal score of the rank."""
P_SHAPES: Final = (
    (0.15, 0.4),
    (0.5, 0.4),
    (1.5, 0.4),
    (5.0, 0.4),
    (1.5, 1.2),
    (1.5, 3.0),
)
"""By how much its slope may change over one unit, and by how much bins next to each other differ
without reason, as those of trees do. The counts choose."""

_LEVELS: Final = 21
_REACH: Final = 2.6  # standard deviations of the level's prior
_OVERLAP: Final = 0.9  # standard deviation of a component, in steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplaintRate:
    """-logit e = level + slope x + step z + bend + departure, e being the chance to complain.

    x is the middle rank of a bin from -1 to 1, z is 1 in bins most of whose rows nobody reviewed.
    Complaints do not pass the score, so that a step is hardly believed in; a slope is, as large
    frauds are noticed sooner.

    Attributes
    ----------
    level, slope, step : float
        Standard deviations. The level has mean 0: half of the positives complain.
    bend : float
        Standard deviation of the change of the slope over one unit of x, from the cut on.
    departure : float
        Standard deviation by which bins depart from the curve.
    overall : (float, float), optional
        Mean and variance of -logit of the share of the open positives that complain, if stated.
    """

    level: float = 1.5
    slope: float = 1.5
    step: float = 0.3
    bend: float = 0.7
    departure: float = 0.25
    overall: tuple[float, float] | None = None


UNKNOWN_COMPLAINTS: Final = ComplaintRate()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Components:
    """Normals of (logit p, -logit e) by bin, whose mixture is what is believed.

    The level of e is not normal given what was counted, where reviews block: hence a component for
    each stretch of it. Their standard deviation is .9 steps, so that the mixture is the normal
    prior of the level.

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
        cls,
        *,
        normal_score: FloatArray,
        rank: FloatArray,
        without_verdict: NDArray[np.bool_],
        complaints: ComplaintRate = UNKNOWN_COMPLAINTS,
        anchor: float,
    ) -> Components:
        """By how bins lie.

        Parameters
        ----------
        normal_score : ndarray of shape (bins,)
            Normal quantile of the middle rank of each bin among all rows.
        rank : ndarray of shape (bins,)
            x, from -1 to 1.
        without_verdict : ndarray of shape (bins,) of bool
        complaints : ComplaintRate
        anchor : float
            The normal score at which the level of p is believed in, and both curves begin to bend:
            that of the bin at the cut.
        """
        bins = len(rank)
        levels = np.linspace(-_REACH, _REACH, _LEVELS) * complaints.level
        own = _OVERLAP * (levels[1] - levels[0])
        weight = -0.5 * levels**2 / (complaints.level**2 - own**2)
        across = np.stack([rank, without_verdict.astype(float)])
        spread = np.diag([complaints.slope**2, complaints.step**2])
        cut = rank[np.argmin(np.abs(normal_score - anchor))]
        of_e = across.T @ spread @ across + own**2 + complaints.departure**2 * np.eye(bins)
        of_e += complaints.bend**2 * _bent(rank - cut)
        e_precision = np.linalg.inv(of_e)
        away = normal_score - anchor
        p_mean = P_LEVEL[0] + P_SLOPE[0] * away
        count = len(P_SHAPES) * _LEVELS
        mean = np.empty((count, 2 * bins))
        precision = np.zeros((count, 2 * bins, 2 * bins))
        log_determinant = np.empty(count)
        for at, (bend, noise) in enumerate(P_SHAPES):
            some = slice(at * _LEVELS, (at + 1) * _LEVELS)
            of_p = smooth_covariance(away, bend=bend, noise=noise)
            mean[some, :bins], mean[some, bins:] = p_mean, levels[:, np.newaxis]
            precision[some, :bins, :bins] = np.linalg.inv(of_p)
            precision[some, bins:, bins:] = e_precision
            log_determinant[some] = -np.linalg.slogdet(of_p)[1] - np.linalg.slogdet(of_e)[1]
        return cls(
            log_weight=np.tile(weight - special.logsumexp(weight), len(P_SHAPES))
            - np.log(len(P_SHAPES)),
            mean=mean,
            precision=precision,
            log_determinant=log_determinant,
        )


def smooth_covariance(away: FloatArray, *, bend: float, noise: float) -> FloatArray:
    """Of logit p in bins so far from the anchor: level, slope, an integrated Wiener process, noise.

    Parameters
    ----------
    away : ndarray of shape (bins,)
    bend : float
        Standard deviation of the change of the slope over one unit.
    noise : float
        Standard deviation by which bins depart from that.
    """
    return np.asarray(
        P_LEVEL[1] ** 2
        + P_SLOPE[1] ** 2 * np.multiply.outer(away, away)
        + bend**2 * _bent(away)
        + noise**2 * np.eye(len(away))
    )


def _bent(away: FloatArray) -> FloatArray:
    """Covariance of an integrated Wiener process that starts at 0 to either side."""
    far = np.abs(away)
    near, farther = np.minimum.outer(far, far), np.maximum.outer(far, far)
    same_side = np.multiply.outer(away, away) > 0
    return np.where(same_side, near**2 * (farther / 2 - near / 6), 0.0)
