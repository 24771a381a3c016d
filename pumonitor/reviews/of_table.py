"""Reviews of the rows of a table that was counted by kind: those of a monitor's window."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from pumonitor._reviewed import ReviewedRows
from pumonitor.audit.bins import bins_with_cuts
from pumonitor.errors import InputError
from pumonitor.reviews.bins import LABELED_A_BIN, MOST
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.queue_cells import read_along_model
from pumonitor.reviews.reading import ReviewedEstimates, read_reviews
from pumonitor.tables import ScoreTable

__all__ = ["kinds_by_bin", "read_table"]

IntArray = NDArray[np.int64]


def kinds_by_bin(table: ScoreTable, edges: NDArray[np.float64]) -> IntArray:
    """Rows of each of `KINDS` by bin, shape (kinds, bins); a cell is in the bin of its middle.

    Raises
    ------
    InputError
        If nobody counted what reviews say of the rows.
    """
    return np.rint(_by_bin(table, edges, _reviewed(table).kinds)).astype(np.int64)


def _by_bin(
    table: ScoreTable, edges: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums over the cells of each bin."""
    bin_of_cell = _bin_of_cell(table, edges)
    return np.stack(
        [np.bincount(bin_of_cell, weights=of_kind, minlength=len(edges) + 1) for of_kind in rows]
    )


def read_table(
    table: ScoreTable,
    *,
    threshold: float,
    blocks: bool,
    detection_rate: tuple[float, float] | None = None,
    complaint_rate: tuple[float, float] | None = None,
    is_early: bool = False,
    confidence_level: float = 0.95,
    f_beta: float = 2.0,
) -> ReviewedEstimates:
    """What reviews and complaints say of the rows of a table.

    It is wrong where `pumonitor.Reviews` is.

    Parameters
    ----------
    table : ScoreTable
        With `reviewed`; a cell begins at the threshold.
    threshold : float
    blocks : bool
        Whether a positive verdict blocks the case.
    detection_rate, complaint_rate : (float, float), optional
        As in `pumonitor.evaluate`.
    is_early : bool
        Whether complaints are still to come.
    confidence_level, f_beta : float

    Raises
    ------
    InputError
        If nobody counted what reviews say of the rows.
    """
    reviewed = _reviewed(table)
    bins = bins_with_cuts(
        table,
        threshold=threshold,
        cuts=() if reviewed.queue is not None else (*reviewed.cuts, *reviewed.edges),
        most=MOST,
        labeled_a_bin=LABELED_A_BIN,
    )
    counts = ReviewCounts.of_table(
        bins,
        kinds_by_bin(table, bins.edges),
        blocks=blocks,
        odds=None if reviewed.odds is None else _by_bin(table, bins.edges, reviewed.odds),
    )
    read = read_reviews
    if reviewed.queue is not None:
        read = partial(
            read_along_model, reviewed.queue, bin_of_cell=_bin_of_cell(table, bins.edges)
        )
    return read(
        counts,
        cuts=reviewed.cuts,
        rules=reviewed.rules,
        detection_rate=detection_rate,
        complaint_rate=complaint_rate,
        is_early=is_early,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )


def _bin_of_cell(table: ScoreTable, edges: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.searchsorted(edges, 0.5 * (table.lower + table.upper), side="right")


def _reviewed(table: ScoreTable) -> ReviewedRows:
    if table.reviewed is None:
        msg = "the table does not say what reviews say of its rows"
        raise InputError(msg)
    return table.reviewed
