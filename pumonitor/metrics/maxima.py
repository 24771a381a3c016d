"""The best value of a metric over all thresholds, and the threshold that gives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
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
from pumonitor.stats.quantiles import quantiles
from pumonitor.stats.simultaneous_band import reaches_alone, simultaneous_widening

MAXIMIZED = (F1, BALANCED_ACCURACY, MCC, ACCURACY)


def maxima(problem: Problem, resampled: Resampled) -> list[Estimate]:
    """`<name>_max` and `<name>_max_threshold` for F1, balanced accuracy, MCC and accuracy.

    Estimated are M* = max over t of M(t), with M(t) the metric at threshold t (of the process, or
    of these rows where the target is the window), and the threshold t* that gives it. Candidates
    are the labeled scores, between which a threshold only flags more unlabeled rows for the same
    positives, and flagging all or none. Recall is held to what is possible (precision at most 1),
    so that one lucky row cannot win.

    Notes
    -----
    With L(t) the lower half of a band that holds M at all thresholds at once
    (`pumonitor.stats.simultaneous_band`) and U(t) the upper end of the interval at t alone:

    - max L <= M*, as L(t) <= M(t) <= M* at every t. L is about an estimate that leaves out the
      labeled row at the threshold, which otherwise counts as evidence for itself, and reaches at
      least as far down as Jeffreys' interval does.
    - M* = M(t*) <= U(t*): U need hold at t* alone, which no chance has chosen. The upper end is the
      highest U of the thresholds that can be t*.
    - Those are all at which the interval of what they bring less than the one with the highest
      estimate holds 0. The interval of the threshold reaches from the first of them to the last,
      and one candidate further: between candidates nothing was counted.

    The highest point of an estimated curve is too high. What it is too high by is taken off: the
    mean over redraws of their highest point less the estimate without the row at its threshold.
    What is left is no less than what flagging all or none brings.

    `python -m benchmarks.maxima` has coverage, widths and bias.
    """
    curves = _Curves.of(problem, resampled)
    return [estimate for metric in MAXIMIZED for estimate in _maximum(problem, metric, curves)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Curves:
    """Rates at the candidates, as estimated and redrawn for each source of uncertainty.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
    point : Rates
    by_others : Rates
        Without the labeled row at each threshold.
    at_least : Rates
        With the share of the labeled rows above at the lower end of its interval.
    by_sample, by_prior, by_both : Rates
        The table, the class prior, or both are redrawn; `by_prior` is None for a known prior.
    """

    thresholds: FloatArray
    point: Rates
    by_others: Rates
    at_least: Rates
    by_sample: Rates
    by_prior: Rates | None
    by_both: Rates

    @classmethod
    def of(cls, problem: Problem, resampled: Resampled) -> _Curves:
        """At the lowest threshold and at those whose cell holds labeled rows."""
        allowed = resampled.holds_labeled.copy()
        allowed[0] = True
        labeled, population = resampled.labeled_above[allowed], resampled.population_above[allowed]
        own = resampled.row_share[allowed]
        others = np.divide(labeled - own, 1 - own, out=labeled.copy(), where=own < 1)
        if problem.target == "window":
            # The row is known of the window's positives, all of which may be labeled.
            known = min(problem.label_share, 1.0) * own
            others = known + (1 - known) * others
        draws = resampled.labeled_draws[:, allowed], resampled.population_draws[:, allowed]
        fixed_prior = np.asarray(problem.class_prior.value)
        by_sample = _feasible(problem, *draws, fixed_prior)
        by_both, by_prior = by_sample, None
        if problem.prior_draws is not None:
            by_both = _feasible(problem, *draws, resampled.prior_draws)
            by_prior = _feasible(problem, labeled, population, resampled.prior_draws)
        return cls(
            thresholds=resampled.thresholds[allowed],
            point=_feasible(problem, labeled, population, fixed_prior),
            by_others=_feasible(problem, others, population, fixed_prior),
            at_least=_feasible(problem, resampled.labeled_low[allowed], population, fixed_prior),
            by_sample=by_sample,
            by_prior=by_prior,
            by_both=by_both,
        )


def _maximum(problem: Problem, metric: ThresholdMetric, curves: _Curves) -> list[Estimate]:
    """The maximum of a metric and its threshold."""
    value, sampling = _values(metric, curves.point), _values(metric, curves.by_sample)
    by_prior = None if curves.by_prior is None else _values(metric, curves.by_prior)
    both = sampling if by_prior is None else _values(metric, curves.by_both)
    level = problem.confidence_level
    by_others, least_there = _values(metric, curves.by_others), _values(metric, curves.at_least)
    chosen, thresholds = int(np.argmax(value)), curves.thresholds
    less = quantiles(both[:, [chosen]] - both, [0.5 * (1 - level)])[0]
    kept = np.flatnonzero(np.minimum(less, value[chosen] - value) <= 0)

    def ends_by(redrawn: FloatArray) -> tuple[float, float]:
        down, up = reaches_alone(value, redrawn, confidence_level=level)
        down = np.maximum(down, value - least_there)
        widening = simultaneous_widening(value - redrawn, down, confidence_level=level)
        return float(np.max(by_others - widening * down)), float(np.max((value + up)[kept]))

    low, high = ends_by(both)
    of_sampling = (low, high) if by_prior is None else ends_by(sampling)
    # A maximum is taken where it is: along short rows that is quicker than `max`.
    redraws, best, best_of_both = np.arange(len(both)), sampling.argmax(axis=1), both.argmax(axis=1)
    highest_sampling = sampling[redraws, best]
    luck = highest_sampling - by_others[best]
    # Flagging all or none is no choice that luck could make.
    least = max(float(value[0]), float(value[-1]))
    highest = estimate_from_draws(
        problem,
        f"{metric.name}_max",
        float(value.max()),
        both[redraws, best_of_both],
        sampling=highest_sampling,
        prior=None if by_prior is None else by_prior.max(axis=1),
        method="simultaneous band of redrawn curves",
        value_range=metric.value_range(problem.class_prior.value),
    )
    without_luck = max(highest.value - max(float(luck.mean()), 0.0), least)
    possible = _around(thresholds, kept)
    return [
        replace(
            highest,
            value=without_luck,
            low=min(low, without_luck),
            high=max(high, without_luck),
            sampling_interval=(
                min(of_sampling[0], without_luck),
                max(of_sampling[1], without_luck),
            ),
        ),
        replace(
            estimate_from_draws(
                problem,
                f"{metric.name}_max_threshold",
                float(thresholds[chosen]),
                thresholds[best_of_both],
                sampling=thresholds[best],
                prior=None,
                method="thresholds at which redrawn curves are not surely lower",
                value_range=(-math.inf, math.inf),
            ),
            low=possible[0],
            high=possible[1],
            sampling_interval=possible,
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
    has_value = np.isfinite(values)
    # Only MCC lacks a value, where all rows are flagged or none: as a decision that is worth 0.
    return values if has_value.all() else np.where(has_value, values, 0.0)


def _around(thresholds: FloatArray, kept: NDArray[np.intp]) -> tuple[float, float]:
    """The thresholds just outside those that are kept, where there are any."""
    before, after = max(int(kept[0]) - 1, 0), min(int(kept[-1]) + 1, len(thresholds) - 1)
    return float(thresholds[before]), float(thresholds[after])
