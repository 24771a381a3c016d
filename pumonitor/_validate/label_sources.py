"""Where each confirmation came from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._validate.columns import is_missing
from pumonitor._validate.labels import as_labels
from pumonitor.errors import InputError


def scores_by_source(
    labels: Any, scores: NDArray[Any], label_source: Any
) -> dict[str, FloatArray] | None:
    """Scores of the labeled rows by where their label came from; a missing source is its own.

    Examples
    --------
    >>> found = scores_by_source([1, 1, 0], np.array([0.9, 0.4, 0.1]), ["desk", "bank", None])
    >>> {name: values.tolist() for name, values in found.items()}
    {'bank': [0.4], 'desk': [0.9]}
    """
    if label_source is None:
        return None
    values = values_by_row(label_source, len(scores), name="label_source")
    is_labeled = as_labels(labels) == 1
    names = np.array(["unknown" if is_missing(v) else str(v) for v in values[is_labeled]])
    labeled_scores = scores[is_labeled].astype(np.float64)
    return {str(name): labeled_scores[names == name] for name in np.unique(names)}


def values_by_row(column: Any, rows: int, *, name: str) -> NDArray[Any]:
    """Values of any array-like, missing ones as they are; one a row, or it is refused."""
    values = column if isinstance(column, np.ndarray) else None
    if values is None:
        listed = column.to_list() if hasattr(column, "to_list") else list(column)
        values = np.array(listed, dtype=object)
    if values.shape != (rows,):
        msg = f"{name} must have one value per row: got {len(values)} for {rows} rows"
        raise InputError(msg)
    return values
