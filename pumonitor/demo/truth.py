"""What complete labels say, with scikit-learn: the yardstick of the demonstration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

COMPARED: Final = (
    "precision",
    "recall",
    "f1",
    "mcc",
    "accuracy",
    "auc",
    "aul",
    "average_precision",
)
"""The metrics shown, in this order."""


def metrics_of(labels: ArrayLike, scores: ArrayLike, *, threshold: float) -> dict[str, float]:
    """Metrics of scores when `labels` (1 or 0) are taken as the truth.

    Examples
    --------
    >>> found = metrics_of([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.2, 0.1], threshold=0.5)
    >>> round(found["precision"], 3), round(found["auc"], 3), round(found["aul"], 3)
    (0.667, 0.833, 0.7)
    """
    import numpy as np
    from sklearn import metrics

    truth = np.asarray(labels)
    values = np.asarray(scores)
    flagged: Any = values >= threshold
    class_prior = float(truth.mean())
    auc = float(metrics.roc_auc_score(truth, values))
    return {
        "precision": float(metrics.precision_score(truth, flagged)),
        "recall": float(metrics.recall_score(truth, flagged)),
        "f1": float(metrics.f1_score(truth, flagged)),
        "mcc": float(metrics.matthews_corrcoef(truth, flagged)),
        "accuracy": float(metrics.accuracy_score(truth, flagged)),
        "auc": auc,
        # A random row is a positive (even chances, ties one half) or a negative (AUC).
        "aul": class_prior / 2 + (1 - class_prior) * auc,
        "average_precision": float(metrics.average_precision_score(truth, values)),
    }
