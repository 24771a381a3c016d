"""Score bins of an audit, from a score table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

__all__ = ["ScoreBins", "bins_between", "score_bins"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

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
    """

    edges: FloatArray
    above: NDArray[np.bool_]
    rows: IntArray
    labeled: IntArray
    rank: FloatArray
    concordance: FloatArray
    concordance_error: FloatArray

    @property
    def unlabeled(self) -> IntArray:
        """Rows that nobody confirmed: those an audit draws from."""
        return self.rows - self.labeled

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
    return _binned(table, _starts(mass, cut, wanted), cut, threshold=threshold)


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
    inner = np.asarray(edges, dtype=float)
    starts = np.array([0, *(table.index_of_threshold(float(edge)) for edge in inner)], np.intp)
    if np.any(np.diff(np.append(starts, len(table))) <= 0):
        msg = (
            "a score bin of the audit holds no row of these: they are not the rows that it was "
            "drawn from"
        )
        raise InputError(msg)
    found = _binned(table, starts, table.index_of_threshold(threshold), threshold=threshold)
    return replace(found, edges=inner)


def _refuse_weights(table: ScoreTable) -> None:
    if table.weights is not None or table.has_propensities:
        msg = "an audit needs rows that count one each; leave out weights and propensities"
        raise InputError(msg)


def _rows(table: ScoreTable) -> FloatArray:
    return np.asarray(table.labeled + table.unlabeled + table.negative)


def _mass(table: ScoreTable) -> FloatArray:
    """Of each cell in the mixture of labeled and all rows."""
    rows = _rows(table)
    mass = LABELED_SHARE * table.labeled / table.labeled.sum()
    return np.asarray(mass + (1 - LABELED_SHARE) * rows / rows.sum())


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
    )


def _starts(mass: FloatArray, cut: int, wanted: int) -> NDArray[np.intp]:
    """The first cell of each bin: equal steps on either side of the threshold's cell."""
    sides = [(0, cut), (cut, len(mass))]
    shares = [float(mass[low:high].sum()) for low, high in sides]
    upper = int(np.clip(round(wanted * shares[1]), 1, wanted - 1))
    found: list[int] = []
    for (low, high), share, bins in zip(sides, shares, (wanted - upper, upper), strict=True):
        if high > low:
            steps = np.arange(bins) / bins * share
            middles = np.cumsum(mass[low:high]) - 0.5 * mass[low:high]
            found += [low, *(low + np.searchsorted(middles, steps[1:])).tolist()]
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
