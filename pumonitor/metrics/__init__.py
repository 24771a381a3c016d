"""One function per estimate, like scikit-learn's, each returning an `Estimate` with interval."""

from pumonitor.metrics.accuracy import accuracy
from pumonitor.metrics.auc import auc
from pumonitor.metrics.aul import aul
from pumonitor.metrics.average_precision import average_precision
from pumonitor.metrics.balanced_accuracy import balanced_accuracy
from pumonitor.metrics.bounds import bounds
from pumonitor.metrics.f_beta import f1, f_beta
from pumonitor.metrics.inversions import share_of_inversions
from pumonitor.metrics.ll_score import ll_score
from pumonitor.metrics.matthews_correlation import mcc
from pumonitor.metrics.precision import precision
from pumonitor.metrics.predicted_positive_rate import predicted_positive_rate
from pumonitor.metrics.recall import recall
from pumonitor.metrics.specificity import specificity

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
