"""Reviews of the rows of a table that was counted by kind: those of a monitor's window."""

from __future__ import annotations

import numpy as np

from pumonitor.audit.bins import bins_with_cuts
from pumonitor.errors import InputError
from pumonitor.reviews.bins import LABELED_A_BIN, MOST
from pumonitor.reviews.counts import ReviewCounts
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
    reviewed = table.reviewed
    if reviewed is None:
        msg = "the table does not say what reviews say of its rows"
        raise InputError(msg)
    bins = bins_with_cuts(
        table,
        threshold=threshold,
        cuts=(*reviewed.cuts, *reviewed.edges),
        most=MOST,
        labeled_a_bin=LABELED_A_BIN,
    )
    size = len(bins.rows)
    place = bins.bin_of(table.lower)
    counted = np.stack(
        [np.bincount(place, weights=rows, minlength=size) for rows in reviewed.kinds]
    )
    return read_reviews(
        ReviewCounts.of_table(bins, np.rint(counted).astype(np.int64), blocks=blocks),
        cuts=reviewed.cuts,
        rules=reviewed.rules,
        detection_rate=detection_rate,
        complaint_rate=complaint_rate,
        is_early=is_early,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )
