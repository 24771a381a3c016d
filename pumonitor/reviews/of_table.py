"""Reviews of the rows of a table that was counted by kind: those of a monitor's window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pumonitor.audit.bins import bins_with_cuts
from pumonitor.reviews.bins import LABELED_A_BIN, MOST
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.earlier import EarlierWindows
from pumonitor.reviews.kinds_by_bin import bin_of_cell, kinds_by_bin, reviewed_rows, sum_by_bin
from pumonitor.reviews.queue_cells import read_along_model
from pumonitor.reviews.reading import ReviewedEstimates, read_reviews
from pumonitor.tables import ScoreTable

__all__ = ["read_table"]


def read_table(
    table: ScoreTable,
    *,
    threshold: float,
    blocks: bool,
    detection_rate: tuple[float, float] | None = None,
    complaint_rate: tuple[float, float] | None = None,
    is_early: bool = False,
    earlier: EarlierWindows | None = None,
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
    earlier : EarlierWindows, optional
        What was known of windows before, all complaints having come.
    confidence_level, f_beta : float

    Raises
    ------
    InputError
        If nobody counted what reviews say of the rows.
    """
    reviewed = reviewed_rows(table)
    read: Callable[..., ReviewedEstimates] = read_reviews
    if earlier is not None:
        counts, before = earlier.beside(table, threshold=threshold, blocks=blocks)
        read = partial(read_reviews, earlier=before)
    else:
        bins = bins_with_cuts(
            table,
            threshold=threshold,
            cuts=() if reviewed.queue is not None else (*reviewed.cuts, *reviewed.edges),
            most=MOST,
            labeled_a_bin=LABELED_A_BIN,
        )
        odds = reviewed.odds
        counts = ReviewCounts.of_table(
            bins,
            kinds_by_bin(table, bins.edges),
            blocks=blocks,
            odds=None if odds is None else sum_by_bin(table, bins.edges, odds),
        )
        if reviewed.queue is not None:
            read = partial(
                read_along_model, reviewed.queue, bin_of_cell=bin_of_cell(table, bins.edges)
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
