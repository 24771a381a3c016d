"""Rows whose confirmed positives are a fair sample of all: what their positives are worth."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._valued import ValuedRows
from pumonitor.audit.bins import ScoreBins, bins_with_cuts
from pumonitor.audit.components import Components, Normal
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.laplace import draw_posterior
from pumonitor.audit.likelihood import AuditLikelihood
from pumonitor.audit.placing import draw_hidden
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.rates import share_draws_at
from pumonitor.metrics.window_target import window_prior
from pumonitor.reviews.believed import of_positives
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.positives import BinnedRows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_DRAWS: Final = 2000
_MOST: Final = 20
_LABELED_A_BIN: Final = 8
_FREQUENCY: Final = (1e-4, 1 - 1e-4)
_SAME: Final = 0.001
"""Standard deviation by which -logit of the label frequency differs between bins: labels are fair,
and a covariance must have an inverse."""


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

    Recall and class prior say how many lie on either side of the threshold, the share of positives
    by score, a smooth curve, in which bins. Where labeled rows share entities they count
    as fewer, and hidden ones come several at a time.
    """
    rng = problem.generator("hidden positives by score bin")
    recall = share_draws_at(problem, problem.table.index_of_threshold(threshold)).labeled_above
    chosen = rng.choice(len(recall), _DRAWS, replace=False)
    recall = recall[chosen]
    prior = np.broadcast_to(window_prior(problem), DRAWS)[chosen]
    positives = float(bins.rows.sum()) * prior
    odds = _hidden_odds(bins, positives, rng)
    hidden = np.zeros(odds.shape)
    for side, share in ((bins.above, recall), (~bins.above, 1 - recall)):
        room = silent[side]
        number = np.rint(positives * share) - bins.labeled[side].sum()
        hidden[:, side] = draw_hidden(
            np.clip(number, 0, room.sum()), odds[:, side], room, rng, group=bins.design_effect
        )
    return hidden


def _hidden_odds(bins: ScoreBins, positives: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws of the odds that an unlabeled row of each bin is positive, given so many positives."""
    away = bins.normal_score - bins.normal_score[int(np.argmax(bins.above))]
    frequency = np.clip(bins.labeled.sum() / np.maximum(positives, 1), *_FREQUENCY)
    v = -special.logit(frequency)
    of_v = Normal(np.full(len(away), v.mean()), _SAME**2 * np.eye(len(away)))
    drawn = draw_posterior(
        AuditLikelihood(counts=AuditCounts.of(bins, decided=0, positive=0)),
        Components.of(of_p=of_positives(away), of_v=of_v, level=float(v.std()), levels=1),
        detection=None,
        overall=None,
        size=len(positives),
        rng=rng,
    )
    return np.asarray(np.exp(drawn.p_logit) * special.expit(drawn.v))
