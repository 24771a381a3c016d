"""Rows whose confirmed positives are a fair sample of all: what their positives are worth."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.bins import ScoreBins, bins_with_cuts
from pumonitor.audit.placing import draw_hidden
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.rates import share_draws_at
from pumonitor.metrics.window_target import window_prior
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.positives import ValuedRows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_DRAWS: Final = 2000
_MOST: Final = 20
_LABELED_A_BIN: Final = 8
_PRIOR_COUNT: Final = 0.5
_LEAST: Final = 1e-9
_MOST_HIDDEN: Final = 0.999


def draws_with_fair_labels(
    values: FloatArray,
    labels: NDArray[np.int8],
    scores: NDArray[Any],
    table: ScoreTable,
    class_prior: ClassPriorEstimate,
    *,
    threshold: float,
    confidence_level: float,
    rng: int | np.random.Generator | None,
) -> ValueDraws:
    """Draws of what the positives of each score bin are worth.

    Parameters
    ----------
    values : ndarray of shape (n,)
    labels : ndarray of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : ndarray of shape (n,)
    table : ScoreTable
        Of these rows, without weights, with a cell that begins at the threshold.
    class_prior : ClassPriorEstimate
    threshold, confidence_level, rng
        As in `pumonitor.evaluate`.
    """
    problem = make_problem(
        table, class_prior, target="window", confidence_level=confidence_level, rng=rng
    )
    bins = bins_with_cuts(
        table, threshold=threshold, cuts=(), most=_MOST, labeled_a_bin=_LABELED_A_BIN
    )
    bin_of_row = bins.bin_of(scores)
    is_silent = labels == 0
    silent = np.bincount(bin_of_row[is_silent], minlength=len(bins.rows)).astype(np.int64)
    rows = ValuedRows(
        values=values,
        bin_of_row=bin_of_row,
        is_known=labels == 1,
        is_silent=is_silent,
        is_fair=np.ones(len(values), dtype=bool),
    )
    hidden = _hidden_draws(problem, bins, silent, threshold=threshold)
    return rows.draws(hidden, bins, method="confidence draws of the counts")


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
