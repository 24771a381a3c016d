"""The threshold whose lower bound is highest, with bounds that allow for the choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.decisions.outcomes import reviewing_nobody
from pumonitor.metrics.curves import rates_by_threshold
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import AtThreshold, Rates, at_threshold
from pumonitor.metrics.resampled import Resampled
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Estimate
from pumonitor.stats.simultaneous_band import reaches_alone, simultaneous_widening

_FINALISTS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BestThreshold:
    """A threshold chosen among many, and what can be relied on there.

    Attributes
    ----------
    threshold : float
    criterion : str
        What was maximised: "money" or "f1".
    estimate : Estimate
        There, with its interval as if the threshold had been fixed beforehand: the lower end of the
        best of many is too high on average.
    low, high : float
        Of a band that holds the criterion at all thresholds at once, so also at the chosen one.
    candidates : int
        Thresholds among which was chosen.
    widening : (float, float)
        How many times as far the band reaches down and up as the interval.
    least_reach : (float, float)
        What is widened at least, where an interval reaches less far.
    """

    threshold: float
    criterion: str
    estimate: Estimate
    low: float
    high: float
    candidates: int
    widening: tuple[float, float]
    least_reach: tuple[float, float] = (0.0, 0.0)

    def band(self, estimate: Estimate) -> tuple[float, float]:
        """Ends of the band at any threshold, from the estimate there."""
        return _band(estimate, self.widening, self.least_reach)


def best_threshold(
    problem: Problem,
    resampled: Resampled,
    metric: ThresholdMetric,
    *,
    also: Iterable[float] = (),
) -> BestThreshold:
    """Maximise the lower end of a simultaneous band over thresholds.

    Parameters
    ----------
    problem : Problem
    resampled : Resampled
        The thresholds to choose from are its own; the highest flags no row.
    metric : ThresholdMetric
        The criterion.
    also : iterable of float
        Further thresholds to choose from.

    Notes
    -----
    The band (`pumonitor.stats.simultaneous_band`) is of redraws of rows and class prior. As it
    holds the criterion at all thresholds at once, it does at whichever was chosen, by whatever
    rule. It reaches `widening` times as far as the interval at the threshold alone. The eight
    thresholds whose band is highest by the redraws, which are on a grid of 200 cells, are compared
    by their intervals from confidence draws of the whole table.

    `python -m benchmarks.decisions` counts how often the truth of the chosen threshold is below
    the lower end, which both claim of 2.5% of windows: the band's, and the interval's as if the
    threshold had been fixed.
    """
    point, draws, _ = rates_by_threshold(problem, resampled)
    return best_of(
        metric.name,
        resampled.thresholds,
        criterion_values(metric, point, problem),
        criterion_values(metric, draws, problem),
        confidence_level=problem.confidence_level,
        estimate=lambda one: metric.estimate(at_choice(problem, one)),
        flags_any=lambda one: flags_any(problem, one),
        also=also,
    )


def best_of(
    criterion: str,
    thresholds: FloatArray,
    value: FloatArray,
    redrawn: FloatArray,
    *,
    confidence_level: float,
    estimate: Callable[[float], Estimate],
    flags_any: Callable[[float], bool],
    also: Iterable[float] = (),
    least_share: float = 0.0,
) -> BestThreshold:
    """The same, from values and redraws of the criterion, whatever they are of.

    Parameters
    ----------
    criterion : str
        Its name.
    thresholds : ndarray of shape (t,)
        To choose from.
    value : ndarray of shape (t,)
        Estimates there.
    redrawn : ndarray of shape (redraws, t)
    confidence_level : float
    estimate : callable
        The estimate at a threshold, with its interval.
    flags_any : callable
        Whether any row is flagged at a threshold.
    also : iterable of float
        Further thresholds to choose from.
    least_share : float
        Intervals that reach less far than this share of the farthest are widened as if they
        reached so far. Without it a threshold at which hardly any redraw differs, and one by much,
        widens all others.
    """
    down, up = reaches_alone(value, redrawn, confidence_level=confidence_level)
    least = (least_share * float(down.max()), least_share * float(up.max()))
    down, up = np.maximum(down, least[0]), np.maximum(up, least[1])
    widening = (
        simultaneous_widening(value - redrawn, down, confidence_level=confidence_level),
        simultaneous_widening(redrawn - value, up, confidence_level=confidence_level),
    )
    order = np.argsort(value - widening[0] * down, kind="stable")[::-1]
    finalists = {*thresholds[order[:_FINALISTS]].tolist(), *also}
    estimates = {one: estimate(one) for one in sorted(finalists)}
    ends_of = {
        one: _band(of, widening if flags_any(one) else None, least) for one, of in estimates.items()
    }
    best = max(ends_of, key=lambda one: ends_of[one][0])
    ends = ends_of[best]
    return BestThreshold(
        threshold=best,
        criterion=criterion,
        estimate=estimates[best],
        low=ends[0],
        high=ends[1],
        candidates=len(value),
        widening=widening,
        least_reach=least,
    )


def criterion_values(metric: ThresholdMetric, rates: Rates, problem: Problem) -> FloatArray:
    """Values of a criterion, held to what it can be; 0 where it has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.nan_to_num(np.asarray(metric.formula(rates)))
    return np.clip(values, *metric.value_range(problem.class_prior.value))


def at_choice(problem: Problem, threshold: float) -> AtThreshold:
    """Rates at a threshold that was chosen; beyond the highest score at none."""
    at = at_threshold(problem, threshold)
    return at if flags_any(problem, threshold) else reviewing_nobody(at)


def flags_any(problem: Problem, threshold: float) -> bool:
    """Beyond the highest score is the choice to review nobody, which is sure to bring nothing."""
    return problem.table.index_of_threshold(threshold) < len(problem.table)


def _band(
    estimate: Estimate, widening: tuple[float, float] | None, least_reach: tuple[float, float]
) -> tuple[float, float]:
    """Held to what the criterion can be; none where nothing is uncertain."""
    value, low, high = estimate.displayed
    if widening is None:
        return value, value
    least, most = estimate.range
    return (
        float(max(value - widening[0] * max(value - low, least_reach[0]), least)),
        float(min(value + widening[1] * max(high - value, least_reach[1]), most)),
    )
