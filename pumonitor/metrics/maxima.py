"""The best value of a metric over all thresholds, and the threshold that gives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates, corrected_rates
from pumonitor.metrics.resampled import Resampled
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Estimate

__all__ = ["MAXIMIZED", "maxima"]

FloatArray = NDArray[np.float64]

MAXIMIZED = (F1, BALANCED_ACCURACY, MCC, ACCURACY)


def maxima(problem: Problem, resampled: Resampled) -> list[Estimate]:
    """`<name>_max` and `<name>_max_threshold` for F1, balanced accuracy, MCC and accuracy.

    The maximum over thresholds of an estimated curve is too high, because it picks the luckiest
    threshold; resampling says by how much, and the interval is centred on the corrected value.
    The value itself is the plain maximum, which with every positive labeled is what one would
    compute from the labels. Thresholds are the labeled scores, between which a threshold only
    flags more unlabeled rows for the same positives (and flagging all, or none). Recall is held
    to what is possible (precision at most 1), so that one lucky row cannot win.
    """
    table = problem.table
    candidates = np.flatnonzero(table.labeled > 0)
    candidates = np.concatenate([[0], candidates, [len(table)]])
    scores = np.concatenate([table.lower, [np.nextafter(table.upper[-1], np.inf)]])[candidates]
    point = _feasible(
        problem,
        problem.labeled_above[candidates],
        problem.population_above[candidates],
        np.asarray(problem.class_prior.value),
    )
    redrawn = _Redrawn.of(problem, resampled)
    found: list[Estimate] = []
    for metric in MAXIMIZED:
        curve = _values(metric, point)
        best = int(np.argmax(curve))
        found += _maximum(
            problem, metric, redrawn, value=float(curve[best]), threshold=float(scores[best])
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Redrawn:
    """Rates on the grid of the resamples, redrawn for each source of uncertainty.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
    as_seen : Rates
        Nothing is redrawn.
    by_sample, by_prior, by_both : Rates
        The table, the class prior, or both are redrawn; `by_prior` is None for a known prior.
    """

    thresholds: FloatArray
    as_seen: Rates
    by_sample: Rates
    by_prior: Rates | None
    by_both: Rates

    @classmethod
    def of(cls, problem: Problem, resampled: Resampled) -> _Redrawn:
        """Rates at the lowest threshold and at those whose cell holds labeled rows."""
        allowed = resampled.holds_labeled.copy()
        allowed[0] = True
        seen = resampled.labeled_above[allowed], resampled.population_above[allowed]
        draws = resampled.labeled_draws[:, allowed], resampled.population_draws[:, allowed]
        fixed_prior = np.asarray(problem.class_prior.value)
        by_sample = _feasible(problem, *draws, fixed_prior)
        by_both, by_prior = by_sample, None
        if problem.prior_draws is not None:
            by_both = _feasible(problem, *draws, resampled.prior_draws)
            by_prior = _feasible(problem, *seen, resampled.prior_draws)
        return cls(
            thresholds=resampled.thresholds[allowed],
            as_seen=_feasible(problem, *seen, fixed_prior),
            by_sample=by_sample,
            by_prior=by_prior,
            by_both=by_both,
        )


def _maximum(
    problem: Problem,
    metric: ThresholdMetric,
    redrawn: _Redrawn,
    *,
    value: float,
    threshold: float,
) -> list[Estimate]:
    """The maximum of a metric and its threshold, with intervals from the maxima redrawn."""
    thresholds, by_prior = redrawn.thresholds, redrawn.by_prior
    draws, where = _best(metric, redrawn.by_both, thresholds)
    sampling = draws if by_prior is None else _best(metric, redrawn.by_sample, thresholds)[0]
    optimism = float(np.mean(sampling)) - float(np.max(_values(metric, redrawn.as_seen)))
    # Shift twice: once from the resamples' own optimism back to the curve they were drawn
    # from, once from that curve to the truth.
    centred = draws - 2 * max(optimism, 0.0)
    name = f"{metric.name}_max"
    return [
        estimate_from_draws(
            problem,
            name,
            value,
            centred,
            sampling=sampling,
            prior=None if by_prior is None else _best(metric, by_prior, thresholds)[0],
            method="bootstrap of the table, corrected for optimism",
            value_range=metric.value_range(problem.class_prior.value),
        ),
        estimate_from_draws(
            problem,
            f"{name}_threshold",
            threshold,
            where,
            sampling=where,
            prior=None,
            method="bootstrap of the table",
            value_range=(-math.inf, math.inf),
        ),
    ]


def _feasible(problem: Problem, g: FloatArray, theta: FloatArray, prior: FloatArray) -> Rates:
    rates = corrected_rates(g, theta, prior, label_purity=problem.label_purity)
    recall = np.clip(rates.recall, 0.0, np.minimum(1.0, theta / prior))
    false_positive_rate = np.clip((theta - prior * recall) / (1 - prior), 0.0, 1.0)
    return replace(rates, recall=recall, false_positive_rate=false_positive_rate)


def _values(metric: ThresholdMetric, rates: Rates) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.asarray(metric.formula(rates))
    # Only MCC lacks a value, where all rows are flagged or none: as a decision that is worth 0.
    return np.where(np.isfinite(values), values, 0.0)


def _best(
    metric: ThresholdMetric, rates: Rates, thresholds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    values = _values(metric, rates)
    best = np.argmax(values, axis=1)
    return values[np.arange(len(values)), best], thresholds[best]
