"""Score bins of which the queue took some rows, since its cut differed from day to day.

Why their reviewed rows stand apart from the others: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor.reviews.counts import KINDS, POSITIVE, ReviewCounts

__all__ = ["BinParts"]

FloatArray = NDArray[np.float64]

_REVIEWED: Final = np.array(
    [kind.startswith(("positive_", "cleared_", "undecided_")) for kind in KINDS]
)
_POSITIVE: Final = np.array([kind in POSITIVE for kind in KINDS])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinParts:
    """Bins whose reviewed rows are a bin of their own where the queue took only some of them.

    Attributes
    ----------
    counts : ReviewCounts
        All bins, without these reviewed rows, then these.
    bin_of_part : ndarray of shape (parts,)
    size : int
        How many bins there are.
    """

    counts: ReviewCounts
    bin_of_part: NDArray[np.intp]
    size: int

    @classmethod
    def of(cls, counts: ReviewCounts, cuts: Sequence[float]) -> Self:
        """Told apart between the lowest score that the queue took and that from which it took all.

        In a bin of a single score they are alike. Of several windows these are the lowest and the
        highest of all cuts: which of the windows reviewed a score goes with how many positives
        they had.
        """
        bins, table = counts.bins, counts.table
        lower = np.append(-np.inf, bins.edges)
        is_partly = np.zeros(len(bins.rows), dtype=bool)
        if cuts:
            is_partly = (lower >= min(cuts)) & (lower < max(cuts)) & (bins.concordance_error > 0)
        reviewed = np.where(_REVIEWED[:, np.newaxis], table, 0)
        is_partly &= (reviewed.sum(axis=0) > 0) & (reviewed.sum(axis=0) < bins.rows)
        apart = np.flatnonzero(is_partly)
        bin_of_part = np.concatenate([np.arange(len(bins.rows)), apart])
        if not len(apart):
            return cls(counts=counts, bin_of_part=bin_of_part, size=len(bins.rows))
        parts = np.concatenate([table - reviewed * is_partly, reviewed[:, apart]], axis=1)

        def of_part(name: str) -> Any:
            return getattr(bins, name)[bin_of_part]

        columns = ("above", "rank", "concordance", "concordance_error")
        stacked = replace(
            bins,
            rows=parts.sum(axis=0),
            labeled=parts[_POSITIVE].sum(axis=0),
            **{name: of_part(name) for name in columns},
        )
        # They tell of the rows that were not reviewed.
        odds = (
            counts.odds if counts.odds is None else np.pad(counts.odds, ((0, 0), (0, len(apart))))
        )
        return cls(
            counts=ReviewCounts.of_table(stacked, parts, blocks=counts.blocks, odds=odds),
            bin_of_part=bin_of_part,
            size=len(bins.rows),
        )

    def sum_by_bin(self, rows: FloatArray) -> FloatArray:
        """Rows of parts, shape (draws, parts), by bin."""
        summed = rows[:, : self.size].copy()
        summed[:, self.bin_of_part[self.size :]] += rows[:, self.size :]
        return summed
