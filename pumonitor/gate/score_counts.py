"""Rows and labels of one model by score, in cells that are the same in every window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor._score_grid import ScoreGrid
from pumonitor.tables import ScoreTable

_COARSER: Final = 16
"""So many cells of the monitors' grid are one here: a cut shows as well, in a sixteenth of them."""
_GRIDS: Final = (ScoreGrid(scale="unbounded"), ScoreGrid(scale="probability"))
_LEAST_LABELS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreCounts:
    """Counts by cell, which windows can be added up of.

    Attributes
    ----------
    is_probability : bool
        Whether all scores of the window are within [0, 1]; cells are finer then.
    cell : ndarray of int, shape (cells,)
        Ascending, only those with rows.
    lower, upper : ndarray of float, shape (cells,)
        Least and largest score.
    unlabeled, labeled, negative : ndarray of int, shape (cells,)
        Rows; labeled are confirmed positives.
    """

    is_probability: bool
    cell: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    unlabeled: NDArray[np.int64]
    labeled: NDArray[np.int64]
    negative: NDArray[np.int64]

    @classmethod
    def of(cls, labels: NDArray[np.int8], scores: NDArray[np.float64]) -> Self:
        """Count rows. Scores are finite."""
        is_probability = bool(np.all((scores >= 0) & (scores <= 1)))
        cell = _GRIDS[is_probability].index(scores) // _COARSER
        return cls._grouped(
            is_probability,
            cell,
            scores,
            scores,
            *((labels == kind).astype(np.int64) for kind in (0, 1, -1)),
        )

    @classmethod
    def together(cls, windows: Sequence[Self]) -> Self | None:
        """The sum over windows, of those whose scores have the scale of the last; None of none."""
        alike = cls._alike(windows)
        if not alike:
            return None
        columns = {
            one.name: np.concatenate([getattr(each, one.name) for each in alike])
            for one in fields(cls)[1:]
        }
        return cls._grouped(alike[-1].is_probability, *columns.values())

    @classmethod
    def at_equal_ranks(cls, windows: Sequence[Self]) -> Self | None:
        """The sum over windows, had each the scores that all have together; None of fewer than two.

        Where the highest rows of each window are reviewed, that is down to another score each time.
        Then labels of all windows fade away over these scores, and at equal ranks they stop.
        """
        alike = cls._alike(windows)
        together = cls.together(alike)
        if together is None or len(alike) < 2:
            return None
        scores = 0.5 * (together.lower + together.upper)
        ranks = np.concatenate([one._ranks() for one in alike])
        found = np.interp(ranks, together._ranks(), scores)
        return cls._grouped(
            together.is_probability,
            _GRIDS[together.is_probability].index(found) // _COARSER,
            found,
            found,
            *(
                np.concatenate([getattr(one, name) for one in alike])
                for name in ("unlabeled", "labeled", "negative")
            ),
        )

    @classmethod
    def _alike(cls, windows: Sequence[Self]) -> list[Self]:
        return [
            one
            for one in windows
            if one.is_probability == windows[-1].is_probability and len(one.cell)
        ]

    def _ranks(self) -> NDArray[np.float64]:
        """Share of the rows below the middle of each cell."""
        rows = self.unlabeled + self.labeled + self.negative
        return np.asarray((np.cumsum(rows) - 0.5 * rows) / rows.sum())

    @classmethod
    def _grouped(
        cls,
        is_probability: bool,  # noqa: FBT001
        cell: NDArray[np.int64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        *counts: NDArray[np.int64],
    ) -> Self:
        order = np.argsort(cell, kind="stable")
        distinct, starts = np.unique(cell[order], return_index=True)
        if not len(distinct):
            return cls(
                is_probability=is_probability,
                cell=distinct,
                lower=lower,
                upper=upper,
                unlabeled=counts[0],
                labeled=counts[1],
                negative=counts[2],
            )
        unlabeled, labeled, negative = (np.add.reduceat(one[order], starts) for one in counts)
        return cls(
            is_probability=is_probability,
            cell=distinct,
            lower=np.minimum.reduceat(lower[order], starts),
            upper=np.maximum.reduceat(upper[order], starts),
            unlabeled=unlabeled,
            labeled=labeled,
            negative=negative,
        )

    def table(self) -> ScoreTable | None:
        """As a score table; None with fewer than two labels."""
        if self.labeled.sum() < _LEAST_LABELS or not self.unlabeled.sum():
            return None
        return ScoreTable.from_counts(
            self.labeled,
            self.unlabeled,
            negative=self.negative,
            lower=self.lower,
            upper=self.upper,
        )

    def cut(self, capacity: float) -> float | None:
        """The lowest score among the highest rows, a share `capacity` of all; None without rows."""
        if not len(self.cell):
            return None
        rows = (self.unlabeled + self.labeled + self.negative)[::-1]
        at = int(np.searchsorted(np.cumsum(rows), capacity * rows.sum()))
        return float(self.lower[::-1][min(at, len(rows) - 1)])

    def above(self, capacity: float) -> tuple[int, float]:
        """Labels from the cut upwards, and the share of all rows there.

        Rows that score alike are all above, so that they may be more than the capacity.
        """
        cut = self.cut(capacity)
        if cut is None:
            return 0, 0.0
        rows, there = self.unlabeled + self.labeled + self.negative, self.lower >= cut
        return int(self.labeled[there].sum()), float(rows[there].sum() / rows.sum())
