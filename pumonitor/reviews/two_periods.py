"""Two periods of windows with reviews as one model: what is the same in both, and what may change.

See ``docs/decisions/reviews.md`` for the derivation and for what each number was chosen by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pumonitor._arrays import FloatArray, IntArray
from pumonitor.audit.bins import ScoreBins, mixed_mass
from pumonitor.audit.components import Components, Normal
from pumonitor.audit.laplace import Drawn
from pumonitor.reviews.believed import ComplaintRate, of_complaints, of_positives
from pumonitor.reviews.counts import KINDS, POSITIVE, ReviewCounts
from pumonitor.reviews.partly_reviewed import BinParts
from pumonitor.tables import ScoreTable

__all__ = ["CHANGES", "TwoPeriods", "common_edges", "counts_in_bins", "mean_design_effect"]


_BINS: Final = 12
_LEVELS: Final = 11
"""Components of the level of e, which two periods tell better than one."""
_DEPARTURE: Final = 0.1
"""By how much logit p, and -logit e, of a bin may differ between the periods without reason."""


CHANGES: Final = {"level": 0.7, "slope": 0.5, "complaints": 1.0}
"""Standard deviations of what may have changed: of logit p in all bins, of its slope along the
normal score, of -logit e in all bins. The class prior may double, AUC fall by .1."""


def common_edges(
    tables: Sequence[ScoreTable], threshold: float, *, also: Sequence[float] = ()
) -> FloatArray:
    """Edges in equal steps of labeled and all rows, at the threshold and at the queues' ends.

    Parameters
    ----------
    tables : sequence of ScoreTable
        With `reviewed`.
    threshold : float
    also : sequence of float
        Other scores at which a bin begins.
    """
    middle = np.concatenate([0.5 * (table.lower + table.upper) for table in tables])
    labeled = np.concatenate([table.labeled for table in tables])
    rows = np.concatenate([table.labeled + table.unlabeled + table.negative for table in tables])
    order = np.argsort(middle, kind="stable")
    reached = np.cumsum(mixed_mass(labeled, rows)[order])
    at = np.searchsorted(reached, np.arange(1, _BINS) / _BINS * reached[-1])
    inner = middle[order][np.minimum(at, len(order) - 1)]
    stopped = [
        edge for table in tables if table.reviewed is not None for edge in table.reviewed.edges
    ]
    cuts = cuts_of(tables)
    lowest, highest = ([of_window[end] for of_window in cuts if of_window] for end in (0, -1))
    ends = [*_ends(lowest), *_ends(highest), *_ends(stopped)]
    return np.unique([*inner, *ends, *also, threshold])


def cuts_of(tables: Sequence[ScoreTable]) -> list[tuple[float, ...]]:
    """Of each window: lowest score that the queue took, and that from which on it took all."""
    return [table.reviewed.cuts for table in tables if table.reviewed is not None]


def all_cuts(tables: Sequence[ScoreTable]) -> tuple[float, ...]:
    """Those of all windows, in ascending order."""
    return tuple(sorted({cut for cuts in cuts_of(tables) for cut in cuts}))


def mean_design_effect(tables: Sequence[ScoreTable]) -> float:
    """Of the mean rank of windows, by their labeled rows: one window hardly tells it."""
    effects = [table.rank_design_effect for table in tables]
    return float(np.average(effects, weights=[table.n_labeled for table in tables]))


def _ends(scores: Sequence[float]) -> tuple[float, ...]:
    return tuple(sorted({min(scores), max(scores)})) if scores else ()


def counts_in_bins(
    kinds: IntArray,
    edges: FloatArray,
    *,
    order: ScoreTable,
    threshold: float,
    blocks: bool,
    design_effect: float,
) -> ReviewCounts:
    """Rows by kind and bin, where a table says how those of a bin lie inside it.

    Parameters
    ----------
    kinds : ndarray of shape (kinds, bins)
    edges : ndarray of shape (bins - 1,)
    order : ScoreTable
    threshold : float
    blocks : bool
        Whether a positive verdict blocks the case.
    design_effect : float
        Of the labeled rows of all windows that are read together.
    """
    bins = _counted_bins(kinds, edges=edges, threshold=threshold)
    ordered = bins.with_order_of(order, threshold=threshold)
    ordered = replace(ordered, edges=edges, design_effect=design_effect)
    return ReviewCounts.of_table(ordered, kinds, blocks=blocks)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoPeriods:
    """The bins of two periods as those of one likelihood.

    Attributes
    ----------
    before, now : BinParts
        In the same bins.
    counts : ReviewCounts
        Of the parts of both, which are only ever fitted.
    """

    before: BinParts
    now: BinParts
    counts: ReviewCounts

    @classmethod
    def of(cls, before: BinParts, now: BinParts) -> TwoPeriods:
        """Stacked."""
        first, second = before.counts.bins, now.counts.bins

        def joined(name: str) -> Any:
            return np.concatenate([getattr(first, name), getattr(second, name)])

        columns = ("above", "rows", "labeled", "rank", "concordance", "concordance_error")
        bins = replace(first, **{name: joined(name) for name in columns})
        table = np.concatenate([before.counts.table, now.counts.table], axis=1)
        counts = ReviewCounts.of_table(bins, table, blocks=now.counts.blocks)
        return cls(before=before, now=now, counts=counts)

    def components(
        self, *, complaints: ComplaintRate, level: float = CHANGES["level"]
    ) -> Components:
        """What is believed of both periods: alike, but for what may have changed.

        Parameters
        ----------
        complaints : ComplaintRate
        level : float
            Standard deviation of the change of logit p in all bins.
        """
        parts, size = (self.before, self.now), self.now.size
        apart = np.unique(np.concatenate([part.bin_of_part[size:] for part in parts]))
        bin_of_cell = np.concatenate([np.arange(size), apart])
        # A part is a cell of one period: reviewed rows of a bin that was partly reviewed, or a bin.
        cell_of_part = np.concatenate(
            [
                number
                for part in parts
                for number in (range(size), size + np.searchsorted(apart, part.bin_of_part[size:]))
            ]
        )
        pooled = self._pooled()
        score = pooled.bins.normal_score
        away = score - score[pooled.lowest_in_queue]
        of_v = of_complaints(
            rank=pooled.bins.rank[bin_of_cell],
            without_verdict=np.append(~pooled.in_queue, np.zeros(len(apart), dtype=bool)),
            away=away[bin_of_cell],
            complaints=complaints,
        )
        # Half of a change to either period, so that neither is the wider one beforehand.
        side = np.repeat([0.5, -0.5], [len(part.bin_of_part) for part in parts])
        along = away[bin_of_cell][cell_of_part] * side

        def of_parts(normal: Normal, changed: FloatArray) -> Normal:
            of_cells = normal.covariance[np.ix_(cell_of_part, cell_of_part)]
            departing = _DEPARTURE**2 * np.eye(len(cell_of_part))
            return Normal(normal.mean[cell_of_part], of_cells + departing + changed)

        same = np.multiply.outer(side, side)
        changed = level**2 * same + CHANGES["slope"] ** 2 * np.multiply.outer(along, along)
        return Components.of(
            of_p=[of_parts(normal, changed) for normal in of_positives(away[bin_of_cell])],
            of_v=of_parts(of_v, CHANGES["complaints"] ** 2 * same),
            level=complaints.level,
            levels=_LEVELS,
        )

    def _pooled(self) -> ReviewCounts:
        """Of both periods by bin."""
        parts = (self.before, self.now)
        tables = [part.sum_by_bin(part.counts.table.astype(float)) for part in parts]
        table = np.rint(tables[0] + tables[1]).astype(np.int64)
        bins = self.now.counts.bins
        return ReviewCounts.of_table(
            _counted_bins(table, edges=bins.edges, threshold=np.inf), table, blocks=True
        )

    def split(self, drawn: Drawn) -> tuple[Drawn, Drawn]:
        """Draws of the parts of either period."""
        end = len(self.before.bin_of_part)
        both = (slice(None, end), slice(end, None))
        first, second = (
            replace(drawn, p_logit=drawn.p_logit[:, some], v=drawn.v[:, some]) for some in both
        )
        return first, second


def _counted_bins(table: IntArray, *, edges: FloatArray, threshold: float) -> ScoreBins:
    """Of rows by kind and bin."""
    labeled = table[[KINDS.index(kind) for kind in POSITIVE]].sum(axis=0)
    return ScoreBins.counted(
        edges=edges, threshold=threshold, rows=table.sum(axis=0), labeled=labeled
    )
