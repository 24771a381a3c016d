"""Densities of positives and negatives in the reference, and how they look when they move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Shape", "Shapes"]

FloatArray = NDArray[np.float64]

_TAIL = 1e-6
_LEAST = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Where rows of one kind score: shares up to the end of each cell, in ascending order."""

    cumulative: FloatArray


class Shapes:
    """What stories are told with.

    Scores are put on the scale on which all rows of the reference are normal, so that moving and
    stretching mean the same whatever the model's own scale.

    Parameters
    ----------
    labeled, rows : ndarray of shape (cells,)
        Confirmed positives and all rows of the reference.
    class_prior : float
        Share of positives among them.
    bins : int
        About so many coarse cells, in which periods are compared.
    """

    def __init__(
        self, labeled: FloatArray, rows: FloatArray, *, class_prior: float, bins: int = 40
    ) -> None:
        everything = np.cumsum(rows) / rows.sum()
        positives = np.cumsum(labeled) / labeled.sum()
        levels = np.linspace(0, 1, bins // 2 + 1)[1:-1]
        ends = np.unique(
            np.concatenate([np.searchsorted(c, levels) for c in (everything, positives)])
        )
        self.ends = ends[ends < len(rows) - 1]
        self.at = special.ndtri(np.clip(everything, _TAIL, 1 - _TAIL))
        before = np.concatenate([[0.0], everything[:-1]])
        middle = special.ndtri(np.clip((everything + before) / 2, _TAIL, 1 - _TAIL))
        self.middle = np.array([part.mean() for part in np.split(middle, self.ends + 1)])
        self.class_prior = class_prior
        self.positives = Shape(positives)
        # Where positives alone would exceed all rows, noise is evened out from below.
        others = (everything - class_prior * positives) / (1 - class_prior)
        others = np.maximum.accumulate(np.clip(others, 0, 1))
        self.negatives = Shape(others / others[-1])

    def binned(self, counts: FloatArray) -> FloatArray:
        """Counts of fine cells in the coarse ones."""
        total: FloatArray = np.add.reduceat(counts, np.concatenate([[0], self.ends + 1]))
        return total

    def shares(self, shape: Shape, *, shift: float = 0.0, log_stretch: float = 0.0) -> FloatArray:
        """Shares of the coarse cells once scores have been stretched and then moved."""
        where = (self.at[self.ends] - shift) / np.exp(log_stretch)
        cumulative = np.interp(where, self.at, shape.cumulative, left=0.0, right=1.0)
        return np.maximum(np.diff(np.concatenate([[0.0], cumulative, [1.0]])), _LEAST)

    def tilted(self, shares: FloatArray, slope: float) -> FloatArray:
        """Shares when high scores are met more often: by exp(slope) per standard deviation."""
        weighed = shares * np.exp(slope * self.middle)
        return np.asarray(weighed / weighed.sum())
