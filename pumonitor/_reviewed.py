"""What reviews say of the rows of a table, which it keeps beside its sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["ReviewedRows"]

FloatArray = NDArray[np.float64]


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
    """

    kinds: FloatArray
    cuts: tuple[float, ...]
    edges: tuple[float, ...] = ()
    rules: tuple[str, ...] = ()

    def map(self, change: Callable[[FloatArray], FloatArray]) -> ReviewedRows:
        """The same change made to the cells of every kind."""
        return replace(self, kinds=np.stack([change(rows) for rows in self.kinds]))

    def followed_by(self, other: ReviewedRows) -> ReviewedRows:
        """These cells, then those."""
        return ReviewedRows(
            kinds=np.concatenate([self.kinds, other.kinds], axis=1),
            cuts=tuple(sorted({*self.cuts, *other.cuts})),
            edges=tuple(sorted({*self.edges, *other.edges})),
            rules=tuple(sorted({*self.rules, *other.rules})),
        )
