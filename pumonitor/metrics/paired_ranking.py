"""Paired intervals for differences of AUL and AUC between two models on the same rows.

The error of each model's observed AUL is mean_G(u) + mean_F(v) to first order, with u the
placement of a labeled row in the population and v the share of labeled rows above a row, each less
its mean. That of the difference is the same with u_a - u_b and v_a - v_b, row by row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.influence import standard_error
from pumonitor.metrics.paired import ModelOnRows, difference_range
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.window_target import window_prior, window_ratio
from pumonitor.results import Estimate
from pumonitor.tables import ScoreTable

_PSEUDO_ROW = 1 / 8
_METHOD = "Student t of the paired placements"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftDifference:
    """Difference of the observed AUL of two models, with confidence draws."""

    problem: Problem
    value: float
    draws: FloatArray


def lift_difference(first: ModelOnRows, second: ModelOnRows, rows: ScoreTable) -> LiftDifference:
    """Difference of the mean placements of the labeled rows by two models.

    Notes
    -----
    Student's t on the plain scale: a difference is no share, and its distribution is nearly
    symmetrical even where those of its terms are not. (Drawing both terms together on the logit
    scale held the truth as often, with intervals up to 12% wider at AUC .97 and 20 labeled rows.)
    As for one model, an eighth of a row placed at random stands for placements a small sample has
    not shown; here it is a row of the population, and how far the two models place it apart.
    """
    value = _lift_influence(first.problem)[0] - _lift_influence(second.problem)[0]
    error, degrees = paired_standard_error(first, second, rows)
    problem = first.on_rows(rows)
    error = np.hypot(error, _unseen_spread(first, second, problem))
    noise = _t_noise(error, degrees, problem.generator("paired ranking"))
    return LiftDifference(problem=problem, value=value, draws=value + noise)


def paired_standard_error(
    first: ModelOnRows, second: ModelOnRows, rows: ScoreTable
) -> tuple[FloatArray | float, float]:
    """Standard error and degrees of freedom of the difference of two observed AUL."""
    (_, u, v), (_, other_u, other_v) = map(_lift_influence, (first.problem, second.problem))
    return standard_error(
        first.on_rows(rows),
        u[first.cells] - other_u[second.cells],
        v[first.cells] - other_v[second.cells],
    )


def _unseen_spread(first: ModelOnRows, second: ModelOnRows, problem: Problem) -> FloatArray | float:
    apart = _lift_influence(first.problem)[1][first.cells]
    apart -= _lift_influence(second.problem)[1][second.cells]
    population = problem.population
    variance = _PSEUDO_ROW * float(np.sum(population * apart**2) / np.sum(population))
    variance /= (problem.labeled_size + 1) ** 2
    if problem.target == "window":
        ratio = window_ratio(first.problem, 0, class_prior=window_prior(first.problem))
        return np.asarray(np.sqrt(variance * ratio))
    return math.sqrt(variance)


def _t_noise(error: FloatArray | float, degrees: float, rng: np.random.Generator) -> FloatArray:
    """Midpoints of equal strata in random order: quantiles without Monte-Carlo error."""
    if not np.any(np.asarray(error) > 0):
        return np.zeros(DRAWS)
    uniform = (rng.permutation(DRAWS) + 0.5) / DRAWS
    return np.asarray(error * special.stdtrit(max(degrees, 1.0), uniform))


def _lift_influence(problem: Problem) -> tuple[float, FloatArray, FloatArray]:
    """Observed AUL and its influence functions u and v, one value per cell."""
    population = problem.population
    below = np.cumsum(population) - population
    placement = (below + 0.5 * population) / float(population.sum())
    value = float(np.sum(problem.labeled_share * placement))
    beaten_by = problem.labeled_above[1:] + 0.5 * problem.labeled_share
    return value, placement - value, beaten_by - value


def aul_difference(lift: LiftDifference, *, value: float) -> Estimate:
    """Difference of AUL: (1 - pi) / (b - pi) times that of the observed lift, which is 1 for b = 1.

    `value` is the difference of the two estimates.
    """
    purity = lift.problem.label_purity

    def stretch(prior: FloatArray | float) -> FloatArray:
        return (1 - np.asarray(prior)) / (purity - np.asarray(prior))

    depends_on_prior = purity < 1.0
    return _stretched(
        lift, "aul_difference", stretch, value=value, depends_on_prior=depends_on_prior
    )


def auc_difference(lift: LiftDifference, *, value: float) -> Estimate:
    """Difference of AUC: that of the observed lift over b - pi.

    `value` is the difference of the two estimates.
    """
    purity = lift.problem.label_purity

    def stretch(prior: FloatArray | float) -> FloatArray:
        return 1 / (purity - np.asarray(prior))

    return _stretched(lift, "auc_difference", stretch, value=value, depends_on_prior=True)


def _stretched(
    lift: LiftDifference,
    name: str,
    stretch: Callable[[FloatArray | float], FloatArray],
    *,
    value: float,
    depends_on_prior: bool,
) -> Estimate:
    """Estimate of the lift's difference times a factor that the class prior determines."""
    problem = lift.problem
    sampling = lift.draws * stretch(problem.class_prior.value)
    both, by_prior = sampling, None
    if depends_on_prior and problem.prior_draws is not None:
        factors = stretch(problem.prior_draws)
        both, by_prior = lift.draws * factors, lift.value * factors
    return estimate_from_draws(
        problem,
        name,
        value,
        both,
        sampling=sampling,
        prior=by_prior,
        method=_METHOD,
        value_range=difference_range((0.0, 1.0)),
    )
