"""Every estimate and every curve of an evaluation."""

from __future__ import annotations

from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.curves import by_threshold, lift_curve, precision_recall_curve, roc_curve
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.ll_score import LL_SCORE
from pumonitor.metrics.maxima import maxima
from pumonitor.metrics.predicted_positive_rate import PREDICTED_POSITIVE_RATE
from pumonitor.metrics.prior_quantities import (
    class_prior_estimate,
    label_frequency_estimate,
    unlabeled_prior_estimate,
)
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_cell, share_draws_at
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.metrics.top_k import top_k_estimates
from pumonitor.metrics.uncorrected import (
    UNCORRECTED_AT_THRESHOLD,
    uncorrected_at,
    uncorrected_ranking,
)
from pumonitor.results import Curve, Estimate

CURVE_CELLS = 200


def estimates_and_curves(
    problem: Problem,
    threshold: float,
    top_k: float,
    beta_metric: ThresholdMetric,
    *,
    curves: bool,
) -> tuple[dict[str, Estimate], dict[str, Curve]]:
    """Estimates by name, and curves by name unless none are asked for."""
    index = problem.table.index_of_threshold(threshold)
    drawn = share_draws_at(problem, index)
    at = at_cell(problem, index, drawn)
    naive = uncorrected_at(problem, index, drawn)
    lift = observed_lift(problem)
    resampled = resample(
        problem,
        cells=CURVE_CELLS,
        thresholds=(threshold,),
        at="all" if curves else "labeled",
    )
    threshold_metrics = _with_f_beta(beta_metric)
    found = [
        class_prior_estimate(problem),
        unlabeled_prior_estimate(problem),
        label_frequency_estimate(problem),
        PREDICTED_POSITIVE_RATE.estimate(at),
        aul_estimate(problem, lift),
        auc_estimate(problem, lift),
        average_precision_estimate(problem),
        *(metric.estimate(at) for metric in threshold_metrics),
        *maxima(problem, resampled),
        *top_k_estimates(problem, top_k),
        *uncorrected_ranking(problem),
        *(metric.estimate(naive, name=f"{metric.name}_pu") for metric in UNCORRECTED_AT_THRESHOLD),
    ]
    by_name = {estimate.name: estimate for estimate in found}
    if not curves:
        return by_name, {}
    return by_name, {
        "roc": roc_curve(problem, resampled),
        "precision_recall": precision_recall_curve(problem, resampled),
        "lift": lift_curve(problem, resampled),
        **by_threshold(problem, resampled, curve_metrics(beta_metric)),
    }


def curve_metrics(beta_metric: ThresholdMetric) -> tuple[ThresholdMetric, ...]:
    """Metrics with a curve by threshold.

    Where an LL score ends depends on the class prior: its curve could not be read beside others.
    """
    shown = [metric for metric in _with_f_beta(beta_metric) if metric is not LL_SCORE]
    return (*shown, PREDICTED_POSITIVE_RATE)


def _with_f_beta(beta_metric: ThresholdMetric) -> list[ThresholdMetric]:
    metrics = [*THRESHOLD_METRICS]
    metrics.insert(metrics.index(F1) + 1, beta_metric)
    return metrics
