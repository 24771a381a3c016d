"""What reviews say of the rows of a table, which it keeps beside its sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueueBins:
    """Rows by bin of the score that filled the queue, where that is another than the table's.

    Attributes
    ----------
    edges : tuple of float
        Inner edges of the bins.
    kinds : ndarray of int of shape (kinds, bins)
    known, possible : ndarray of shape (bins, cells)
        By cell of the table too: rows that are known to be positive, and that are or may be.
    odds : ndarray of shape (5, bins), optional
        As of `ReviewedRows`.
    design_effect : float
        Of the mean rank of known positives along that score, where they share entities.
    """

    edges: tuple[float, ...]
    kinds: NDArray[np.int64]
    known: FloatArray
    possible: FloatArray
    odds: FloatArray | None = None
    design_effect: float = 1.0

    def map(self, change: Callable[[FloatArray], FloatArray]) -> QueueBins:
        """The same change made to the cells of every bin."""
        known, possible = (
            np.stack([change(rows) for rows in by_bin]) for by_bin in (self.known, self.possible)
        )
        return replace(self, known=known, possible=possible)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewedRows:
    """Rows per cell by what reviews and complaints say of them.

    Attributes
    ----------
    kinds : ndarray of shape (kinds, cells)
        Rows of each of `pumonitor.reviews.KINDS`, in this order.
    cuts : tuple of float
        Scores at which the queue begins; a cell begins at each.
    edges : tuple of float
        Other scores at which a cell begins, since what is known changes there.
    rules : tuple of str
        Reasons of reviews that were taken for rules.
    odds : ndarray of shape (5, cells), optional
        Of rows that were drawn with unequal chances: see `pumonitor.reviews.unequal_chances`.
    queue : QueueBins, optional
        Where another score filled the queue: `cuts` are of that score, and no cell begins there.
    """

    kinds: FloatArray
    cuts: tuple[float, ...]
    edges: tuple[float, ...] = ()
    rules: tuple[str, ...] = ()
    odds: FloatArray | None = None
    queue: QueueBins | None = None

    def map(self, change: Callable[[FloatArray], FloatArray]) -> ReviewedRows:
        """The same change made to the cells of every kind."""
        return replace(
            self,
            kinds=np.stack([change(rows) for rows in self.kinds]),
            odds=None if self.odds is None else np.stack([change(sums) for sums in self.odds]),
            queue=None if self.queue is None else self.queue.map(change),
        )

    def followed_by(self, other: ReviewedRows) -> ReviewedRows:
        """These cells, then those.

        Raises
        ------
        InputError
            If another score filled a queue, whose bins are different ones in every table.
        """
        if self.queue is not None or other.queue is not None:
            msg = "tables whose queue was filled by another score than theirs cannot be added"
            raise InputError(msg)
        return ReviewedRows(
            kinds=np.concatenate([self.kinds, other.kinds], axis=1),
            cuts=tuple(sorted({*self.cuts, *other.cuts})),
            edges=tuple(sorted({*self.edges, *other.edges})),
            rules=tuple(sorted({*self.rules, *other.rules})),
            odds=_one_after_another(self, other),
        )


def _one_after_another(first: ReviewedRows, second: ReviewedRows) -> FloatArray | None:
    """Their odds; 0 of one that has none."""
    if first.odds is None and second.odds is None:
        return None
    parts = [
        np.zeros((5, rows.kinds.shape[1])) if rows.odds is None else rows.odds
        for rows in (first, second)
    ]
    return np.concatenate(parts, axis=1)
