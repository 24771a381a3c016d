"""AUL, AUC and average precision from one pass over the cells; their influence functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.metrics.influence import standard_error
from pumonitor.metrics.prior_dependence import correlation_with_positives
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem, stream
from pumonitor.metrics.window_target import window_prior, window_ratio
from pumonitor.stats.confidence_draws import logit_t_draws

__all__ = ["ObservedLift", "observed_lift"]

_UNSEEN_ROWS = 1 / 4
"""Of unseen positives, in the draws below the value; the lower end then stands for 1 / n_L."""
_HEAVY_UNSEEN_ROWS = 1 / 2
"""The same with propensities, of the weight that an unseen positive would have had."""
_EVERY_OTHER = np.arange(0, DRAWS, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLift:
    """P(labeled row scores above a random row) + half the ties, with confidence draws."""

    value: float
    draws: FloatArray
    method: str
    correlation: float = 0.0
    """With the total of the labeled weights, where that is what the class prior comes from."""


def observed_lift(problem: Problem) -> ObservedLift:
    """The observed AUL: mean placement of the labeled rows in the population.

    Equation 4 of the AUL paper in the single-training-set scenario; against the unlabeled rows
    alone, the AUC_pu of Jain et al. (2017), in case-control. The interval is Student's t on the
    logit scale with variances from both samples, for the positives of the kinds that were seen.
    Others, of which no labeled row shows any, are taken to score at random (`_unseen_share`):
    they can only draw the lift towards 1/2.
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
    seen = logit_t_draws(value, error, degrees, order=problem.order("ranking"))
    unseen = _unseen_share(problem, labeled_influence, _nearer_chance(value, seen))
    return ObservedLift(
        value=value,
        draws=seen + unseen * (0.5 - seen),
        method="Student t on the logit scale",
        correlation=correlation_with_positives(problem, labeled_influence, population_influence)
        if problem.is_prior_counted
        else 0.0,
    )


def _nearer_chance(value: float, seen: FloatArray) -> NDArray[np.intp]:
    """Draws nearer to 1/2 than the value, nearest to the value first; half of equal ones.

    In this order scores and the same scores reversed give each draw and its mirror image one share.
    """
    if not np.any(seen != value):
        return _EVERY_OTHER
    nearer = np.flatnonzero((seen - value) * (0.5 - value) > 0)
    apart = np.abs(seen[nearer] - value)
    order = np.argsort(apart)
    if not np.diff(apart[order]).all():  # equal ones stay as they lie, which takes longer
        order = np.argsort(apart, kind="stable")
    return nearer[order]


def _unseen_share(
    problem: Problem, labeled_influence: FloatArray, held: NDArray[np.intp]
) -> FloatArray:
    """Draws of the share of positives of kinds that no labeled row shows; 0 but for those `held`.

    n_L labeled rows all miss a share u with chance (1 - u)^n_L. With a quarter of a row for what
    is unseen, u has the distribution Beta(1/4, n_L); as half of the draws hold it, the 2.5% end
    of an interval stands for a share of about 1 / n_L. See docs/decisions/unseen-positives.md.

    With propensities it is half a row, of the weight that it would have had if labeled.
    For the window target it is as much less as the window leaves unknown.
    """
    share, rows, weight = np.zeros(DRAWS), _UNSEEN_ROWS, 1.0
    if problem.table.has_propensities:
        rows, weight = _HEAVY_UNSEEN_ROWS, _relative_weight_if_labeled(problem, labeled_influence)
    unseen, seen = _unseen_and_seen(problem.seed, rows, problem.labeled_size, len(held))
    unseen = unseen * weight
    share[held] = unseen / (unseen + seen)
    if problem.target == "window":
        share *= np.sqrt(window_ratio(problem, 0, class_prior=window_prior(problem)))
    return np.minimum(share, 1.0)


@lru_cache(maxsize=2)
def _unseen_and_seen(
    seed: int, unseen: float, labeled: float, size: int
) -> tuple[FloatArray, FloatArray]:
    """Draws of rows of either kind; kept for the AUC without correction of the same rows."""
    rng = stream(seed, "unseen positives")
    return rng.permutation(_unseen_rows(unseen, size)), rng.gamma(labeled, size=size)


@lru_cache(maxsize=4)
def _unseen_rows(mean: float, size: int) -> FloatArray:
    """Quantiles of a gamma distribution of scale 1, at the midpoints of equal strata."""
    quantiles = special.gammaincinv(mean, (np.arange(size) + 0.5) / size)
    return np.asarray(quantiles, dtype=float)


def _relative_weight_if_labeled(problem: Problem, labeled_influence: FloatArray) -> float:
    """Weight that an unseen positive would have had if labeled, over the mean labeled weight.

    Root mean square over the population, rows counted by how far they are placed from the value.
    """
    far = problem.population_share * labeled_influence**2
    weight = _weight_if_labeled(problem)
    mean = float(problem.table.labeled.sum()) / problem.labeled_size
    square = float(np.sum(far * weight**2)) / max(float(np.sum(far)), 1e-300)
    return math.sqrt(square) / mean if square > 0 else 1.0


def _weight_if_labeled(problem: Problem) -> FloatArray:
    """Weight per cell that a labeled row would have; 0 where none could be.

    From the propensities of the unlabeled rows where they are known and mean anything, else what
    the labeled rows nearest in score have.
    """
    table = problem.table
    if table.chances is not None and problem.scenario == "single-training-set":
        expected = table.chances.expected
        return np.divide(
            table.chances.reviewable, expected, out=np.zeros_like(expected), where=expected > 0
        )
    held = np.flatnonzero(table.labeled > 0)
    weights = table.labeled_squares[held] / table.labeled[held]
    return np.asarray(np.interp(np.arange(len(table)), held, weights))


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


def average_precision_values(problem: Problem, priors: FloatArray) -> FloatArray:
    """Average precision for several class priors."""
    return np.array([average_precision_value(problem, float(prior)) for prior in priors])


def average_precision_value(problem: Problem, prior: float) -> float:
    """Average precision for a class prior; see `pumonitor.metrics.average_precision`."""
    table = problem.table
    g = problem.labeled_share
    f1 = _positive_share(problem, prior)
    held = f1 != 0
    labeled_total = float(table.labeled.sum())
    # A labeled row's own weight, so that it is not counted as evidence about the others.
    own = np.divide(
        table.labeled_own_squares,
        table.labeled * labeled_total,
        out=np.zeros_like(g),
        where=table.labeled > 0,
    )[held]
    others = (problem.labeled_above[:-1][held] - own) / (1 - own)
    purity = problem.label_purity
    if purity < 1.0:
        theta = problem.population_above[:-1][held]
        others = ((1 - prior) * others - (1 - purity) * theta) / (purity - prior)
    inverse_rate = 1 / flagged_rate(problem)[held]
    if problem.scenario == "case-control":
        return float(np.sum(f1[held] * prior * others * inverse_rate))
    average_mass = float(table.labeled_own_mass_squares.sum() / table.labeled_mass.sum())
    row_mass = np.divide(
        table.labeled_own_mass_squares,
        table.labeled_mass,
        out=np.full_like(g, average_mass),
        where=table.labeled_mass > 0,
    )[held]
    row = row_mass / float(problem.population.sum())
    return float(np.sum(f1[held] * (row + (prior - row) * others) * inverse_rate))


def flagged_rate(problem: Problem) -> FloatArray:
    """Theta per cell for dividing by: in case-control (n_U theta + 1) / (n_U + 1).

    A labeled row is then no row of the population and can lie above all of it; the inverse of
    this is nearly unbiased for 1 / theta. Otherwise the row itself is counted and theta > 0.
    """
    theta = problem.population_above[:-1]
    if problem.scenario == "case-control":
        size = problem.population_size
        return np.asarray((theta * size + 1) / (size + 1))
    return theta


def average_precision_error(
    problem: Problem, *, prior_is_labeled_fraction: bool = False
) -> tuple[FloatArray | float, float]:
    """Standard error and degrees of freedom of average precision, prior held fixed.

    `prior_is_labeled_fraction`: the prior is q of the same sample (the uncorrected average
    precision), whose sampling then counts: a labeled row moves q by (1 - q) / n, any other by
    -q / n, which is AP added to u and taken from v.
    """
    u, v, value = _average_precision_influences(problem)
    if prior_is_labeled_fraction:
        u, v = u + value, v - value
    error, degrees = standard_error(problem, u, v)
    return (error, degrees) if np.all(np.isfinite(error)) else (0.0, 1.0)


def average_precision_correlation(problem: Problem) -> float:
    """Of the errors of average precision, prior held fixed, and of the labeled total."""
    u, v, _ = _average_precision_influences(problem)
    return correlation_with_positives(problem, u, v)


def _average_precision_influences(problem: Problem) -> tuple[FloatArray, FloatArray, float]:
    prior, purity = problem.class_prior.value, problem.label_purity
    f1 = _positive_share(problem, prior)
    recall = _above(f1)
    theta = flagged_rate(problem)
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
    return labeled_influence, population_influence, value


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
