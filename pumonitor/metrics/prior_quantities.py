"""class_prior, unlabeled_prior and label_frequency as estimates: pi, a and c.

pi = q b + (1 - q) a and c = q b / pi in the single-training-set scenario, with q the labeled
fraction; in case-control a = pi and c has no meaning. Confirmed negatives hold no positive, so
the rows that are not labeled split pi - q b over the unlabeled share alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem
from pumonitor.results import Estimate
from pumonitor.stats.confidence_draws import interval, share_draws

_Formula = Callable[[FloatArray | float, FloatArray | float, FloatArray | float], FloatArray]


def class_prior_estimate(problem: Problem) -> Estimate:
    """The class prior pi as an estimate beside the others.

    Its interval is the one it came with, at that confidence level; a known prior has none. Of a
    label frequency that was given the interval follows here, as the target wants it.
    """
    prior = problem.class_prior
    low, high = prior.low, prior.high
    draws = np.full(1, prior.value) if problem.prior_draws is None else problem.prior_draws
    if problem.frequency_draws is not None:
        low, high = interval(draws, confidence_level=prior.confidence_level)
    se = float(np.std(draws))
    return Estimate(
        name="class_prior",
        value=prior.value,
        low=min(low, prior.value),
        high=max(high, prior.value),
        confidence_level=prior.confidence_level,
        method=prior.method,
        n_labeled=problem.table.n_labeled,
        n_unlabeled=problem.table.n_unlabeled,
        se=se,
        se_sampling=0.0,
        se_prior=se,
    )


def unlabeled_prior_estimate(problem: Problem) -> Estimate:
    """Share of positives among the unlabeled rows, a (Ramola et al. 2019, equation 11)."""
    name = "unlabeled_prior"
    if problem.scenario == "case-control":
        return replace(class_prior_estimate(problem), name=name)
    table = problem.table
    negatives = float(table.negative.sum())
    unlabeled = float(table.unlabeled.sum())
    unlabeled_of_rest = unlabeled / (unlabeled + negatives)

    def formula(
        prior: FloatArray | float, fraction: FloatArray | float, purity: FloatArray | float
    ) -> FloatArray:
        q = np.asarray(fraction)
        return np.asarray((prior - q * purity) / ((1 - q) * unlabeled_of_rest))

    return _estimate(problem, name, formula)


def label_frequency_estimate(problem: Problem) -> Estimate:
    """Share of the positives that are labeled, c (Tabatabaei et al. 2020: rho)."""
    name = "label_frequency"
    if problem.scenario == "case-control":
        return problem.undefined(
            name, "in case-control the labeled rows are not drawn from the population"
        )

    def formula(
        prior: FloatArray | float, fraction: FloatArray | float, purity: FloatArray | float
    ) -> FloatArray:
        return np.asarray(np.asarray(fraction) * purity / prior)

    return _estimate(problem, name, formula)


def _estimate(problem: Problem, name: str, formula: _Formula) -> Estimate:
    prior, fraction, purity = (
        problem.class_prior.value,
        problem.labeled_fraction,
        problem.label_purity,
    )
    draws = problem.prior_draws
    fractions, purities = problem.fraction_draws, _purity_draws(problem)
    sampling = np.broadcast_to(formula(prior, fractions, purities), (DRAWS,))
    return estimate_from_draws(
        problem,
        name,
        float(formula(prior, fraction, purity)),
        sampling if draws is None else formula(draws, fractions, purities),
        sampling=sampling,
        prior=None if draws is None else formula(problem.prior_alone, fraction, purity),
        method="confidence draws of the counts",
    )


def _purity_draws(problem: Problem) -> FloatArray | float:
    """In a window of its own the share of right labels is random; b is its expectation."""
    purity, size = problem.label_purity, problem.labeled_size
    if purity == 1.0 or problem.target == "process":
        return purity
    rng = problem.generator("label purity")
    return share_draws(purity * size, size, size=DRAWS, rng=rng)
