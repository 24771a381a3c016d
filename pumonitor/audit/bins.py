"""Score bins of an audit, from a score table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pumonitor._arrays import FloatArray, IntArray
from pumonitor._entities import LabeledEntities
from pumonitor._joined import entities_of
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

FEWEST: Final = 6
MOST: Final = 14
LABELED_A_BIN: Final = 6
LABELED_SHARE: Final = 0.65
"""Weight of the labeled rows in the mixture whose equal steps bins are; all rows have the rest."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreBins:
    """Bins of neighbouring scores.

    Attributes
    ----------
    edges : ndarray of shape (bins - 1,)
        Inner edges in ascending order; a bin holds edge <= score < next edge.
    above : ndarray of shape (bins,) of bool
        Whether the bin lies at or above the decision threshold, at which one bin begins.
    rows, labeled : ndarray of shape (bins,)
        N and L: all rows, and confirmed positives.
    rank : ndarray of shape (bins,)
        x, the bin's middle rank from -1 (lowest scores) to 1, which the label frequency follows.
    concordance : ndarray of shape (bins,)
        Share of the pairs of a labeled and another row of the bin in which the labeled one scores
        higher, ties counted half: what AUC needs of the inside of a bin. One labeled row more
        is counted, in the middle.
    concordance_error : ndarray of shape (bins,)
        Its standard error; 0 in a bin of one score.
    design_effect : float
        Labeled rows that tell as much as one, where they share entities.
    """

    edges: FloatArray
    above: NDArray[np.bool_]
    rows: IntArray
    labeled: IntArray
    rank: FloatArray
    concordance: FloatArray
    concordance_error: FloatArray
    design_effect: float = 1.0

    @classmethod
    def counted(
        cls, *, edges: ArrayLike, threshold: float, rows: ArrayLike, labeled: ArrayLike
    ) -> ScoreBins:
        """Bins of which only the counts are known: where in a bin its rows are is not."""
        inner = np.asarray(edges, dtype=float)
        all_rows, confirmed = (np.asarray(one, dtype=np.int64) for one in (rows, labeled))
        return cls(
            edges=inner,
            above=np.append(-np.inf, inner) >= threshold,
            rows=all_rows,
            labeled=confirmed,
            rank=_middle_ranks(mixed_mass(confirmed, all_rows)),
            concordance=np.full(len(all_rows), 0.5),
            concordance_error=np.zeros(len(all_rows)),
        )

    def with_order_of(self, table: ScoreTable, *, threshold: float) -> ScoreBins:
        """The same counts with the edges and the concordance of a table of these rows.

        An edge moves to the nearest cell.
        """
        begin, kept = _nearest_starts(table, self.edges, threshold)
        concordance, error = self.concordance.copy(), self.concordance_error.copy()
        concordance[kept], error[kept] = _concordance(table, begin[kept])
        lower = np.append(table.lower, np.nextafter(table.upper[-1], np.inf))
        return replace(
            self,
            edges=np.where(self.edges == threshold, threshold, lower[begin[1:]]),
            concordance=concordance,
            concordance_error=error,
            design_effect=max(self.design_effect, table.rank_design_effect),
        )

    @property
    def unlabeled(self) -> IntArray:
        """Rows that nobody confirmed: those an audit draws from."""
        return self.rows - self.labeled

    @property
    def normal_score(self) -> FloatArray:
        """Normal quantile of the middle rank of each bin among all rows."""
        total = float(self.rows.sum())
        middle = (np.cumsum(self.rows) - 0.5 * self.rows) / total
        return np.asarray(special.ndtri(np.clip(middle, 0.5 / total, 1 - 0.5 / total)))

    def bin_of(self, scores: ArrayLike) -> NDArray[np.intp]:
        """The bin of each score."""
        return np.searchsorted(self.edges, np.asarray(scores, dtype=float), side="right")


def score_bins(table: ScoreTable, *, threshold: float) -> ScoreBins:
    """Bins in equal steps of .65 labeled and .35 row mass, with an edge at the threshold.

    There are 6 to 14, and at least 6 labeled rows a bin on average; fewer where scores are so tied
    that no more can be told apart.

    Parameters
    ----------
    table : ScoreTable
        Without weights. Known negatives count as rows.
    threshold : float

    Raises
    ------
    InputError
        If rows carry weights or propensities, or a cell of the table has the threshold inside.

    Examples
    --------
    >>> scores = np.arange(1000) / 1000
    >>> table = ScoreTable.from_arrays(scores > 0.96, scores, thresholds=[0.9])
    >>> bins = score_bins(table, threshold=0.9)
    >>> bins.rows.tolist(), bins.labeled.tolist()
    ([450, 450, 70, 10, 10, 10], [0, 0, 9, 10, 10, 10])
    """
    _refuse_weights(table)
    mass = _mass(table)
    wanted = int(np.clip(table.n_labeled // LABELED_A_BIN, FEWEST, MOST))
    cut = table.index_of_threshold(threshold)
    return _binned(table, _starts(mass, [cut], wanted), cut, threshold=threshold)


def bins_with_cuts(
    table: ScoreTable, *, threshold: float, cuts: Sequence[float], most: int, labeled_a_bin: float
) -> ScoreBins:
    """The same with an edge at some other scores as well.

    Parameters
    ----------
    table : ScoreTable
        Without weights, with a cell that begins at the threshold and at every cut.
    threshold : float
    cuts : sequence of float
    most : int
        Bins, beside one more for each cut.
    labeled_a_bin : float
        Labeled rows a bin on average, where there are fewer than `most` times as many.

    Raises
    ------
    InputError
        If rows carry weights or propensities, or a cell has the threshold or a cut inside.
    """
    _refuse_weights(table)
    starts = [table.index_of_threshold(edge) for edge in (threshold, *cuts)]
    wanted = int(np.clip(table.n_labeled / labeled_a_bin, FEWEST, most)) + len(cuts)
    return _binned(table, _starts(_mass(table), starts, wanted), starts[0], threshold=threshold)


def bins_between(table: ScoreTable, *, edges: ArrayLike, threshold: float) -> ScoreBins:
    """The rows of a table in bins that were laid out before.

    Parameters
    ----------
    table : ScoreTable
        Without weights, with a cell that begins at every edge.
    edges : array-like of shape (bins - 1,)
        Inner edges in ascending order, the threshold among them if it lies inside the scores.
    threshold : float

    Raises
    ------
    InputError
        If rows carry weights or propensities, a cell has an edge inside, or a bin holds no row.
    """
    _refuse_weights(table)
    starts = [table.index_of_threshold(float(edge)) for edge in np.asarray(edges)]
    return _laid_out(table, starts, edges, threshold)


def bins_along(
    table: ScoreTable, *, edges: ArrayLike, rank: ArrayLike, threshold: float
) -> tuple[ScoreBins, NDArray[np.bool_]]:
    """The rows of another window in the bins of an audit, each with the rank that it has there.

    Tables whose cells were joined each in their own way have few edges in common: a bin begins at
    the nearest cell, and with 2048 cells gets or loses at most about 1 in 2048 of the rows at
    either end. Bins that hold no row are left out; which
    are kept is returned as well.

    Parameters
    ----------
    table : ScoreTable
        Without weights, with a cell that begins at the threshold.
    edges : array-like of shape (bins - 1,)
        Inner edges in ascending order.
    rank : array-like of shape (bins,)
    threshold : float

    Raises
    ------
    InputError
        If rows carry weights or propensities, or the threshold lies inside a cell.
    """
    begin, kept = _nearest_starts(table, edges, threshold)
    cut = table.index_of_threshold(threshold)
    found = _binned(table, begin[kept], cut, threshold=threshold)
    return replace(found, rank=np.asarray(rank, dtype=float)[kept]), kept


def pooled(tables: Sequence[ScoreTable], *, threshold: float) -> ScoreTable:
    """The rows of several tables in the cells of the one with most rows, by the nearest cell.

    `ScoreTable.__add__` is exact, and joins what overlaps: of many tables with different cells
    it leaves few.

    Raises
    ------
    InputError
        If rows carry weights or propensities, or a cell has the threshold inside.
    """
    for one in tables:
        _refuse_weights(one)
    base = max(tables, key=lambda one: one.n_labeled + one.n_unlabeled + one.n_negative)
    cut = base.index_of_threshold(threshold)
    sums = np.zeros((3, len(base)), dtype=np.int64)
    for one in tables:
        place = np.searchsorted(base.lower, 0.5 * (one.lower + one.upper), side="right") - 1
        above = np.arange(len(one)) >= one.index_of_threshold(threshold)
        place = np.where(above, np.maximum(place, cut), np.minimum(place, cut - 1))
        # The largest table may have no row on one side of the threshold.
        place = np.clip(place, 0, len(base) - 1)
        for counted, rows in zip(sums, (one.labeled, one.unlabeled, one.negative), strict=True):
            np.add.at(counted, place, rows.astype(np.int64))
    entities = None
    if any(one.entities is not None for one in tables):
        entities = reduce(LabeledEntities.followed_by, map(entities_of, tables))
    together = ScoreTable.from_counts(
        sums[0], sums[1], negative=sums[2], lower=base.lower, upper=base.upper
    )
    return replace(together, entities=entities)


def _nearest_starts(
    table: ScoreTable, edges: ArrayLike, threshold: float
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The cell at which each bin begins, and whether there is one before the next bin begins."""
    _refuse_weights(table)
    inner, cut = np.asarray(edges, dtype=float), table.index_of_threshold(threshold)
    begin = np.array([0, *(_nearest(table, float(one), threshold, cut) for one in inner)], np.intp)
    return begin, np.diff(np.append(begin, len(table))) > 0


def _nearest(table: ScoreTable, edge: float, threshold: float, cut: int) -> int:
    """The cell that begins nearest to an edge, on the same side of the threshold."""
    place = int(np.searchsorted(table.lower, edge, side="left"))
    if place > 0 and table.upper[place - 1] >= edge:
        low, high = table.lower[place - 1], table.upper[place - 1]
        place -= int(edge - low < high - edge)
    if edge == threshold:
        return cut
    return min(place, cut) if edge < threshold else max(place, cut)


def _laid_out(
    table: ScoreTable, starts: Sequence[int], edges: ArrayLike, threshold: float
) -> ScoreBins:
    """Bins that begin at these cells, and at the first."""
    begin = np.array([0, *starts], np.intp)
    if np.any(np.diff(np.append(begin, len(table))) <= 0):
        msg = (
            "a score bin of the audit holds no row of these: they are not the rows that it was "
            "drawn from"
        )
        raise InputError(msg)
    found = _binned(table, begin, table.index_of_threshold(threshold), threshold=threshold)
    return replace(found, edges=np.asarray(edges, dtype=float))


def _refuse_weights(table: ScoreTable) -> None:
    if table.weights is not None or table.has_propensities:
        msg = "an audit needs rows that count one each; leave out weights and propensities"
        raise InputError(msg)


def _rows(table: ScoreTable) -> FloatArray:
    return np.asarray(table.labeled + table.unlabeled + table.negative)


def _mass(table: ScoreTable) -> FloatArray:
    """Of each cell in the mixture of labeled and all rows."""
    return mixed_mass(table.labeled, _rows(table))


def mixed_mass(labeled: NDArray[Any], rows: NDArray[Any]) -> FloatArray:
    """Shares in the mixture of .65 labeled and .35 all rows; of all rows if none is labeled."""
    share = LABELED_SHARE if labeled.sum() > 0 else 0.0
    mass = share * labeled / max(labeled.sum(), 1)
    return np.asarray(mass + (1 - share) * rows / rows.sum())


def _middle_ranks(mass: FloatArray) -> FloatArray:
    """Of neighbouring parts of a whole, from -1 to 1."""
    return np.asarray(2 * (np.cumsum(mass) - 0.5 * mass) - 1)


def _binned(
    table: ScoreTable, starts: NDArray[np.intp], cut: int, *, threshold: float
) -> ScoreBins:
    """Bins that begin at some of the cells."""
    mass = _mass(table)
    below = np.cumsum(mass) - mass
    sums = np.add.reduceat(mass, starts)
    concordance, error = _concordance(table, starts)
    return ScoreBins(
        edges=np.where(starts == cut, threshold, table.lower[starts])[1:],
        above=starts >= cut,
        rows=np.add.reduceat(_rows(table), starts).astype(np.int64),
        labeled=np.add.reduceat(table.labeled, starts).astype(np.int64),
        rank=2 * (below[starts] + 0.5 * sums) - 1,
        concordance=concordance,
        concordance_error=error,
        design_effect=table.rank_design_effect,
    )


def _starts(mass: FloatArray, cuts: Sequence[int], wanted: int) -> NDArray[np.intp]:
    """The first cell of each bin: equal steps between any two of the cells that must begin one."""
    ends = np.unique([0, *cuts, len(mass)])
    below = np.append(0.0, np.cumsum(mass))[ends]
    after = np.rint(wanted * below / below[-1]).astype(int)
    each = np.arange(len(ends))
    # One bin at least on either side of each end.
    after = np.minimum(np.maximum.accumulate(np.maximum(after - each, 0)) + each, wanted)
    after = np.minimum(after, wanted - each[::-1])
    found: list[int] = []
    for low, high, bins in zip(ends, ends[1:], np.diff(after), strict=False):
        share = float(mass[low:high].sum())
        middles = np.cumsum(mass[low:high]) - 0.5 * mass[low:high]
        steps = np.arange(1, bins) / bins * share
        found += [low, *(low + np.searchsorted(middles, steps)).tolist()]
    return np.unique(np.minimum(np.array(found, dtype=np.intp), len(mass) - 1))


def _concordance(table: ScoreTable, starts: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Share of pairs of one bin in which the labeled row is above, and its standard error.

    The rank of a labeled row among the others of its bin is about uniform: variance 1/12, less by
    ties.
    """
    others = table.unlabeled + table.negative
    below = np.cumsum(others) - others
    ends = np.append(starts[1:], len(others))
    below = below - np.repeat(below[starts], ends - starts)
    won = np.add.reduceat(table.labeled * (below + 0.5 * others), starts)
    count = np.maximum(np.add.reduceat(others, starts), 1)
    labeled = np.add.reduceat(table.labeled, starts)
    share = (won / count + 0.5) / (labeled + 1)
    tied = np.where(table.lower == table.upper, others, 0) / np.repeat(count, ends - starts)
    variance = (1 - np.add.reduceat(tied**3, starts)) / 12
    return np.asarray(share), np.sqrt(variance / (labeled + 1))
