"""What is known of the class prior of the reference, before windows are followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["MOST", "Level", "log_density"]

FloatArray = NDArray[np.float64]

_FEWEST_POINTS: Final = 11
_MOST_POINTS: Final = 20
_SPACING: Final = 0.12
_REACH: Final = float(special.ndtri(0.9975))
_LEAST_DEVIATION: Final = 0.02
_ABOVE_CONFIRMED: Final = 1.02
MOST: Final = 0.999
"""The highest class prior that a level holds for possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A density of the reference's class prior on a grid.

    Attributes
    ----------
    class_prior : ndarray of shape (points,)
        Rising.
    weight : ndarray of shape (points,)
        Adding up to 1.
    """

    class_prior: FloatArray
    weight: FloatArray

    @classmethod
    def given(cls, value: float, low: float, high: float) -> Level:
        """Known from elsewhere: an audit, another source.

        Parameters
        ----------
        value, low, high : float
            With its 95% interval, 0 < low <= value <= high < 1.

        Examples
        --------
        >>> level = Level.given(0.03, 0.02, 0.04)
        >>> round(float(level.class_prior @ level.weight), 3)
        0.029
        """
        return cls._split_normal(value, low, high, upper_bound_only=False, least=0.0)

    @classmethod
    def estimated(cls, value: float, low: float, high: float, *, confirmed_share: float) -> Level:
        """From scores and confirmed positives of the reference.

        Scores tell an upper bound only: whatever separates the classes less well than it could
        puts the estimate above the truth, never below. So each prior within the interval is
        weighed by 1 / prior, which takes them for equally likely on the logarithmic scale.

        Parameters
        ----------
        value, low, high : float
            The estimate with its 95% interval, 0 <= low <= value <= high <= 1. Where few are
            confirmed an end may be 0 or 1, which no class prior is: it is taken for a fiftieth of
            the value, or for `MOST`.
        confirmed_share : float
            The class prior cannot be below it.
        """
        if not 0 <= low <= value <= high <= 1 or value == 0:
            msg = (
                "an estimated level must satisfy 0 <= low <= value <= high <= 1 and value > 0, "
                f"got {low}, {value}, {high}"
            )
            raise ValueError(msg)
        value = min(value, MOST)
        low, high = max(low, 0.02 * value), min(max(high, value), MOST)
        return cls._split_normal(
            value, min(low, value), high, upper_bound_only=True, least=confirmed_share
        )

    def quantiles(self, shares: ArrayLike) -> FloatArray:
        """Class priors below which these shares of the density lie."""
        reached = np.cumsum(self.weight) - 0.5 * self.weight
        wanted = np.asarray(shares, dtype=float)
        return np.asarray(np.exp(np.interp(wanted, reached, np.log(self.class_prior))))

    @classmethod
    def _split_normal(
        cls, value: float, low: float, high: float, *, upper_bound_only: bool, least: float
    ) -> Level:
        at_least = _ABOVE_CONFIRMED * least
        low, value, high = (max(one, at_least) for one in (low, value, high))
        middle, below, above = _normals(low, value, high)
        first = middle - _REACH * below - (1.0 if upper_bound_only else 0.0)
        if least > 0:
            first = max(first, float(special.logit(at_least)))
        first, last = min(first, middle - 1e-3), middle + _REACH * above
        points = min(max(round((last - first) / _SPACING), _FEWEST_POINTS), _MOST_POINTS)
        logit = np.linspace(first, last, points)
        class_prior = special.expit(logit)
        weight = np.exp(log_density(class_prior, value, low, high))
        if upper_bound_only:
            weight = weight / class_prior
        return cls(class_prior=class_prior, weight=weight / weight.sum())


def log_density(class_prior: FloatArray, value: float, low: float, high: float) -> FloatArray:
    """Of two half normals on the logit scale with this 95% interval, up to a constant.

    Raises
    ------
    ValueError
        Unless 0 < low <= value <= high < 1.
    """
    middle, below, above = _normals(low, value, high)
    off = special.logit(class_prior) - middle
    return np.asarray(-0.5 * (off / np.where(off < 0, below, above)) ** 2)


def _normals(low: float, value: float, high: float) -> tuple[float, float, float]:
    """Middle, and standard deviation below and above."""
    if not 0 < low <= value <= high < 1:
        msg = f"a level must satisfy 0 < low <= value <= high < 1, got {low}, {value}, {high}"
        raise ValueError(msg)
    start, middle, end = special.logit([low, value, high]).tolist()
    below, above = (
        max(side / float(special.ndtri(0.975)), _LEAST_DEVIATION)
        for side in (middle - start, end - middle)
    )
    return middle, below, above
