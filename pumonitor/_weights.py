"""Second moments of the rows' weights, which a table keeps beside its sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from pumonitor._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Second moments per cell, kept only when rows carry weights or propensities.

    With sample weight w and propensity e, a labeled row stands for w / e positives
    (`ScoreTable.labeled`) and for w rows of the population (`labeled_mass`).
    """

    labeled_squares: FloatArray
    labeled_mass: FloatArray
    labeled_mass_squares: FloatArray
    labeled_cross: FloatArray
    unlabeled_squares: FloatArray
    negative_squares: FloatArray

    def map(self, change: Callable[[FloatArray], FloatArray]) -> Weights:
        """The same change made to every column."""
        return Weights(**{item.name: change(getattr(self, item.name)) for item in fields(self)})

    def followed_by(self, other: Weights) -> Weights:
        """These cells, then those."""
        return Weights(
            **{
                item.name: np.concatenate([getattr(self, item.name), getattr(other, item.name)])
                for item in fields(self)
            }
        )
