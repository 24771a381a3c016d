"""Rows whose confirmed positives are a fair sample of all: what their positives are worth."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._valued import ValuedRows
from pumonitor.audit.bins import ScoreBins, bins_with_cuts
from pumonitor.audit.placing import draw_hidden
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.rates import share_draws_at
from pumonitor.metrics.window_target import window_prior
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.positives import BinnedRows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_DRAWS: Final = 2000
_MOST: Final = 20
_LABELED_A_BIN: Final = 8
_PRIOR_COUNT: Final = 0.5
_LEAST: Final = 1e-9
_MOST_HIDDEN: Final = 0.999


def draws_with_fair_labels(valued: ValuedRows, problem: Problem, *, threshold: float) -> ValueDraws:
    """Draws of what the positives of each score bin are worth.

    Parameters
    ----------
    valued : ValuedRows
    problem : Problem
        Of a table of these rows without weights, with a cell that begins at the threshold.
    threshold : float
    """
    table = problem.table
    problem = make_problem(
        table,
        problem.class_prior,
        target="window",
        confidence_level=problem.confidence_level,
        rng=problem.seed,
    )
    bins = bins_with_cuts(
        table, threshold=threshold, cuts=(), most=_MOST, labeled_a_bin=_LABELED_A_BIN
    )
    rows = BinnedRows(
        valued=valued,
        bins=bins,
        bin_of_row=bins.bin_of(valued.score),
        is_known=valued.state == 1,
        is_silent=valued.state == 0,
        is_fair=np.ones(len(valued.score), dtype=bool),
    )
    in_bins = np.bincount(rows.bin_of_row, valued.rows * rows.is_silent, minlength=len(bins.rows))
    hidden = _hidden_draws(problem, bins, in_bins.astype(np.int64), threshold=threshold)
    return rows.draws(hidden, method="confidence draws of the counts")


def _hidden_draws(
    problem: Problem, bins: ScoreBins, silent: IntArray, *, threshold: float
) -> FloatArray:
    """Draws of the hidden positives of each bin, of these very rows, shape (draws, bins).

    Recall and class prior say how many lie on either side of the threshold. On one side they lie
    as the labeled ones do, with half a labeled row more in each bin (Dirichlet), and in no bin more
    than it has unlabeled rows.
    """
    rng = problem.generator("hidden positives by score bin")
    recall = share_draws_at(problem, problem.table.index_of_threshold(threshold)).labeled_above
    chosen = rng.choice(len(recall), _DRAWS, replace=False)
    recall = recall[chosen]
    prior = np.broadcast_to(window_prior(problem), DRAWS)[chosen]
    positives = float(bins.rows.sum()) * prior
    hidden = np.zeros((_DRAWS, len(bins.rows)))
    for side, share in ((bins.above, recall), (~bins.above, 1 - recall)):
        if not side.any():
            continue
        labeled, room = bins.labeled[side], silent[side]
        number = np.clip(np.rint(positives * share) - labeled.sum(), 0, room.sum())
        weight = rng.standard_gamma(labeled + _PRIOR_COUNT, (_DRAWS, len(labeled)))
        weight *= (number / weight.sum(axis=1))[:, np.newaxis]
        chance = np.clip(weight / np.maximum(room, 1), _LEAST, _MOST_HIDDEN)
        hidden[:, side] = draw_hidden(number, chance / (1 - chance), room, rng)
    return hidden
