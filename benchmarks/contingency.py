"""Metrics of a decision from its four counts, as textbooks define them."""

from __future__ import annotations

import math


def of_counts(tp: float, fp: float, fn: float, tn: float) -> dict[str, float]:
    """Each of `pumonitor.metrics.THRESHOLD_METRICS`; the counts may be shares of the rows."""
    rows = tp + fp + fn + tn
    return {
        "recall": tp / (tp + fn),
        "precision": tp / (tp + fp),
        "specificity": tn / (tn + fp),
        "f1": 2 * tp / (2 * tp + fp + fn),
        "accuracy": (tp + tn) / rows,
        "balanced_accuracy": 0.5 * (tp / (tp + fn) + tn / (tn + fp)),
        "mcc": (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        "ll_score": (tp / (tp + fn)) ** 2 / ((tp + fp) / rows),
    }
