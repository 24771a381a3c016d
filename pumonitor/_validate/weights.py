"""How many rows of the population, and how many positives, each row stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._validate.columns import as_array
from pumonitor._validate.propensities import as_propensities
from pumonitor.errors import InputError


def as_weights(weights: Any, *, rows: int, name: str, low: float, high: float) -> NDArray[Any]:
    """Positive finite weights, one per row, with low < weight <= high."""
    values = as_array(weights, name=name, missing_remedy="give every row a value")
    values = values.astype(np.float64)
    if len(values) != rows:
        msg = f"{name} must have one value per row: got {len(values)} for {rows} rows"
        raise InputError(msg)
    wrong = ~(np.isfinite(values) & (values > low) & (values <= high))
    count = int(np.count_nonzero(wrong))
    if count:
        first = int(np.argmax(wrong))
        bound = "" if np.isinf(high) else f" and at most {high:g}"
        msg = (
            f"{name} must be finite, above {low:g}{bound}: {count} of {rows} rows are not, first "
            f"at row {first} ({values[first]:g})"
        )
        raise InputError(msg)
    return values


def row_weights(
    labels: NDArray[np.int8],
    sample_weight: Any,
    propensity: Any,
    *,
    detection_rate: float = 1.0,
    min_propensity: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Rows of the population, and positives, that each row stands for: w, and w / propensity."""
    rows = len(labels)
    weight = np.ones(rows)
    if sample_weight is not None:
        weight = as_weights(sample_weight, rows=rows, name="sample_weight", low=0.0, high=np.inf)
    represented = weight.copy()
    logged = as_propensities(
        labels, propensity, detection_rate=detection_rate, min_propensity=min_propensity
    )
    if logged is not None:
        is_labeled = labels == 1
        represented[is_labeled] /= np.maximum(detection_rate * logged[is_labeled], min_propensity)
    return weight, represented
