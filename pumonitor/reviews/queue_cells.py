"""Rows counted by cells of two scores: the model's, and the one that filled the queue.

Why positives are estimated along the queue's score: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import IntArray
from pumonitor._reviewed import QueueBins, ReviewedRows
from pumonitor.audit.bins import ScoreBins, bins_with_cuts
from pumonitor.reviews.bins import (
    LABELED_A_BIN,
    MOST,
    cuts_of_scores,
    labels_of_kinds,
    lowest_of_stopped,
)
from pumonitor.reviews.counts import KINDS, POSITIVE, ReviewCounts
from pumonitor.reviews.queue_score import SURELY_NEGATIVE, ModelBins, QueueRows
from pumonitor.reviews.reading import ReviewedEstimates, read_reviews
from pumonitor.reviews.unequal_chances import sums_of_odds
from pumonitor.tables import ScoreTable

_STOPPED: Final = KINDS.index("stopped")
_POSITIVE: Final = [KINDS.index(kind) for kind in POSITIVE]
_NEGATIVE: Final = [KINDS.index(kind) for kind in SURELY_NEGATIVE]


def count_by_queue(
    *,
    kinds: NDArray[np.intp],
    left: NDArray[np.bool_],
    probability: NDArray[np.float64] | None,
    ranked: NDArray[np.bool_],
    number: IntArray,
    cell: NDArray[np.intp],
    cells: int,
    queue_lower: NDArray[np.float64],
    rules: tuple[str, ...],
) -> ReviewedRows:
    """Groups of rows by kind, by cell of the model and by bin of the score that filled the queue.

    Parameters
    ----------
    kinds : ndarray of shape (groups,)
        Index into `KINDS`.
    left : ndarray of shape (groups,) of bool
        Which the queue could have taken and did not.
    probability : ndarray of shape (groups,), optional
        With which rows were drawn at random, where these chances differ; NaN of others.
    ranked : ndarray of shape (groups,) of bool
        Taken by a queue for their score.
    number : ndarray of shape (groups,)
        Rows.
    cell : ndarray of shape (groups,)
        Of the model's score, of so many `cells`.
    queue_lower : ndarray of shape (groups,)
        Where the cell of the queue's score begins.
    rules : tuple of str

    Raises
    ------
    InputError
        If no row is known to be positive, or every one is.
    """
    lower, place = np.unique(queue_lower, return_inverse=True)
    cuts = cuts_of_scores(queue_lower[ranked], queue_lower[left], all_scores=lower)
    stopped = kinds == _STOPPED
    edges = lowest_of_stopped(queue_lower[stopped], queue_lower[~stopped])
    label = labels_of_kinds(kinds)
    labeled, others = (
        np.bincount(place, weights=number * chosen, minlength=len(lower)).astype(np.int64)
        for chosen in (label == 1, label != 1)
    )
    table = ScoreTable.from_counts(labeled, others, lower=lower, upper=lower)
    edge = cuts[0] if cuts else float(lower[len(lower) // 2])
    bins = bins_with_cuts(
        table, threshold=edge, cuts=(*cuts, *edges), most=MOST, labeled_a_bin=LABELED_A_BIN
    )
    size = len(bins.rows)
    queue_bin = bins.bin_of(queue_lower)

    def counted(
        first: NDArray[np.intp], second: NDArray[np.intp], shape: tuple[int, int]
    ) -> IntArray:
        index = first * shape[1] + second
        summed = np.bincount(index, weights=number, minlength=shape[0] * shape[1])
        return np.rint(summed).astype(np.int64).reshape(shape)

    by_kind = counted(kinds * size + queue_bin, cell, (len(KINDS) * size, cells))
    by_kind = by_kind.reshape(len(KINDS), size, cells)
    return ReviewedRows(
        kinds=by_kind.sum(axis=1).astype(np.float64),
        cuts=cuts,
        edges=(),
        rules=rules,
        queue=QueueBins(
            edges=tuple(bins.edges.tolist()),
            kinds=by_kind.sum(axis=2),
            known=by_kind[_POSITIVE].sum(axis=0).astype(np.float64),
            possible=np.delete(by_kind, _NEGATIVE, axis=0).sum(axis=0).astype(np.float64),
            odds=None
            if probability is None
            else sums_of_odds(kinds, probability, rows=number, index=queue_bin, size=size),
        ),
    )


def read_along_model(
    queue: QueueBins,
    model: ReviewCounts,
    bin_of_cell: NDArray[np.intp],
    *,
    cuts: tuple[float, ...],
    **settings: Any,
) -> ReviewedEstimates:
    """What reviews and complaints say of a model whose score did not fill the queue.

    Parameters
    ----------
    queue : QueueBins
    model : ReviewCounts
        Of the same rows by bin of the model's score.
    bin_of_cell : ndarray of shape (cells,)
        Which bin of the model's score each cell is in.
    cuts : tuple of float
        Of the queue's score.
    **settings
        As in `pumonitor.reviews.reading.read_reviews`.
    """
    bins = ScoreBins.counted(
        edges=queue.edges,
        threshold=cuts[0] if cuts else np.inf,
        rows=queue.kinds.sum(axis=0),
        labeled=queue.kinds[_POSITIVE].sum(axis=0),
    )
    # Scores inside a bin differ: where some of its rows were reviewed these are no fair sample.
    bins = replace(
        bins, concordance_error=np.ones(len(bins.rows)), design_effect=queue.design_effect
    )
    counts = ReviewCounts.of_table(bins, queue.kinds, blocks=model.blocks, odds=queue.odds)
    queue_bin, cell = np.nonzero(queue.possible)
    rows = QueueRows(
        counts=counts,
        bin_of_row=queue_bin,
        known=queue.known[queue_bin, cell],
        possible=queue.possible[queue_bin, cell],
    )
    return rows.read_along(
        read_reviews(counts, cuts=cuts, **settings), ModelBins(model, bin_of_cell[cell])
    )
