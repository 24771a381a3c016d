"""Scores: finite numbers that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate.columns import as_array, refuse_empty
from pumonitor._validate.numbers import as_number
from pumonitor.errors import InputError

_MISSING_SCORE_REMEDY = "a row without a score was not scored; drop it or repair the scoring job"


def as_scores(scores: Any, *, name: str = "scores") -> NDArray[Any]:
    """Scores as a float array (float32 kept), finite and not all equal.

    Examples
    --------
    >>> as_scores([0.1, float("nan")])
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: scores has 1 missing values (NaN) in 2 rows, first at row 1: a \
row without a score was not scored; drop it or repair the scoring job
    """
    values = as_array(
        scores,
        name=name,
        missing_remedy=_MISSING_SCORE_REMEDY,
    )
    refuse_empty(values, name=name)
    if values.dtype.kind in "iub":
        values = values.astype(np.float64)
    elif values.dtype == object:
        strings = sum(isinstance(value, str | bytes) for value in values)
        if strings:
            _refuse_text(strings, len(values), name=name)
        values = values.astype(np.float64)
    elif values.dtype.kind != "f":
        _refuse_text(len(values), len(values), name=name)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        _refuse_not_finite(values, name=name)
    if low == high and len(values) > 1:
        msg = (
            f"{name} are all equal to {float(low):g} in {len(values)} rows: a constant score ranks "
            "nothing; check that the column holds the model's score"
        )
        raise InputError(msg)
    return values


def _refuse_text(count: int, rows: int, *, name: str) -> None:
    msg = (
        f"{name} holds text, not numbers, in {count} of {rows} rows: convert it, for example with "
        "astype(float)"
    )
    raise InputError(msg)


def _refuse_not_finite(values: NDArray[Any], *, name: str) -> None:
    missing = np.isnan(values)
    if missing.any():
        msg = (
            f"{name} has {int(missing.sum())} missing values (NaN) in {len(values)} rows, first at "
            f"row {int(np.argmax(missing))}: {_MISSING_SCORE_REMEDY}"
        )
        raise InputError(msg)
    infinite = np.isinf(values)
    msg = (
        f"{name} has {int(infinite.sum())} infinite values in {len(values)} rows, first at row "
        f"{int(np.argmax(infinite))}: clip the scores, or use probabilities in place of log-odds"
    )
    raise InputError(msg)


def as_threshold(threshold: Any, scores: NDArray[Any]) -> float:
    """The threshold in the scores' own precision, in which ``scores >= threshold`` compares them.

    Examples
    --------
    >>> as_threshold(0.1, np.array([0.1, 0.2], dtype=np.float32)) == 0.1
    False
    """
    return float(scores.dtype.type(as_number(threshold, name="threshold")))
