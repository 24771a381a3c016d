"""The four rates at one threshold, their confidence draws, and estimates of functions of them.

recall (TPR), FPR, theta (predicted positive rate) and the class prior determine every threshold
metric (Ramola et al. 2019, equations 3-8). Observed are g, the share of labeled rows at or above
the threshold, and theta; `pumonitor.metrics.mixtures` solves for TPR and FPR.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.entity_draws import labeled_sides
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.mixtures import solved_mixtures
from pumonitor.metrics.prior_dependence import prior_draws_following
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.window_target import window_prior, window_ratio
from pumonitor.results import Estimate

__all__ = [
    "AtThreshold",
    "Formula",
    "Rates",
    "ShareDraws",
    "at_threshold",
    "corrected_rates",
    "estimate_at",
    "rates_with_draws",
    "share_draws_at",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Class prior, TPR, FPR and predicted positive rate; arrays that broadcast together."""

    class_prior: FloatArray
    recall: FloatArray
    false_positive_rate: FloatArray
    predicted_positive_rate: FloatArray


Formula = Callable[[Rates], FloatArray]


def corrected_rates(
    labeled_above: FloatArray | float,
    population_above: FloatArray | float,
    class_prior: FloatArray | float,
    *,
    label_purity: float,
) -> Rates:
    """Rates from the observed shares, in terms of pi and theta.

    Examples
    --------
    >>> rates = corrected_rates(0.8, 0.14, 0.1, label_purity=1.0)
    >>> float(rates.recall), round(float(rates.false_positive_rate), 6)
    (0.8, 0.066667)
    """
    recall, false_positive_rate = solved_mixtures(
        labeled_above, population_above, class_prior, label_purity=label_purity
    )
    return Rates(
        class_prior=np.asarray(class_prior),
        recall=recall,
        false_positive_rate=false_positive_rate,
        predicted_positive_rate=np.asarray(population_above),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AtThreshold:
    """Rates at a threshold: the estimate, and draws with all, one and the other uncertainty."""

    problem: Problem
    point: Rates
    both: Rates
    sampling: Rates
    prior: Rates | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDraws:
    """Joint confidence draws of g, theta, the labeled fraction q, and the labeled total.

    The last is relative to the population's, and is used where the class prior is made of it.
    """

    labeled_above: FloatArray
    population_above: FloatArray
    labeled_fraction: FloatArray
    labeled_total: FloatArray | None = None


def at_threshold(problem: Problem, threshold: float) -> AtThreshold:
    """Rates at a decision threshold (score >= threshold is positive), with their draws."""
    index = problem.table.index_of_threshold(threshold)
    return at_cell(problem, index, share_draws_at(problem, index))


def at_cell(problem: Problem, index: int, draws: ShareDraws) -> AtThreshold:
    """Rates where the cells from `index` up are predicted positive, from draws of their shares."""
    g = float(problem.labeled_above[index])
    theta = float(problem.population_above[index])
    return rates_with_draws(problem, g, theta, draws)


def rates_with_draws(problem: Problem, g: float, theta: float, draws: ShareDraws) -> AtThreshold:
    """Rates and their three sets of draws from those of the observed shares."""
    purity, prior = problem.label_purity, problem.class_prior.value
    sampling = corrected_rates(
        draws.labeled_above, draws.population_above, prior, label_purity=purity
    )
    both, by_prior = sampling, None
    if problem.prior_draws is not None:
        together = problem.prior_draws_with(draws.labeled_fraction)
        if problem.is_prior_counted and draws.labeled_total is not None:
            together = prior_draws_following(problem, draws.labeled_total)
        both = corrected_rates(
            draws.labeled_above, draws.population_above, together, label_purity=purity
        )
        by_prior = corrected_rates(g, theta, problem.prior_alone, label_purity=purity)
    return AtThreshold(
        problem=problem,
        point=corrected_rates(g, theta, prior, label_purity=purity),
        both=both,
        sampling=sampling,
        prior=by_prior,
    )


def share_draws_at(problem: Problem, index: int) -> ShareDraws:
    """Confidence draws for the cells from `index` up.

    The weight of the rows above and below, labeled and not, is drawn from a gamma distribution
    with its own mean and variance, half a row more in each: without weights the share of labeled
    rows above is then Jeffreys' Beta, with weights every covariance between the shares is right.
    """
    rng, sums = problem.generator("counts at a threshold"), problem.sums
    g, theta = float(problem.labeled_above[index]), float(problem.population_above[index])
    if problem.table.size_design_effect == 1.0:
        above_draws, below_draws = _both_sides(g, sums.labeled_squares, index, rng)
    else:
        above_draws, below_draws = labeled_sides(problem, index, rng)
    labeled_total = above_draws + below_draws
    labeled_draws = above_draws / labeled_total
    if problem.target == "window":
        ratio = window_ratio(problem, index, class_prior=window_prior(problem))
        scaled = g + (labeled_draws - g) * np.sqrt(ratio)
        return ShareDraws(
            labeled_above=np.clip(scaled, 0.0, 1.0),
            population_above=np.full(DRAWS, theta),
            labeled_fraction=np.full(DRAWS, problem.labeled_fraction),
            labeled_total=_window_total(problem, index, above_draws, below_draws),
        )
    rest_above, rest_below = _both_sides(float(sums.rest[index]), sums.rest_squares, index, rng)
    rest_total = rest_above + rest_below
    if problem.scenario == "case-control":
        return ShareDraws(
            labeled_above=labeled_draws,
            population_above=rest_above / rest_total,
            labeled_fraction=np.full(DRAWS, problem.labeled_fraction),
            labeled_total=labeled_total,
        )
    # Labeled rows are part of the population, there counted by sample weight and not by
    # 1 / propensity: one draw moves both, the more the closer the two weightings are.
    mass_above, mass_below = _mass_draws(problem, index, above_draws, below_draws, rng)
    q = problem.labeled_fraction
    mass, rest = q * (mass_above + mass_below), (1 - q) * rest_total
    flagged, everything = q * mass_above + (1 - q) * rest_above, mass + rest
    return ShareDraws(
        labeled_above=labeled_draws,
        population_above=np.clip(flagged / everything, 0.0, 1.0),
        labeled_fraction=mass / everything,
        labeled_total=labeled_total / everything,
    )


def _window_total(
    problem: Problem, index: int, above_draws: FloatArray, below_draws: FloatArray
) -> FloatArray:
    """Labeled total when only which positives got labeled is random: less where all are.

    Each side keeps the part of its spread that the rows not labeled leave, (1 - e) w^2 / e.
    """
    sums, known = problem.sums, min(problem.label_share, 1.0)

    def kept(square: float, cross: float) -> float:
        return math.sqrt(max(1 - known * cross / square, 0.0)) if square > 0 else 1.0

    square, cross = sums.labeled_squares, sums.labeled_cross
    up = kept(float(square[index]), float(cross[index]))
    down = kept(float(square[0] - square[index]), float(cross[0] - cross[index]))
    return np.asarray(up * above_draws + down * below_draws)


def _both_sides(
    share: float, squares: FloatArray, index: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of the weight above and below, as shares of the total before drawing."""
    row = float(squares[0])
    half = 0.5 * row

    def side(weight: float, square: float) -> FloatArray:
        mean, variance = weight + half, square + half * row
        return rng.gamma(mean**2 / variance, variance / mean, size=DRAWS)

    up = float(squares[index])
    return side(share, up), side(1 - share, max(row - up, 0.0))


def _mass_draws(
    problem: Problem,
    index: int,
    above_draws: FloatArray,
    below_draws: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draws of labeled rows by sample weight, above and below, given those by 1 / propensity."""
    if not problem.table.has_propensities:
        return above_draws, below_draws
    sums = problem.sums
    g, mass = float(problem.labeled_above[index]), float(sums.mass[index])

    def side(drawn: FloatArray, weight: float, own: float, moments: list[float]) -> FloatArray:
        square, cross, mass_square = moments
        slope = cross / square if square > 0 else 1.0
        unexplained = max(mass_square - slope * cross, 0.0)
        noise = rng.standard_normal(DRAWS) * np.sqrt(unexplained)
        return np.asarray(np.maximum(own + slope * (drawn - weight) + noise, 0.0))

    columns = (sums.labeled_squares, sums.mass_cross, sums.mass_squares)
    up = [float(column[index]) for column in columns]
    down = [float(column[0] - column[index]) for column in columns]
    return side(above_draws, g, mass, up), side(below_draws, 1 - g, 1 - mass, down)


def _of_each_draw(values: FloatArray) -> FloatArray:
    return values if values.shape == (DRAWS,) else np.full(DRAWS, values)


def estimate_at(
    at: AtThreshold,
    name: str,
    formula: Formula,
    *,
    value_range: tuple[float, float] = (0.0, 1.0),
    undefined_reason: str | None = None,
) -> Estimate:
    """Estimate of a function of the rates.

    `undefined_reason` is used when the formula has no value at the point estimate.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(formula(at.point))
        if not np.isfinite(value):
            return at.problem.undefined(name, undefined_reason or "the formula has no value here")
        draws = _of_each_draw(formula(at.both))
        sampling = draws if at.prior is None else _of_each_draw(formula(at.sampling))
        by_prior = None if at.prior is None else _of_each_draw(formula(at.prior))
    return estimate_from_draws(
        at.problem,
        name,
        value,
        draws,
        sampling=sampling,
        prior=by_prior,
        method="confidence draws of the counts",
        value_range=value_range,
    )
