"""What is known of a table's propensities beyond the moments of the weights they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Propensities:
    """How the weights of labeled rows came about.

    Attributes
    ----------
    lifted : int
        Labeled rows whose propensity was below `min_propensity` and was lifted to it.
    largest_weight : float
        The heaviest labeled row: sample weight / propensity.
    min_propensity, detection_rate : float or None
        As given; None where tables with different ones were added.
    """

    lifted: int
    largest_weight: float
    min_propensity: float | None
    detection_rate: float | None

    def with_those_of(self, other: Propensities) -> Propensities:
        """The same of both sets of rows."""

        def common(mine: float | None, theirs: float | None) -> float | None:
            return mine if mine == theirs else None

        return Propensities(
            lifted=self.lifted + other.lifted,
            largest_weight=max(self.largest_weight, other.largest_weight),
            min_propensity=common(self.min_propensity, other.min_propensity),
            detection_rate=common(self.detection_rate, other.detection_rate),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chances:
    """The chance of unlabeled rows of having been labeled, had they been positive.

    Attributes
    ----------
    reviewable : ndarray of shape (cells,)
        Weight per cell of the unlabeled rows whose propensity is above 0.
    expected : ndarray of shape (cells,)
        Sum per cell of their propensities (with detection rate, and lifted where too small).
    """

    reviewable: FloatArray
    expected: FloatArray

    @classmethod
    def of_rows(
        cls,
        scores: NDArray[Any],
        *,
        propensity: FloatArray,
        weight: FloatArray,
        lower: FloatArray,
        detection_rate: float,
        min_propensity: float,
    ) -> Chances | None:
        """Summed over unlabeled rows by cell; None unless every row has a probability."""
        if not ((propensity >= 0) & (propensity <= 1)).all():
            return None
        cell = np.searchsorted(lower, scores, side="right") - 1
        can_be = propensity > 0
        chance = np.maximum(detection_rate * propensity, min_propensity)

        def summed(values: FloatArray) -> FloatArray:
            held = np.where(can_be, values, 0.0)
            return np.asarray(np.bincount(cell, weights=held, minlength=len(lower)), np.float64)

        return cls(reviewable=summed(weight), expected=summed(chance))

    def map(self, change: Callable[[FloatArray], FloatArray]) -> Chances:
        """The same change made to both columns."""
        return Chances(reviewable=change(self.reviewable), expected=change(self.expected))

    def followed_by(self, other: Chances) -> Chances:
        """These cells, then those."""
        return Chances(
            reviewable=np.concatenate([self.reviewable, other.reviewable]),
            expected=np.concatenate([self.expected, other.expected]),
        )


def describe(
    propensity: FloatArray, weight: FloatArray, *, detection_rate: float, min_propensity: float
) -> Propensities:
    """Facts from the logged propensities of the labeled rows and the weights they are given.

    Examples
    --------
    >>> found = describe(np.array([0.5, 0.01]), np.array([2.0, 10.0]), detection_rate=1.0,
    ...                  min_propensity=0.1)
    >>> found.lifted, found.largest_weight
    (1, 10.0)
    """
    return Propensities(
        lifted=int(np.count_nonzero(detection_rate * propensity < min_propensity)),
        largest_weight=float(weight.max()),
        min_propensity=min_propensity,
        detection_rate=detection_rate,
    )
