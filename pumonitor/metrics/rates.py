"""The four rates at one threshold, their confidence draws, and estimates of functions of them.

recall (TPR), FPR, theta (predicted positive rate) and the class prior determine every threshold
metric (Ramola et al. 2019, equations 3-8). Observed are g, the share of labeled rows at or above
the threshold, and theta; solving the two mixtures of `pumonitor.metrics.problem` gives

    TPR = ((1 - pi) g - (1 - b) theta) / (b - pi),    FPR = (b theta - pi g) / (b - pi).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.problem import DRAWS, Problem, estimate_from_draws
from pumonitor.results import Estimate
from pumonitor.stats.confidence_draws import share_draws

__all__ = ["AtThreshold", "Formula", "Rates", "at_threshold", "corrected_rates", "estimate_at"]

FloatArray = NDArray[np.float64]


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
    """Rates from the observed shares (Jain et al. 2017, equations 1-2, in terms of pi and theta).

    Examples
    --------
    >>> rates = corrected_rates(0.8, 0.14, 0.1, label_purity=1.0)
    >>> float(rates.recall), round(float(rates.false_positive_rate), 6)
    (0.8, 0.066667)
    """
    g, theta = np.asarray(labeled_above), np.asarray(population_above)
    prior = np.asarray(class_prior)
    if label_purity == 1.0:
        recall = g
        false_positive_rate = (theta - prior * g) / (1 - prior)
    else:
        recall = ((1 - prior) * g - (1 - label_purity) * theta) / (label_purity - prior)
        false_positive_rate = (label_purity * theta - prior * g) / (label_purity - prior)
    return Rates(
        class_prior=prior,
        recall=np.asarray(recall),
        false_positive_rate=np.asarray(false_positive_rate),
        predicted_positive_rate=theta,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AtThreshold:
    """Rates at a threshold: the estimate, and draws with all, one and the other uncertainty."""

    problem: Problem
    point: Rates
    both: Rates
    sampling: Rates
    prior: Rates | None


def at_threshold(problem: Problem, threshold: float) -> AtThreshold:
    """Rates at a decision threshold (score >= threshold is positive), with their draws."""
    index = problem.table.index_of_threshold(threshold)
    g = float(problem.labeled_above[index])
    theta = float(problem.population_above[index])
    g_draws, theta_draws = share_pair_draws(problem, index)
    return rates_with_draws(problem, g, theta, g_draws, theta_draws)


def rates_with_draws(
    problem: Problem, g: float, theta: float, g_draws: FloatArray, theta_draws: FloatArray
) -> AtThreshold:
    """Rates and their three sets of draws from those of the observed shares."""
    purity, prior = problem.label_purity, problem.class_prior.value
    sampling = corrected_rates(g_draws, theta_draws, prior, label_purity=purity)
    both, by_prior = sampling, None
    if problem.prior_draws is not None:
        both = corrected_rates(g_draws, theta_draws, problem.prior_draws, label_purity=purity)
        by_prior = corrected_rates(g, theta, problem.prior_draws, label_purity=purity)
    return AtThreshold(
        problem=problem,
        point=corrected_rates(g, theta, prior, label_purity=purity),
        both=both,
        sampling=sampling,
        prior=by_prior,
    )


def share_pair_draws(problem: Problem, index: int) -> tuple[FloatArray, FloatArray]:
    """Confidence draws of g and theta for the cells from `index` up."""
    rng = problem.generator("counts at a threshold")
    g = float(problem.labeled_above[index])
    theta = float(problem.population_above[index])
    labeled_draws = share_draws(g * problem.labeled_size, problem.labeled_size, size=DRAWS, rng=rng)
    if problem.target == "window":
        return window_draws(problem, g, theta, labeled_draws), np.full(DRAWS, theta)
    rest = float(problem.rest[index:].sum() / problem.rest.sum())
    rest_draws = share_draws(rest * problem.rest_size, problem.rest_size, size=DRAWS, rng=rng)
    if problem.scenario == "case-control":
        return labeled_draws, rest_draws
    # Labeled rows are part of the population: one draw of g moves theta as well. Their share of
    # the population counts them by sample weight, not by 1 / propensity.
    mass = problem.table.labeled_mass
    labeled_mass_above = float(mass[index:].sum() / mass.sum())
    q = problem.fraction_draws
    theta_draws = q * (labeled_mass_above + labeled_draws - g) + (1 - q) * rest_draws
    return labeled_draws, np.clip(theta_draws, 0.0, 1.0)


def window_draws(problem: Problem, g: float, theta: float, labeled_draws: FloatArray) -> FloatArray:
    """Draws of g rescaled so that their variance is that of the window target."""
    rates = corrected_rates(g, theta, problem.class_prior.value, label_purity=problem.label_purity)

    def variance(share: FloatArray | float) -> FloatArray:
        # Half a success and half a failure more, as in Jeffreys' draws, so that it is never 0.
        size = problem.labeled_size
        smooth = (np.clip(share, 0.0, 1.0) * size + 0.5) / (size + 1)
        return np.asarray(smooth * (1 - smooth))

    sampled = variance(g) / problem.labeled_size
    wanted = problem.window_variance(
        variance(g), variance(rates.recall), variance(rates.false_positive_rate)
    )
    scaled = g + (labeled_draws - g) * np.sqrt(wanted / sampled)
    return np.asarray(np.clip(scaled, 0.0, 1.0))


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
        size = (DRAWS,)
        draws = np.broadcast_to(formula(at.both), size)
        sampling = draws if at.prior is None else np.broadcast_to(formula(at.sampling), size)
        by_prior = None if at.prior is None else np.broadcast_to(formula(at.prior), size)
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
