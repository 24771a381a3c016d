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
_UNSEEN = 0.25


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
        positives = np.cumsum(labeled + self._unseen(rows)) / (
            labeled.sum() + _UNSEEN * (len(self.ends) + 1)
        )
        self.labeled = Shape(positives)
        self._everything = everything
        self.positives, self.negatives = self._parted(everything, positives)

    def _unseen(self, rows: FloatArray) -> FloatArray:
        """A quarter of a confirmed positive in each coarse cell.

        Few positives leave cells empty by chance, and one that comes there later is no change.
        """
        coarse = self.binned(rows)
        cell = np.searchsorted(self.ends, np.arange(len(rows)))
        return np.asarray(_UNSEEN * rows / np.maximum(coarse, 1.0)[cell])

    def _parted(self, everything: FloatArray, labeled: FloatArray) -> tuple[Shape, Shape]:
        """Positives and negatives that add up to all rows of the reference.

        Where labeled rows are more frequent than the class prior allows, by chance or since it is
        too high, there are no negatives, and positives are as frequent as all rows allow. Else the
        reference itself would look like a change. Within a coarse cell all score alike.
        """
        last = np.append(self.ends, len(everything) - 1)
        all_ends, labeled_ends = everything[last], labeled[last]
        rows = np.diff(all_ends, prepend=0.0)
        others = np.maximum(rows - self.class_prior * np.diff(labeled_ends, prepend=0.0), 0.0)
        others *= (1 - self.class_prior) / others.sum()
        positives = np.maximum(rows - others, 0.0) / self.class_prior

        def within(shares: FloatArray) -> Shape:
            reached = np.append(0.0, np.cumsum(shares / shares.sum()))
            return Shape(np.interp(everything, np.append(0.0, all_ends), reached))

        return within(positives), within(others)

    def binned(self, counts: FloatArray) -> FloatArray:
        """Counts of fine cells in the coarse ones."""
        total: FloatArray = np.add.reduceat(counts, np.concatenate([[0], self.ends + 1]))
        return total

    def shares(self, shape: Shape, *, shift: float = 0.0, log_stretch: float = 0.0) -> FloatArray:
        """Shares of the coarse cells once scores have been stretched and then moved."""
        where = (self.at[self.ends] - shift) / np.exp(log_stretch)
        cumulative = np.interp(where, self.at, shape.cumulative, left=0.0, right=1.0)
        return np.maximum(np.diff(np.concatenate([[0.0], cumulative, [1.0]])), _LEAST)

    def at_ranks(self, ranks: FloatArray) -> FloatArray:
        """Shares of positives in coarse cells below whose ends so large shares of all rows are."""
        cumulative = np.interp(
            ranks, np.append(0.0, self._everything), np.append(0.0, self.labeled.cumulative)
        )
        return np.asarray(np.maximum(np.diff(cumulative, prepend=0.0), _LEAST))

    def tilted(self, shares: FloatArray, slope: float) -> FloatArray:
        """Shares when high scores are met more often: by exp(slope) per standard deviation."""
        weighed = shares * np.exp(slope * self.middle)
        return np.asarray(weighed / weighed.sum())
