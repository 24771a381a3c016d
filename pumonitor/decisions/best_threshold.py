"""The threshold whose lower bound is highest, with bounds that allow for the choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.curves import rates_by_threshold
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.resampled import Resampled
from pumonitor.metrics.threshold_metric import ThresholdMetric

__all__ = ["BestThreshold", "best_threshold"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestThreshold:
    """A threshold chosen among many, and what can be relied on there.

    Attributes
    ----------
    threshold : float
    criterion : str
        What was maximised: "money" or "f1".
    value : float
        The estimate there.
    low, high : float
        Of a band that holds the criterion at all thresholds at once, so also at the chosen one.
    single_low, single_high : float
        The interval as if the threshold had been fixed beforehand: the lower end of the best of
        many is too high on average.
    candidates : int
        Thresholds among which was chosen.
    """

    threshold: float
    criterion: str
    value: float
    low: float
    high: float
    single_low: float
    single_high: float
    candidates: int


def best_threshold(
    problem: Problem, resampled: Resampled, metric: ThresholdMetric
) -> BestThreshold:
    """Maximise the lower end of a simultaneous band over thresholds.

    Parameters
    ----------
    problem : Problem
    resampled : Resampled
        The thresholds to choose from are its own; the highest flags no row.
    metric : ThresholdMetric
        The criterion.

    Notes
    -----
    With M(t) the estimate at threshold t and M_b(t) its redraw b (of rows and class prior, the
    same for all t), let l(t) = M(t) - q(t), q the lower quantile of the redraws at t alone. The
    band is M(t) - k l(t), where k >= 1 is the least number such that a share of (1 +
    confidence_level) / 2 of the redraws lies above the band at every t:

        k = quantile over b of max over t of (M(t) - M_b(t)) / l(t),

    and likewise upwards. As the band holds M at all thresholds at once, it does at whichever was
    chosen, by whatever rule. `python -m benchmarks.decisions` measures it: the lower end as if the
    threshold had been fixed lay above the truth more often than the 2.5% that it claims.

    References
    ----------
    Romano and Wolf (2005), Stepwise multiple testing as formalized data snooping, section 4;
    Montiel Olea and Plagborg-Moller (2019), Simultaneous confidence bands, section 2 (sup-t band).
    """
    point, draws, _ = rates_by_threshold(problem, resampled)
    value = _values(metric, point, problem)
    redrawn = _values(metric, draws, problem)
    tail = 0.5 * (1 - problem.confidence_level)
    single_low, single_high = np.quantile(redrawn, [tail, 1 - tail], axis=0)
    single_low, single_high = np.minimum(single_low, value), np.maximum(single_high, value)
    low = value - _widening(value - redrawn, value - single_low, tail) * (value - single_low)
    high = value + _widening(redrawn - value, single_high - value, tail) * (single_high - value)
    best = int(np.argmax(low))
    ends = metric.value_range(problem.class_prior.value)
    return BestThreshold(
        threshold=float(resampled.thresholds[best]),
        criterion=metric.name,
        value=float(value[best]),
        low=float(np.clip(low[best], *ends)),
        high=float(np.clip(high[best], *ends)),
        single_low=float(single_low[best]),
        single_high=float(single_high[best]),
        candidates=len(value),
    )


def _widening(beyond: FloatArray, reach: FloatArray, tail: float) -> float:
    """How many times its reach a band needs, to hold all thresholds at once."""
    counted = reach > 0
    if not counted.any():
        return 1.0
    farthest = np.max(beyond[:, counted] / reach[counted], axis=1)
    return max(1.0, float(np.quantile(farthest, 1 - tail)))


def _values(metric: ThresholdMetric, rates: Rates, problem: Problem) -> FloatArray:
    """Held to what the criterion can be; 0 where it has no value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.nan_to_num(np.asarray(metric.formula(rates)))
    return np.clip(values, *metric.value_range(problem.class_prior.value))
