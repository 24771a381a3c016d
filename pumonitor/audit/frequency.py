"""What is believed of the label frequency by score: before an audit, after it, and later on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRIFT", "FAIR", "UNKNOWN", "FrequencyByScore"]

FloatArray = NDArray[np.float64]

DRIFT: Final = 0.1
"""Standard deviation by which alpha and beta move in a month."""

_WIDEST_SLOPE: Final = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyByScore:
    """-logit e ~ N(alpha + beta x, tau^2), with (alpha, beta) normal and tau half-normal.

    e is the probability that a positive gets confirmed and x the bin's middle rank on [-1, 1], so
    alpha is minus the log odds of a confirmation in the middle and beta > 0 means that high scores
    are confirmed less often.

    Attributes
    ----------
    mean : (float, float)
        Of alpha and beta.
    covariance : ((float, float), (float, float))
        Of alpha and beta. A beta of variance 0 is known.
    spread : float
        Scale of tau, by which bins differ from the line; 0 if they do not.
    audited : bool
        Whether an audit has been read: a window without one can then be estimated.
    """

    mean: tuple[float, float] = (math.log(4), 0.0)
    covariance: tuple[tuple[float, float], tuple[float, float]] = (
        (2.5**2, 0.0),
        (0.0, _WIDEST_SLOPE**2),
    )
    spread: float = 0.4
    audited: bool = False

    @property
    def fair(self) -> bool:
        """Whether confirmations are taken for a fair sample of the positives: beta = tau = 0."""
        return self.spread == 0 and self.covariance[1][1] == 0

    def given(self, low: float, high: float) -> FrequencyByScore:
        """With a label frequency between two values, at 95%, in place of an unknown one.

        Raises
        ------
        ValueError
            Unless 0 < low < high < 1.
        """
        if not 0 < low < high < 1:
            msg = f"label frequencies must satisfy 0 < low < high < 1, got {low:g} and {high:g}"
            raise ValueError(msg)
        ends = [math.log((1 - end) / end) for end in (low, high)]
        variance = ((ends[0] - ends[1]) / (2 * 1.96)) ** 2
        return replace(
            self,
            mean=(0.5 * (ends[0] + ends[1]), self.mean[1]),
            covariance=((variance, 0.0), self.covariance[1]),
        )

    def later(self, months: float) -> FrequencyByScore:
        """As believed some months on: alpha and beta drift by `DRIFT` times the root of the months.

        Examples
        --------
        >>> after = FrequencyByScore(covariance=((0.03, 0.0), (0.0, 0.09))).later(1)
        >>> round(after.covariance[0][0], 4), round(after.covariance[1][1], 4)
        (0.04, 0.1)
        """
        moved = DRIFT**2 * months
        (first, both), (_, second) = self.covariance
        if self.fair:
            return replace(self, covariance=((first + moved, 0.0), (0.0, 0.0)))
        return replace(self, covariance=((first + moved, both), (both, second + moved)))

    def for_new_model(self) -> FrequencyByScore:
        """As believed of a new model version: alpha stays, and beta widens to an unknown slope.

        Scores of another model rank the same cases otherwise.
        """
        if self.fair:
            return self
        (first, _), _ = self.covariance
        return replace(
            self,
            mean=(self.mean[0], 0.0),
            covariance=((first, 0.0), (0.0, _WIDEST_SLOPE**2)),
        )

    def root(self) -> FloatArray:
        """The lower triangular square root of the covariance, of a known beta a column of 0."""
        (first, both), (_, second) = self.covariance
        top = math.sqrt(first)
        slope = both / top if top > 0 else 0.0
        return np.array([[top, 0.0], [slope, math.sqrt(max(second - slope**2, 0.0))]])


UNKNOWN: Final = FrequencyByScore()
"""`fair: check`: nothing is known but that bins next to each other are alike."""

FAIR: Final = FrequencyByScore(covariance=((2.5**2, 0.0), (0.0, 0.0)), spread=0.0)
"""`fair: assume`: every positive is as likely to be confirmed as any other."""
