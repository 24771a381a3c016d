"""One function per estimate, like scikit-learn's, each returning an `Estimate` with interval."""

from typing import Final

from pumonitor.metrics.accuracy import ACCURACY, accuracy
from pumonitor.metrics.auc import auc
from pumonitor.metrics.aul import aul
from pumonitor.metrics.average_precision import average_precision
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY, balanced_accuracy
from pumonitor.metrics.bounds import bounds
from pumonitor.metrics.f_beta import F1, f1, f_beta
from pumonitor.metrics.inversions import share_of_inversions
from pumonitor.metrics.ll_score import LL_SCORE, ll_score
from pumonitor.metrics.matthews_correlation import MCC, mcc
from pumonitor.metrics.precision import PRECISION, precision
from pumonitor.metrics.predicted_positive_rate import predicted_positive_rate
from pumonitor.metrics.recall import RECALL, recall
from pumonitor.metrics.specificity import SPECIFICITY, specificity
from pumonitor.metrics.threshold_metric import ThresholdMetric

__all__ = [
    "accuracy",
    "auc",
    "aul",
    "average_precision",
    "balanced_accuracy",
    "bounds",
    "f1",
    "f_beta",
    "ll_score",
    "mcc",
    "precision",
    "predicted_positive_rate",
    "recall",
    "share_of_inversions",
    "specificity",
]

THRESHOLD_METRICS: Final[tuple[ThresholdMetric, ...]] = (
    RECALL,
    PRECISION,
    SPECIFICITY,
    F1,
    ACCURACY,
    BALANCED_ACCURACY,
    MCC,
    LL_SCORE,
)
"""Metrics of a decision; evaluations, bounds, sensitivity, benchmarks and tests read this list.

F-beta stands apart, as each evaluation has its own beta, and so does the predicted positive rate,
which needs no labels.
"""
