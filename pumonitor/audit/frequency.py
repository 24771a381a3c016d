"""What is believed of the label frequency by score: before an audit, after it, and later on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError

DRIFT: Final = 0.1
"""Standard deviation by which alpha, beta and gamma move in a month."""

_WIDEST_SLOPE: Final = 1.5
_WIDEST_STEP: Final = 2.0
_LEAST_SPREAD: Final = 0.001
"""Tau where bins do not differ: a covariance must have an inverse."""
_SUREST: Final = 0.02**2
"""Least variance of -logit c of all positives: draws could not be chosen by a surer one."""

Line = tuple[float, float, float]
"""Alpha, beta and gamma."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyByScore:
    """-logit e ~ N(alpha + beta x + gamma z, tau^2), (alpha, beta, gamma) normal.

    e is the probability that a positive gets confirmed, x the bin's middle rank on [-1, 1], and z
    1/2 above the threshold and -1/2 below it. So alpha is minus the log odds of a confirmation in
    the middle, beta > 0 means that high scores are confirmed less often, and gamma < 0 that what
    is flagged is confirmed more often than the rest, as where people review what is flagged.

    Attributes
    ----------
    mean : (float, float, float)
        Of alpha, beta and gamma.
    covariance : 3 by 3 tuples of float
        A beta or gamma of variance 0 is known.
    spread : float
        Tau, the standard deviation by which bins differ from the line; 0 if they do not.
    audited : bool
        Whether an audit has been read: a window without one can then be estimated.
    overall : (float, float), optional
        Mean and variance of -logit of the label frequency of all positives, where that is known
        besides: of another model version, or as given. They are no part of `mean`. A variance
        below .0004 counts as that much: it is taken to be known to 2% at best.
    """

    mean: Line = (math.log(4), 0.0, 0.0)
    covariance: tuple[Line, Line, Line] = (
        (2.5**2, 0.0, 0.0),
        (0.0, _WIDEST_SLOPE**2, 0.0),
        (0.0, 0.0, _WIDEST_STEP**2),
    )
    spread: float = 0.4
    audited: bool = False
    overall: tuple[float, float] | None = None

    @property
    def fair(self) -> bool:
        """Whether confirmations are taken for a fair sample of the positives."""
        return self.spread == 0 and self.covariance[1][1] == 0 and self.stepless

    @property
    def stepless(self) -> bool:
        """Whether the threshold is taken to make no difference: gamma = 0."""
        return self.covariance[2][2] == 0

    def given(self, low: float, high: float, *, confidence_level: float = 0.95) -> FrequencyByScore:
        """With the label frequency of all positives between two values.

        Raises
        ------
        InputError
            Unless 0 < low < high < 1.
        """
        if not 0 < low < high < 1:
            msg = (
                "with an audit label_frequency is what is known besides, an interval within (0, "
                f"1): give (low, high) or leave it out, got low={low:g} and high={high:g}"
            )
            raise InputError(msg)
        ends = [math.log((1 - end) / end) for end in (low, high)]
        reach = 2 * float(special.ndtri(0.5 + 0.5 * confidence_level))
        variance = ((ends[0] - ends[1]) / reach) ** 2
        return replace(self, overall=(0.5 * (ends[0] + ends[1]), variance))

    def later(self, months: float) -> FrequencyByScore:
        """As believed some months on: what is not known drifts by `DRIFT` times their root.

        Examples
        --------
        >>> after = FrequencyByScore().later(1)
        >>> [round(after.covariance[at][at], 4) for at in range(3)]
        [6.26, 2.26, 4.01]
        """
        return self.apart(DRIFT**2 * months)

    def apart(self, variance: float) -> FrequencyByScore:
        """With more uncertainty of all that is not known, by a variance of log odds."""
        moved = np.diag([True, self.covariance[1][1] > 0, not self.stepless])
        alpha, beta, gamma = (as_line(row) for row in np.array(self.covariance) + variance * moved)
        overall = self.overall and (self.overall[0], self.overall[1] + variance)
        return replace(self, covariance=(alpha, beta, gamma), overall=overall)

    def for_new_model(self, overall: tuple[float, float]) -> FrequencyByScore:
        """As believed of a new model version, which ranks and flags the same cases otherwise.

        What stays is how often positives are confirmed over all, which is no matter of scores.

        Parameters
        ----------
        overall : (float, float)
            Mean and variance of -logit of the label frequency of all positives.
        """
        if self.fair:
            return self
        return replace(self, mean=UNKNOWN.mean, covariance=UNKNOWN.covariance, overall=overall)

    @property
    def known_overall(self) -> tuple[float, float] | None:
        """What is known of all positives, no surer than can be drawn by."""
        return self.overall and (self.overall[0], max(self.overall[1], _SUREST))

    def draw_line(
        self, v: FloatArray, rank: FloatArray, above: NDArray[np.bool_], rng: np.random.Generator
    ) -> FloatArray:
        """Alpha, beta and gamma given draws of v by bin, shape (3, draws): a normal regression.

        Parameters
        ----------
        v : ndarray of shape (draws, bins)
        rank, above : ndarray of shape (bins,)
        rng : Generator
        """
        across, covariance = line_of_bins(rank, above), np.array(self.covariance)
        mean, whole = self.in_bins(rank, above)
        gain = np.linalg.solve(whole, across @ covariance).T
        levels, axes = np.linalg.eigh(covariance - gain @ across @ covariance)
        root = axes * np.sqrt(np.maximum(levels, 0))
        drawn = np.array(self.mean)[:, np.newaxis] + gain @ (v - mean).T
        return np.asarray(drawn + root @ rng.standard_normal((3, len(v))))

    def in_bins(self, rank: FloatArray, above: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of v in score bins, with their departures."""
        across = line_of_bins(rank, above)
        apart = max(self.spread, _LEAST_SPREAD) ** 2 * np.eye(len(rank))
        covariance = across @ np.array(self.covariance) @ across.T + apart
        return across @ np.array(self.mean), covariance


def as_line(values: Iterable[float]) -> Line:
    """Three numbers as plain floats."""
    alpha, beta, gamma = (float(one) for one in values)
    return alpha, beta, gamma


def line_of_bins(rank: FloatArray, above: NDArray[np.bool_]) -> FloatArray:
    """What alpha, beta and gamma are multiplied by in each score bin: 1, x and z."""
    return np.stack([np.ones_like(rank), rank, np.where(above, 0.5, -0.5)], axis=1)


UNKNOWN: Final = FrequencyByScore()
"""`fair: check`: nothing is known but that bins next to each other are alike."""

FAIR: Final = FrequencyByScore(
    covariance=((2.5**2, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), spread=0.0
)
"""`fair: assume`: every positive is as likely to be confirmed as any other."""
