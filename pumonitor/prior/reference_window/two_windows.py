"""A window and its reference as samples on the same score cells, whatever cells each came in."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.reference import Reference
from pumonitor.prior.samples.two_samples import TwoSamples
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable


def two_windows(
    window: ScoreTable, reference: ScoreTable, *, prior: ClassPriorEstimate
) -> TwoSamples:
    """Both windows on the cells of the coarser table, their labeled rows pooled.

    Windows binned on the same edges are compared exactly. Elsewhere a cell of the finer table that
    a cut goes through is split in proportion. Labeled rows are pooled since positives score alike
    in both, or there is nothing to be had from the reference.

    Parameters
    ----------
    window, reference : ScoreTable
    prior : ClassPriorEstimate
        Of the reference window, its `unlabeled_prior` filled in.
    """
    coarser = min(window, reference, key=len)
    cuts = 0.5 * (coarser.upper[:-1] + coarser.lower[1:])

    def laid(table: ScoreTable, rows: FloatArray) -> FloatArray:
        below = shares_below(cuts, table, rows)
        return np.diff(below, prepend=0.0, append=1.0)[np.newaxis]

    here, earlier = window.labeled.sum(), reference.labeled.sum()
    labeled = here * laid(window, window.labeled) + earlier * laid(reference, reference.labeled)
    labeled_squares = window.labeled_squares.sum() + reference.labeled_squares.sum()
    return TwoSamples(
        scores=0.5 * (coarser.lower + coarser.upper),
        labeled=labeled / (here + earlier),
        unlabeled=laid(window, window.unlabeled),
        n_labeled=float((here + earlier) ** 2 / labeled_squares),
        n_unlabeled=float(window.unlabeled.sum() ** 2 / window.unlabeled_squares.sum()),
        reference=Reference(
            unlabeled=laid(reference, reference.unlabeled),
            n_unlabeled=float(reference.unlabeled.sum() ** 2 / reference.unlabeled_squares.sum()),
            prior=prior,
        ),
    )


def shares_below(cuts: FloatArray, table: ScoreTable, rows: FloatArray) -> FloatArray:
    """Share of `rows`, one number per cell of the table, that score below each cut.

    Rows are spread evenly over their cell; a cell of one score is at or above a cut at that score.

    Examples
    --------
    >>> table = ScoreTable.from_counts([1, 1, 2], [1, 1, 1], lower=[0, 2, 3], upper=[2, 2, 5])
    >>> shares_below(np.array([0.0, 2.0, 2.5, 4.0]), table, table.labeled).tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    before = np.concatenate([[0.0], np.cumsum(rows)])
    cell = np.searchsorted(table.lower, cuts, side="left") - 1  # the last that begins below
    begun = np.maximum(cell, 0)
    width = (table.upper - table.lower)[begun]
    into = np.where(width > 0, (cuts - table.lower[begun]) / np.where(width > 0, width, 1.0), 1.0)
    below = before[begun] + rows[begun] * np.clip(into, 0.0, 1.0)
    return np.asarray(np.where(cell >= 0, below, 0.0) / before[-1])
