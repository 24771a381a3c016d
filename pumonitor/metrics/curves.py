"""ROC, precision-recall and lift curves corrected for the prior, and metrics by threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates, corrected_rates
from pumonitor.metrics.resampled import Resampled
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Curve
from pumonitor.stats.quantiles import quantiles

_GRID = 101
_ROUNDING = 1e-12


def roc_curve(problem: Problem, resampled: Resampled) -> Curve:
    """True against false positive rate (Jain et al. 2017, equations 1-2 and Algorithm 1).

    It is held to what a curve can be, AUC is not: the area below it can be a little off AUC.
    """
    x = np.linspace(0.0, 1.0, _GRID)
    return _curve(
        problem,
        resampled,
        name="roc",
        x_title="False positive rate",
        y_title="True positive rate (recall)",
        x=x,
        coordinates=lambda rates: (rates.false_positive_rate, rates.recall),
    )


def precision_recall_curve(problem: Problem, resampled: Resampled) -> Curve:
    """Precision against recall (Jain et al. 2017, equations 1 and 3)."""
    return _curve(
        problem,
        resampled,
        name="precision_recall",
        x_title="Recall",
        y_title="Precision",
        x=np.linspace(0.01, 1.0, _GRID - 1),
        coordinates=lambda rates: (
            rates.recall,
            rates.class_prior * rates.recall / rates.predicted_positive_rate,
        ),
        monotone=False,
    )


def lift_curve(problem: Problem, resampled: Resampled) -> Curve:
    """Recall against the share of rows flagged; the area under it is AUL."""
    return _curve(
        problem,
        resampled,
        name="lift",
        x_title="Share of rows flagged, highest scores first",
        y_title="Share of positives found (recall)",
        x=np.linspace(0.0, 1.0, _GRID),
        coordinates=lambda rates: (rates.predicted_positive_rate, rates.recall),
    )


def by_threshold(
    problem: Problem, resampled: Resampled, metrics: tuple[ThresholdMetric, ...]
) -> dict[str, Curve]:
    """Each metric against the decision threshold: what would happen at another one.

    The band is of the redraws of a table with few cells. An estimate at one threshold has its
    interval from the confidence draws of the whole table, which differs a little from the band.
    """
    x = resampled.thresholds[:-1]
    point, draws, naive = rates_by_threshold(problem, resampled)
    curves = {}
    tail = 0.5 * (1 - problem.confidence_level)
    for metric in metrics:
        low_end, high_end = metric.value_range(problem.class_prior.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(metric.formula(draws))[:, :-1]
            y = np.asarray(metric.formula(point))[:-1]
            uncorrected = np.asarray(metric.formula(naive))[:-1]
        # A resample without a value at a threshold says nothing there: the estimate stands in.
        values = np.where(np.isnan(values), y, np.clip(values, low_end, high_end))
        low, high = quantiles(np.nan_to_num(values), [tail, 1 - tail])
        name = f"{metric.name}_by_threshold"
        curves[name] = Curve(
            name=name,
            x_title="Decision threshold",
            y_title=metric.name.replace("_", " "),
            x=x,
            y=np.clip(y, low_end, high_end),
            low=np.clip(np.fmin(low, y), low_end, high_end),
            high=np.clip(np.fmax(high, y), low_end, high_end),
            uncorrected=np.clip(uncorrected, low_end, high_end),
        )
    return curves


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThresholdCells:
    """What is to be known to read curves by threshold, at each of their thresholds.

    Attributes
    ----------
    tops : ndarray
        Highest score of the cell whose lowest is the threshold.
    impossible : ndarray of bool
        Whether more positives would be caught than are flagged, or more than all: precision and
        what else is made of these rates is held to what is possible, or cannot be right.
    """

    tops: FloatArray
    impossible: NDArray[np.bool_]


def threshold_cells(problem: Problem, *, cells: int, thresholds: Sequence[float]) -> ThresholdCells:
    """Of the curves that `by_threshold` makes with as many cells and these among their edges."""
    small = problem.on_table(problem.table.compress(cells, thresholds=thresholds))
    theta = small.population_above[:-1]
    rates = corrected_rates(
        small.labeled_above[:-1],
        theta,
        problem.class_prior.value,
        label_purity=problem.label_purity,
    )
    caught = rates.class_prior * rates.recall
    held = np.clip(caught, 0.0, np.minimum(theta, rates.class_prior))
    return ThresholdCells(tops=small.table.upper, impossible=np.abs(caught - held) > _ROUNDING)


def rates_by_threshold(problem: Problem, resampled: Resampled) -> tuple[Rates, Rates, Rates]:
    """Rates at the thresholds: estimated, redrawn, and with unlabeled counted as negative."""
    purity = problem.label_purity
    g, theta = resampled.labeled_above, resampled.population_above
    point = corrected_rates(g, theta, problem.class_prior.value, label_purity=purity)
    draws = corrected_rates(
        resampled.labeled_draws,
        resampled.population_draws,
        resampled.prior_draws,
        label_purity=purity,
    )
    naive_g, naive_theta, q = resampled.uncorrected
    return point, draws, corrected_rates(naive_g, naive_theta, q, label_purity=1.0)


def _curve(
    problem: Problem,
    resampled: Resampled,
    *,
    name: str,
    x_title: str,
    y_title: str,
    x: FloatArray,
    coordinates: Callable[[Rates], tuple[FloatArray, FloatArray]],
    monotone: bool = True,
) -> Curve:
    point, draws, naive = rates_by_threshold(problem, resampled)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = _on_grid(*coordinates(point), x, monotone=monotone)
        uncorrected = _on_grid(*coordinates(naive), x, monotone=monotone)
        x_draws, y_draws = np.broadcast_arrays(*coordinates(draws))
        redrawn = _on_grid(x_draws, y_draws, x, monotone=monotone)
    tail = 0.5 * (1 - problem.confidence_level)
    # A resample with nothing flagged anywhere has no curve: the estimate stands in.
    redrawn = np.where(np.isnan(redrawn), y, redrawn)
    low, high = quantiles(redrawn, [tail, 1 - tail])
    return Curve(
        name=name,
        x_title=x_title,
        y_title=y_title,
        x=x,
        y=y,
        low=np.minimum(low, y),
        high=np.maximum(high, y),
        uncorrected=uncorrected,
    )


def _on_grid(x: FloatArray, y: FloatArray, grid: FloatArray, *, monotone: bool) -> FloatArray:
    """Y at the grid points of curves given from the lowest threshold to the highest.

    `x` and `y` hold one curve, or one in each row. A corrected rate can step outside [0, 1] or
    back by sampling noise. As in Algorithm 1 of Jain et al. (2017) a curve is made
    non-decreasing; where that drops points outside the square, they are moved to its border here,
    so that the ends of the curve are kept. A curve that is known nowhere is NaN.
    """
    horizontal = np.clip(x[..., ::-1], 0.0, 1.0)
    vertical = np.clip(y[..., ::-1], 0.0, 1.0)
    known = np.isfinite(horizontal) & np.isfinite(vertical)
    if x.ndim > 1 and (known != known[0]).any():
        rows = zip(x, y, strict=True)
        return np.array([_on_grid(xs, ys, grid, monotone=monotone) for xs, ys in rows])
    points = known[0] if x.ndim > 1 else known
    if not points.any():
        return np.full((*x.shape[:-1], len(grid)), np.nan)
    horizontal = np.maximum.accumulate(horizontal[..., points], axis=-1)
    vertical = vertical[..., points]
    if monotone:
        vertical = np.maximum.accumulate(vertical, axis=-1)
    if x.ndim == 1:
        return np.interp(grid, horizontal, vertical)
    return np.array([np.interp(grid, *row) for row in zip(horizontal, vertical, strict=True)])
