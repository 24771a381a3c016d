"""What reviews take to be true of p and e by score before anything is counted.

See ``docs/decisions/reviews.md`` for the derivation and for what each number was chosen by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.components import (
    Components,
    Normal,
    smooth_covariance,
    wiener_covariance,
)

__all__ = [
    "FEW_COMPLAINTS_YET",
    "UNKNOWN_COMPLAINTS",
    "ComplaintRate",
    "believed_components",
    "detection_of",
    "normal_of_share",
    "of_complaints",
    "of_positives",
]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplaintRate:
    """-logit e = level + slope x + step z + bend + departure, e being the chance to complain.

    x is the middle rank of a bin from -1 to 1, z is 1 in bins most of whose rows nobody reviewed.
    Complaints do not pass the score, so that a step is hardly believed in; a slope is, as large
    frauds are noticed sooner.

    Attributes
    ----------
    mean : float
        Of the level: by default half of the positives complain.
    level, slope, step : float
        Standard deviations.
    bend : float
        Standard deviation of the change of the slope over one unit of x, from the cut on.
    departure : float
        Standard deviation by which bins depart from the curve.
    overall : (float, float), optional
        Mean and variance of -logit of the share of the open positives that complain, if stated.
    """

    mean: float = 0.0
    level: float = 1.5
    slope: float = 1.5
    step: float = 0.3
    bend: float = 0.7
    departure: float = 0.25
    overall: tuple[float, float] | None = None


UNKNOWN_COMPLAINTS: Final = ComplaintRate()
FEW_COMPLAINTS_YET: Final = ComplaintRate(mean=2.0, level=2.5)
"""While complaints are still to come: from hardly any to nearly all of them may be there."""


def believed_components(
    *,
    normal_score: FloatArray,
    rank: FloatArray,
    without_verdict: NDArray[np.bool_],
    complaints: ComplaintRate = UNKNOWN_COMPLAINTS,
    anchor: float,
) -> Components:
    """What is believed in bins that lie like this.

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
    away = normal_score - anchor
    return Components.of(
        of_p=of_positives(away),
        of_v=of_complaints(
            rank=rank, without_verdict=without_verdict, away=away, complaints=complaints
        ),
        level=complaints.level,
    )


def of_positives(away: FloatArray) -> list[Normal]:
    """Logit p in bins so far from the anchor, in each shape that it may have."""
    mean = P_LEVEL[0] + P_SLOPE[0] * away
    return [
        Normal(
            mean,
            smooth_covariance(away, level=P_LEVEL[1], slope=P_SLOPE[1], bend=bend, noise=noise),
        )
        for bend, noise in P_SHAPES
    ]


def of_complaints(
    *,
    rank: FloatArray,
    without_verdict: NDArray[np.bool_],
    away: FloatArray,
    complaints: ComplaintRate = UNKNOWN_COMPLAINTS,
) -> Normal:
    """-logit e but for its level; `away` is the distance from the anchor in normal scores."""
    across = np.stack([rank, without_verdict.astype(float)])
    spread = np.diag([complaints.slope**2, complaints.step**2])
    cut = rank[np.argmin(np.abs(away))]
    covariance = across.T @ spread @ across + complaints.departure**2 * np.eye(len(rank))
    covariance += complaints.bend**2 * wiener_covariance(rank - cut)
    return Normal(np.full(len(rank), complaints.mean), covariance)


def normal_of_share(low: float, high: float, confidence_level: float) -> tuple[float, float]:
    """Mean and variance of -logit of a share that is stated as an interval."""
    ends = [float(-special.logit(end)) for end in (low, high)]
    reach = 2 * float(special.ndtri(0.5 + 0.5 * confidence_level))
    return 0.5 * (ends[0] + ends[1]), max(((ends[0] - ends[1]) / reach) ** 2, 0.02**2)


def detection_of(
    rate: tuple[float, float] | None, confidence_level: float
) -> tuple[float, float] | None:
    """Mean and standard deviation of logit s, the share of positives that review finds."""
    if rate is None:
        return None
    mean, variance = normal_of_share(*rate, confidence_level)
    return -mean, math.sqrt(variance)
