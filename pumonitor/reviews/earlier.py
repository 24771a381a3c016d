"""What reviews said of the windows before one, by score bin: it tells of that window too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from pumonitor._reviewed import ReviewedRows
from pumonitor.plain_values import plain_fields
from pumonitor.reviews.counts import KINDS, ReviewCounts
from pumonitor.reviews.kinds_by_bin import kinds_by_bin
from pumonitor.reviews.partly_reviewed import BinParts
from pumonitor.reviews.two_periods import (
    all_cuts,
    common_edges,
    counts_in_bins,
    cuts_of,
    mean_design_effect,
)
from pumonitor.tables import ScoreTable

__all__ = ["MOST_EARLIER", "EarlierWindows"]

MOST_EARLIER: Final = 8
"""Windows that are added: of longer ago more has changed."""
_MOST_MOVED: Final = 0.25
"""Distance of Kolmogorov and Smirnov of the scores beyond chance, above which a score of then says
little of the same score now."""
_BY_CHANCE: Final = 1.36
"""Of the distance of two samples, times the root of the sum of the inverse sizes: 5% exceed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierWindows:
    """Rows of earlier windows, added by score bin and by what is known of them.

    Attributes
    ----------
    windows : int
        How many there are.
    edges : tuple of float
        Inner edges of the bins, in ascending order.
    rows : mapping of str to tuple of int
        By bin, of each of `pumonitor.reviews.KINDS` of which there is any.
    cuts : tuple of float
        Scores at which their queues began: between the lowest and the highest reviewed rows stand
        apart.
    design_effect : float
        Labeled rows that tell as much as one, where they share entities: of these windows and the
        one that is read with them.
    """

    windows: int
    edges: tuple[float, ...]
    rows: Mapping[str, tuple[int, ...]]
    cuts: tuple[float, ...]
    design_effect: float = 1.0

    @classmethod
    def of(
        cls, tables: Sequence[ScoreTable], now: ScoreTable, *, threshold: float
    ) -> EarlierWindows | None:
        """Of the tables of earlier windows and that of the window itself; None without any.

        Windows whose queue another score filled are not added: their bins are of that score. Nor
        are those with rows drawn by unequal chances, which do not add up; nor those whose scores
        lie elsewhere, as where a score was rescaled: bins of theirs are of other rows.

        The bins are in equal steps of labeled and all rows of all of them. One begins at each
        cut of the queue in the window itself, and at the lowest, the usual and the highest of
        the others.
        """
        own = now.reviewed
        tables = [table for table in tables if _is_plain(table.reviewed)]
        if own is None or not _is_plain(own):
            return None
        tables = [table for table in tables if _score_alike(table, now)]
        if not tables:
            return None
        with_cuts = [cuts for cuts in cuts_of(tables) if cuts]
        # Most windows have about the same, and one of them perhaps a lower one.
        usual = [
            float(np.median([cuts[end] for cuts in with_cuts])) for end in (0, -1) if with_cuts
        ]
        edges = common_edges([*tables, now], threshold, also=[*usual, *own.cuts, *own.edges])
        whole = np.sum([kinds_by_bin(table, edges) for table in tables], axis=0)
        return cls(
            windows=len(tables),
            edges=tuple(edges.tolist()),
            rows={
                kind: tuple(rows.tolist())
                for kind, rows in zip(KINDS, whole, strict=True)
                if rows.any()
            },
            cuts=all_cuts(tables),
            design_effect=mean_design_effect([*tables, now]),
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """As `to_json` wrote it."""
        return cls(
            windows=int(stored["windows"]),
            edges=tuple(stored["edges"]),
            rows={kind: tuple(rows) for kind, rows in stored["rows"].items()},
            cuts=tuple(stored["cuts"]),
            design_effect=stored.get("design_effect", 1.0),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        design_effect = () if self.design_effect == 1 else ("design_effect",)
        return plain_fields(self, "windows", "edges", "rows", "cuts", *design_effect)

    def beside(
        self, now: ScoreTable, *, threshold: float, blocks: bool
    ) -> tuple[ReviewCounts, BinParts]:
        """Counts of the window itself in these bins, and the parts of those of the earlier ones."""
        edges = np.array(self.edges)
        empty = (0,) * (len(edges) + 1)
        earlier = np.array([self.rows.get(kind, empty) for kind in KINDS], dtype=np.int64)
        own, before = (
            counts_in_bins(
                table,
                edges,
                order=now,
                threshold=threshold,
                blocks=blocks,
                design_effect=self.design_effect,
            )
            for table in (kinds_by_bin(now, edges), earlier)
        )
        return own, BinParts.of(before, self.cuts)


def _is_plain(reviewed: ReviewedRows | None) -> bool:
    return reviewed is not None and reviewed.queue is None and reviewed.odds is None


def _score_alike(before: ScoreTable, now: ScoreTable) -> bool:
    """Whether scores of two windows are distributed about alike, beyond chance."""
    rows = [table.labeled + table.unlabeled + table.negative for table in (before, now)]
    totals = [float(of_table.sum()) for of_table in rows]
    middle = np.concatenate([0.5 * (table.lower + table.upper) for table in (before, now)])
    scores, index = np.unique(middle, return_inverse=True)
    steps = np.concatenate([rows[0] / totals[0], -rows[1] / totals[1]])
    apart = np.cumsum(np.bincount(index, weights=steps, minlength=len(scores)))
    by_chance = _BY_CHANCE * sum(1 / total for total in totals) ** 0.5
    return bool(np.abs(apart).max() <= _MOST_MOVED + by_chance)
