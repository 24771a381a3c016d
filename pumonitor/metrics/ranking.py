"""AUL, AUC and average precision from one pass over the cells; their influence functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pumonitor.metrics.influence import standard_error
from pumonitor.metrics.problem import DRAWS, Problem
from pumonitor.stats.confidence_draws import logit_t_draws

__all__ = ["ObservedLift", "observed_lift"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLift:
    """P(labeled row scores above a random row) + half the ties, with confidence draws."""

    value: float
    draws: FloatArray
    standard_error: float
    method: str


def observed_lift(problem: Problem) -> ObservedLift:
    """The observed AUL: mean placement of the labeled rows in the population (equation 4).

    The interval is Student's t on the logit scale around the sum of placements, with variances
    from both samples. With no spread at all (every labeled row above everything else) it is the
    bound that a placement below 1 had not been seen in n_L rows, which is exact.
    """
    table = problem.table
    population = problem.population
    below = np.concatenate([[0.0], np.cumsum(population)[:-1]])
    total = float(population.sum())
    labeled_total = float(table.labeled.sum())
    placement_sums = below + 0.5 * population
    value = float(np.sum(table.labeled * placement_sums)) / (labeled_total * total)
    labeled_above = problem.labeled_above
    labeled_influence = placement_sums / total - value
    population_influence = labeled_above[1:] + 0.5 * problem.labeled_share - value
    error, degrees = standard_error(problem, labeled_influence, population_influence)
    rng = problem.generator("ranking")
    if error <= 1e-15:
        return ObservedLift(
            value=value,
            draws=_no_spread_draws(problem, value),
            standard_error=0.0,
            method="exact bound (no spread seen)",
        )
    return ObservedLift(
        value=value,
        draws=logit_t_draws(value, error, degrees, size=DRAWS, rng=rng),
        standard_error=error,
        method="Student t on the logit scale",
    )


def _no_spread_draws(problem: Problem, value: float) -> FloatArray:
    """Draws when all placements are equal: how many unseen ones could differ, at the worst."""
    if problem.target == "window" and problem.scenario == "single-training-set":
        unseen = 1 - problem.labeled_size / max(problem.positives_in_window, problem.labeled_size)
        if unseen <= 1e-12:
            return np.full(DRAWS, value)
    uniform = (np.arange(DRAWS) + 0.5) / DRAWS
    seen_share = stats.beta.ppf(uniform, problem.labeled_size, 1.0)
    worst = 0.0 if value > 0.5 else 1.0
    return np.asarray(worst + (value - worst) * seen_share)


def auc_from_lift(lift: FloatArray | float, prior: FloatArray | float, purity: float) -> FloatArray:
    """AUC of positives against negatives from the observed lift.

    P(G > F) = (1 - (b - pi)) / 2 + (b - pi) AUC: equation 4 of Jain et al. 2017 with the
    population in the place of the unlabeled rows.
    """
    gap = purity - np.asarray(prior)
    return np.asarray((np.asarray(lift) - 0.5 * (1 - gap)) / gap)


def aul_from_auc(auc: FloatArray | float, prior: FloatArray | float) -> FloatArray:
    """AUL = pi / 2 + (1 - pi) AUC."""
    prior = np.asarray(prior)
    return np.asarray(0.5 * prior + (1 - prior) * np.asarray(auc))


def average_precision_value(problem: Problem, prior: float) -> float:
    """Average precision for a class prior; see `pumonitor.metrics.average_precision`."""
    table = problem.table
    g = problem.labeled_share
    if problem.label_purity < 1.0:
        f1 = _positive_share(problem, prior)
        recall = _above(f1)
        theta = problem.population_above[:-1]
        return float(np.sum(f1 * prior * recall / np.maximum(theta, 1e-300)))
    labeled_total = float(table.labeled.sum())
    at_or_above = problem.labeled_above[:-1] * labeled_total
    held = table.labeled > 0
    # A labeled row's own weight, so that it is not counted as evidence about the others.
    own = table.labeled_squares[held] / table.labeled[held]
    others = (at_or_above[held] - own) / (labeled_total - own)
    if problem.scenario == "case-control":
        size = problem.population_size
        inverse_rate = (size + 1) / (problem.population_above[:-1][held] * size + 1)
        return float(np.sum(g[held] * prior * others * inverse_rate))
    population_total = float(problem.population.sum())
    own_mass = table.labeled_mass_squares[held] / table.labeled_mass[held]
    positives_total = prior * population_total
    positives_above = own_mass + (positives_total - own_mass) * others
    rows_above = problem.population_above[:-1][held] * population_total
    return float(np.sum(g[held] * positives_above / rows_above))


def average_precision_error(
    problem: Problem, *, prior_is_labeled_fraction: bool = False
) -> tuple[float, float]:
    """Standard error and degrees of freedom of average precision, prior held fixed.

    `prior_is_labeled_fraction`: the prior is q of the same sample (the uncorrected average
    precision), whose sampling then counts: a labeled row moves q by (1 - q) / n, any other by
    -q / n, which is AP added to u and taken from v.
    """
    prior, purity = problem.class_prior.value, problem.label_purity
    f1 = _positive_share(problem, prior)
    recall = _above(f1)
    theta = problem.population_above[:-1]
    if problem.scenario == "case-control":
        size = problem.population_size
        theta = (theta * size + 1) / (size + 1)
    theta = np.maximum(theta, 1e-300)
    precision = prior * recall / theta
    value = float(np.sum(f1 * precision))
    up_to = np.cumsum(f1 / theta)
    positive_influence = precision + prior * up_to - 2 * value
    theta_influence = value - prior * np.cumsum(f1 * recall / theta**2)
    labeled_influence = (1 - prior) / (purity - prior) * positive_influence
    population_influence = theta_influence - (1 - purity) / (purity - prior) * positive_influence
    g, f = problem.labeled_share, problem.population_share
    labeled_influence = labeled_influence - float(np.sum(g * labeled_influence))
    population_influence = population_influence - float(np.sum(f * population_influence))
    if prior_is_labeled_fraction:
        labeled_influence = labeled_influence + value
        population_influence = population_influence - value
    error, degrees = standard_error(problem, labeled_influence, population_influence)
    return (error, degrees) if math.isfinite(error) else (0.0, 1.0)


def _positive_share(problem: Problem, prior: float) -> FloatArray:
    """f1 per cell: G freed of its share of negatives."""
    purity = problem.label_purity
    if purity == 1.0:
        return problem.labeled_share
    return np.asarray(
        ((1 - prior) * problem.labeled_share - (1 - purity) * problem.population_share)
        / (purity - prior)
    )


def _above(share: FloatArray) -> FloatArray:
    return np.cumsum(share[::-1])[::-1]
