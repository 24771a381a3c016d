"""An estimate from confidence draws: interval, standard errors, bias of an uncertain prior."""

from __future__ import annotations

import math

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.problem import Problem
from pumonitor.results import Estimate
from pumonitor.stats.confidence_draws import with_value
from pumonitor.stats.quantiles import both_tails


def estimate_from_draws(
    problem: Problem,
    name: str,
    value: float,
    draws: FloatArray,
    *,
    sampling: FloatArray,
    prior: FloatArray | None,
    method: str,
    value_range: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """Estimate with the interval that confidence draws give.

    `sampling` are draws with the prior held at its value, `prior` draws with the sample held as
    it is (None when the prior is known). The interval always holds the value itself, which a
    value at the end of its range would otherwise fall out of.

    The mean over `prior` less the value at the prior itself is what the uncertainty of the prior
    adds on average: an estimate with prior p has mean f(pi) + E f(p) - f(pi), and the draws stand
    for the errors of p.
    """
    level = problem.confidence_level
    with np.errstate(over="ignore", invalid="ignore"):
        low, high, se = _ends_and_spread(draws, level)
        by_sampling, se_sampling = (low, high), se
        if sampling is not draws:
            *ends, se_sampling = _ends_and_spread(sampling, level)
            by_sampling = by_sampling if prior is None else (ends[0], ends[1])
        bias = se_prior = 0.0
        if prior is not None:
            by_prior, mean = _with_mean(prior)
            bias, se_prior = mean - float(value), _spread(by_prior, mean)
    # No more than rounding, or no draw has a value.
    bias = 0.0 if abs(bias) < 1e-12 or math.isnan(bias) else bias
    if problem.correct_prior_bias:
        value = value - bias
    low, high = _holding(float(value), low, high)
    return Estimate(
        name=name,
        value=float(value),
        low=low,
        high=high,
        confidence_level=level,
        method=method,
        n_labeled=problem.table.n_labeled,
        n_unlabeled=problem.table.n_unlabeled,
        se=se,
        se_sampling=se_sampling,
        se_prior=se_prior,
        prior_bias=bias,
        range=value_range,
        sampling_interval=_holding(float(value), *by_sampling),
    )


def _holding(value: float, low: float, high: float) -> tuple[float, float]:
    """The interval, widened to hold the value."""
    return (
        min(low, value) if math.isfinite(low) else value,
        max(high, value) if math.isfinite(high) else value,
    )


def _ends_and_spread(draws: FloatArray, level: float) -> tuple[float, float, float]:
    """Ends of the interval, and standard deviation, of the draws that have a value."""
    kept, mean = _with_mean(draws)
    if not len(kept):
        return math.nan, math.nan, math.nan
    return *both_tails(kept, 0.5 * (1 - level)), _spread(kept, mean)


def _with_mean(draws: FloatArray) -> tuple[FloatArray, float]:
    """Draws that have a value, and their mean: where it has one, all of them do."""
    # Sums without the detours of NumPy's own mean, which take longer than they do.
    mean = float(np.add.reduce(draws)) / len(draws)
    if math.isfinite(mean):
        return draws, mean
    kept = with_value(draws)
    return kept, float(np.add.reduce(kept)) / len(kept) if len(kept) else math.nan


def _spread(kept: FloatArray, mean: float) -> float:
    apart = kept - mean
    return math.sqrt(float(np.dot(apart, apart)) / len(kept)) if len(kept) else math.nan
