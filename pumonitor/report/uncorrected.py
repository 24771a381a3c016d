"""The number one would get by counting unconfirmed cases as negatives, beside each estimate."""

from __future__ import annotations

import math

import numpy as np

from pumonitor.names import AT_THRESHOLD, UNCORRECTED_OF
from pumonitor.results import Evaluation

_OF_A_DECISION = frozenset(AT_THRESHOLD) - {"predicted_positive_rate"}


def uncorrected_value(evaluation: Evaluation, name: str) -> float | None:
    """The uncorrected counterpart of an estimate, None when it has none or no value.

    Read from the ``_pu`` estimate, else from the uncorrected curve at the decision threshold. The
    naive share of positives is the share of rows that are labeled, which only weights change.
    """
    if name in UNCORRECTED_OF:
        estimate = evaluation.estimates.get(UNCORRECTED_OF[name])
        return None if estimate is None else _finite(estimate.value)
    if name in _OF_A_DECISION:
        return _on_curve(evaluation, name)
    settings = evaluation.settings
    if (
        name == "class_prior"
        and settings["scenario"] == "single-training-set"
        and not settings.get("weighted", False)
    ):
        counts = (settings["n_labeled"], settings["n_unlabeled"], settings["n_negative"])
        return float(counts[0] / sum(counts))
    return None


def _on_curve(evaluation: Evaluation, name: str) -> float | None:
    curve = evaluation.curves.get(f"{name}_by_threshold")
    if curve is None or curve.uncorrected is None:
        return None
    # The grid holds the first score at or above the threshold: the same rows are above both.
    index = int(np.searchsorted(curve.x, evaluation.settings["threshold"], side="left"))
    return _finite(float(curve.uncorrected[index])) if index < len(curve.x) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
