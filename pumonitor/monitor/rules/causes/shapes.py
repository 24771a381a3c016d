"""Score distributions of positives and negatives in the reference, shifted and stretched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray

_TAIL = 1e-6
_LEAST = 1e-7
_UNSEEN = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Score distribution of one kind of rows: cumulative share at the end of each cell."""

    cumulative: FloatArray


class Shapes:
    """Score distributions from which the hypotheses predict counts.

    Scores are transformed so that all rows of the reference are standard normal. A shift and a
    stretch then mean the same on every model's score scale.

    Parameters
    ----------
    labeled, rows : ndarray of shape (cells,)
        Confirmed positives and all rows of the reference.
    class_prior : float
        Share of positives in the reference.
    bins : int
        Approximate number of coarse cells, in which periods are compared.
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
        self._middle = np.array([part.mean() for part in np.split(middle, self.ends + 1)])
        self.class_prior = class_prior
        positives = np.cumsum(labeled + self._unseen(rows)) / (
            labeled.sum() + _UNSEEN * (len(self.ends) + 1)
        )
        self.labeled = Shape(positives)
        self.everything = Shape(everything)
        self.positives, self.negatives = self._parted(everything, positives)

    def _unseen(self, rows: FloatArray) -> FloatArray:
        """Pseudo-counts: a quarter of a confirmed positive per coarse cell, spread over its rows.

        With few positives a cell is empty by chance. Without pseudo-counts the first positive in it
        would look like a change.
        """
        coarse = self.binned(rows)
        cell = np.searchsorted(self.ends, np.arange(len(rows)))
        return np.asarray(_UNSEEN * rows / np.maximum(coarse, 1.0)[cell])

    def _parted(self, everything: FloatArray, labeled: FloatArray) -> tuple[Shape, Shape]:
        """Distributions of positives and negatives whose mixture is that of all rows.

        A cell can hold more labeled rows than the class prior allows, by chance or because the
        class prior is too high. Such a cell gets no negatives, and its positives are cut off at all
        rows; otherwise the reference would differ from itself. Within a coarse cell both classes
        are distributed as all rows.
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
        """Add counts of fine cells up to coarse cells."""
        total: FloatArray = np.add.reduceat(counts, np.concatenate([[0], self.ends + 1]))
        return total

    def shares(self, shape: Shape, *, shift: float = 0.0, log_stretch: float = 0.0) -> FloatArray:
        """Shares of the coarse cells after stretching scores by exp(log_stretch) and shifting."""
        where = (self.at[self.ends] - shift) / np.exp(log_stretch)
        cumulative = np.interp(where, self.at, shape.cumulative, left=0.0, right=1.0)
        return np.maximum(np.diff(np.concatenate([[0.0], cumulative, [1.0]])), _LEAST)

    def at_ranks(self, ranks: FloatArray) -> FloatArray:
        """Shares of labeled rows in coarse cells that end at these ranks among all rows."""
        cumulative = np.interp(
            ranks,
            np.append(0.0, self.everything.cumulative),
            np.append(0.0, self.labeled.cumulative),
        )
        return np.asarray(np.maximum(np.diff(cumulative, prepend=0.0), _LEAST))

    def tilted(self, shares: FloatArray, own: FloatArray) -> FloatArray:
        """Shares weighted by exp(a z + b z^2), z in standard deviations of all rows.

        A normal distribution is shifted and stretched by it. Unlike a shift it does not smooth the
        reference's counts, which alone would make any shift fit better than none.
        """
        log_weight = own[0] * self._middle + own[1] * self._middle**2
        weighted = shares * np.exp(log_weight - log_weight.max())
        tilted: FloatArray = np.maximum(weighted / weighted.sum(), _LEAST)
        return tilted
