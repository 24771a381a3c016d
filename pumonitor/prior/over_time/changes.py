"""What may change from one window to the next, how often, and how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pumonitor._arrays import FloatArray

Burst = Literal["none", "prior", "frequency"]
Scores = Literal["as before", "ranking", "ranking, far", "negatives", "negatives, far"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One hypothesis about a window.

    Attributes
    ----------
    name : str
        What changed, for people; two hypotheses that differ only in how far share it.
    probability : float
        Before the window is seen.
    prior, frequency : bool
        Whether the class prior, the label frequency jumps.
    scores : str
        "ranking": positives and negatives both score elsewhere; "negatives": these alone.
        Negatives move by about what the positives among all rows can move the mean index, or "far".
    burst : str
        Whose value is far off in this window alone, and back in the next: of the "prior" or of the
        label "frequency".
    """

    name: str
    probability: float
    prior: bool = False
    frequency: bool = False
    scores: Scores = "as before"
    burst: Burst = "none"


_SINGLE: Final = 0.01
_PAIR: Final = 0.001
_BURST: Final = 0.02
_DISTANCES: Final = ("", ", far")


def _changes() -> tuple[Change, ...]:
    found = [
        Change(name="prior", probability=_SINGLE, prior=True),
        Change(name="label frequency", probability=_SINGLE, frequency=True),
        Change(name="prior and label frequency", probability=_PAIR, prior=True, frequency=True),
        Change(name="prior in this window alone", probability=_BURST, burst="prior"),
        Change(name="label frequency in this window alone", probability=_BURST, burst="frequency"),
    ]
    for far in _DISTANCES:
        ranking: Scores = "ranking, far" if far else "ranking"
        negatives: Scores = "negatives, far" if far else "negatives"
        single, pair = _SINGLE / len(_DISTANCES), _PAIR / len(_DISTANCES)
        found += [
            Change(name="ranking", probability=single, scores=ranking),
            # Negatives that change alone are rarer than a model that ranks otherwise.
            Change(name="negatives", probability=0.5 * single, scores=negatives),
            Change(name="prior and ranking", probability=pair, prior=True, scores=ranking),
            Change(name="prior and negatives", probability=pair, prior=True, scores=negatives),
            Change(
                name="label frequency and ranking",
                probability=pair,
                frequency=True,
                scores=ranking,
            ),
        ]
    rest = 1 - sum(one.probability for one in found)
    return (Change(name="nothing", probability=rest), *found)


CHANGES: Final = _changes()
"""All hypotheses about a window; their probabilities add up to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast everything drifts while nothing jumps, as standard deviations per window.

    Attributes
    ----------
    prior : mapping of float to float
        Of logit pi: standard deviation to its share of the windows.
    frequency : float
        Of the logarithm of the label frequency.
    positives : float
        Of mu1, as a share of the positives' mean index.
    negatives : float
        Of mu0, as a share of the positives' part in the mean index of all rows: what a drift of the
        prior by so much moves that mean.
    """

    prior: Mapping[float, float]
    frequency: float
    positives: float
    negatives: float


PACES: Final = (
    Pace(prior={0.003: 1.0}, frequency=0.005, positives=0.004, negatives=0.004),
    Pace(prior={0.01: 0.5, 0.05: 0.5}, frequency=0.03, positives=0.01, negatives=0.04),
)
"""Which one a series has is learned from it."""


def drift(points: int, step: float, deviations: Mapping[float, float]) -> FloatArray:
    """Chances to go from one point of a grid to another by a small drift.

    Parameters
    ----------
    points : int
    step : float
        Between neighbours.
    deviations : mapping of float to float
        Standard deviation to the chance that it is the one.

    Returns
    -------
    ndarray of shape (points, points)
        From the row to the column; rows add up to 1. Away from the ends variances are right, also
        of drifts much smaller than a step.

    Examples
    --------
    >>> chances = drift(5, 0.1, {0.01: 1.0})
    >>> chances[2].round(3).tolist()
    [0.0, 0.005, 0.99, 0.005, 0.0]
    """
    total = np.zeros((points, points))
    for deviation, share in deviations.items():
        if deviation < step:
            side = 0.5 * (deviation / step) ** 2
            kernel = (1 - 2 * side) * np.eye(points)
            kernel += side * (np.eye(points, k=1) + np.eye(points, k=-1))
            kernel /= kernel.sum(axis=1, keepdims=True)
        else:
            kernel = jump(points, step, deviation=deviation)
        total += share * kernel
    return total


def jump(points: int, step: float, *, deviation: float) -> FloatArray:
    """Chances to go from one point of a grid to another by a normal step, not small beside it."""
    distance = step * np.subtract.outer(np.arange(points), np.arange(points))
    kernel = np.exp(-0.5 * (distance / deviation) ** 2)
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True))
