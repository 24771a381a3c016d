"""Curves, average precision, best thresholds and the top of the list, by the draws of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.audit.posterior import PositivesByBin
from pumonitor.audited_positives import AuditedPositives, estimate_of_draws
from pumonitor.metrics.curves import by_threshold, lift_curve, precision_recall_curve, roc_curve
from pumonitor.metrics.maxima import MAXIMIZED
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.metrics.top_k import share_of_k
from pumonitor.results import Curve, Estimate
from pumonitor.tables import ScoreTable

_CELLS: Final = 400
_CURVE_CELLS: Final = 200
_ANY: Final = (-np.inf, np.inf)


def where_bins_begin(table: ScoreTable, edges: FloatArray) -> list[float]:
    """Lowest score of the first cell of each bin; of earlier windows, an edge may lie in a cell."""
    first = np.searchsorted(0.5 * (table.lower + table.upper), edges)
    begins: list[float] = table.lower[first[first < len(table)]].tolist()
    return begins


def audited_estimates(
    problem: Problem, posterior: PositivesByBin, *, threshold: float, top_k: float
) -> dict[str, Estimate]:
    """What an audit says of the ranking beyond AUC, for the rows of the window.

    How many positives a score bin has the audit tells; where in it they score is taken from its
    confirmed ones, who are a fair sample of them. A best value is too high by what chance adds at
    the best of many thresholds (.015 of F1 at 300 cases). Where the ranking is nearly perfect,
    recall in the top of the list is too low (by .01 of .985 at AUC .99), since of the few
    positives in the lowest bins nothing tells where they lie.

    Parameters
    ----------
    problem : Problem
        Of the table that the audit was read with.
    posterior : AuditPosterior
    threshold : float
    top_k : float
        As in `pumonitor.evaluate`.

    Returns
    -------
    dict of str to Estimate
        "average_precision", "<metric>_max" with its threshold, "precision_at_k", "recall_at_k",
        "lift_at_k"; intervals are about these very rows.
    """
    begins = where_bins_begin(problem.table, posterior.bins.edges)
    at = AuditedPositives.of(
        problem.table.compress(_CELLS, thresholds=(threshold, *begins)), posterior
    )

    found = [estimate_of_draws(problem, "average_precision", at.average_precision())]
    rates = at.rates
    for metric in MAXIMIZED:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(metric.formula(rates))
        # Only MCC lacks a value, where all rows are flagged or none: as a decision worth 0.
        values = np.where(np.isfinite(values), values, 0.0)
        value_range = metric.value_range(problem.class_prior.value)
        found += [
            estimate_of_draws(problem, f"{metric.name}_max", values.max(axis=1), value_range),
            estimate_of_draws(
                problem, f"{metric.name}_max_threshold", at.thresholds[values.argmax(axis=1)], _ANY
            ),
        ]
    share = share_of_k(top_k, rows=float(at.rows.sum()))
    recall = at.recall_in_top(share)
    prior = rates.class_prior[:, 0]
    highest = 1.0 / max(share, problem.class_prior.value)
    found += [
        estimate_of_draws(problem, "precision_at_k", recall * prior / share),
        estimate_of_draws(problem, "recall_at_k", recall),
        estimate_of_draws(problem, "lift_at_k", recall / share, (0.0, highest)),
    ]
    return {one.name: one for one in found}


def audited_curves(
    problem: Problem,
    posterior: PositivesByBin,
    *,
    threshold: float,
    metrics: tuple[ThresholdMetric, ...],
) -> dict[str, Curve]:
    """The curves of an evaluation by the draws of an audit, with their bands.

    Parameters
    ----------
    problem, posterior, threshold
        As in `audited_estimates`.
    metrics : tuple of ThresholdMetric
        Those with a curve by threshold.
    """
    begins = (threshold, *where_bins_begin(problem.table, posterior.bins.edges))
    seen = resample(problem, cells=_CURVE_CELLS, thresholds=begins)
    at = AuditedPositives.of(problem.table.compress(_CURVE_CELLS, thresholds=begins), posterior)
    size = len(seen.labeled_draws)
    drawn = at.rates.recall[:size]
    mean = at.counts_above.mean(axis=0)
    redrawn = replace(
        seen,
        labeled_above=mean / mean[0],
        labeled_draws=drawn,
        population_draws=np.broadcast_to(seen.population_above, drawn.shape),
        prior_draws=at.rates.class_prior[:size],
    )
    # At the last threshold nothing is flagged, and precision has no value.
    rates = at.rates_at(slice(None, -1))
    here = int(np.searchsorted(at.thresholds, threshold))
    false, flagged = rates.false_positive_rate, rates.predicted_positive_rate[np.newaxis]
    precision = rates.class_prior * rates.recall / flagged
    curves = {
        "roc": _through(roc_curve(problem, redrawn), false, rates.recall, here),
        "precision_recall": _through(
            precision_recall_curve(problem, redrawn), rates.recall, precision, here
        ),
        "lift": _through(lift_curve(problem, redrawn), flagged, rates.recall, here),
    }
    return curves | _with_medians(by_threshold(problem, redrawn, metrics), at.rates, metrics)


def _through(curve: Curve, x: FloatArray, y: FloatArray, here: int) -> Curve:
    """The curve through the medians at every threshold, with a point at the chosen one.

    So the estimates at that threshold lie on it.

    Parameters
    ----------
    curve : Curve
    x, y : ndarray of shape (draws, thresholds)
        Of x either draws or one row; thresholds ascend, so that x falls.
    here : int
        Index of the chosen threshold; one above all scores has no point.
    """
    along, up = (np.median(drawn, axis=0) for drawn in (x, y))
    at_chosen, chosen_y = along[here : here + 1], up[here : here + 1]
    new = at_chosen[~np.isin(at_chosen, curve.x)]
    place = np.searchsorted(curve.x, new)
    columns: dict[str, Any] = {
        name: np.insert(values, place, np.interp(new, curve.x, values))
        for name in ("x", "low", "high", "uncorrected")
        if (values := getattr(curve, name)) is not None
    }
    along, up = along[::-1], up[::-1]
    if curve.name != "precision_recall":
        along, up = np.append(0.0, along), np.append(0.0, up)
    finer = replace(curve, **columns)
    middle = np.interp(finer.x, along, up)
    # Thresholds between which no positive lies share their recall, not their precision.
    middle[np.searchsorted(finer.x, at_chosen)] = chosen_y
    return _with_middle(finer, middle)


def _with_middle(curve: Curve, middle: FloatArray) -> Curve:
    """The curve with other points, which its band contains."""
    low, high = np.minimum(curve.low, middle), np.maximum(curve.high, middle)
    return replace(curve, y=middle, low=low, high=high)


def _with_medians(
    curves: Mapping[str, Curve], rates: Rates, metrics: Sequence[ThresholdMetric]
) -> dict[str, Curve]:
    """Curves by threshold whose points are medians of the draws, as the estimates are."""
    found = dict(curves)
    for metric in metrics:
        curve = curves[f"{metric.name}_by_threshold"]
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.broadcast_to(metric.formula(rates), rates.recall.shape)[:, : len(curve.x)]
        # Where nothing or everything is flagged MCC has no value.
        middle = np.where(np.isnan(drawn).any(axis=0), curve.y, np.median(drawn, axis=0))
        found[curve.name] = _with_middle(curve, middle)
    return found
