"""Propensities as they were logged, and the settings that change them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._validate.columns import is_missing
from pumonitor._validate.numbers import as_number
from pumonitor.errors import InputError, if_percent

NEVER_LABELED = (
    "a row that had no chance of being labeled was labeled, so it was not found by the policy the "
    "column describes; give it the chance it had, or count it as unlabeled (0)"
)
"""What a labeled row of propensity 0 means."""


def as_propensities(
    labels: NDArray[np.int8], propensity: Any, *, detection_rate: float, min_propensity: float
) -> FloatArray | None:
    """Propensities as they were given, one per row; checked on labeled rows, the only ones read.

    Examples
    --------
    >>> as_propensities(np.array([1, 0]), [0.0, 1.0], detection_rate=1.0, min_propensity=0.0)
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: propensity is 0 in 1 of 1 labeled rows, first at row 0: a row \
that had no chance of being labeled was labeled, so it was not found by the policy the column \
describes; give it the chance it had, or count it as unlabeled (0)
    """
    check_propensity_settings(
        propensity, detection_rate=detection_rate, min_propensity=min_propensity
    )
    if propensity is None:
        return None
    values = _numbers_or_nan(propensity, name="propensity")
    if values.ndim == 0:
        values = np.full(len(labels), float(values))
    if values.shape != labels.shape:
        shape = f"{len(values)}" if values.ndim == 1 else f"shape {values.shape}"
        msg = f"propensity must have one value per row: got {shape} for {len(labels)} rows"
        raise InputError(msg)
    labeled = np.flatnonzero(labels == 1)
    read = values[labeled]
    if (read == 0).any():
        first = labeled[int(np.argmax(read == 0))]
        msg = (
            f"propensity is 0 in {np.count_nonzero(read == 0)} of {len(read)} labeled rows, first "
            f"at row {first}: {NEVER_LABELED}"
        )
        raise InputError(msg)
    wrong = ~((read > 0) & (read <= 1))
    if wrong.any():
        first = labeled[int(np.argmax(wrong))]
        msg = (
            f"propensity of labeled rows must be finite, above 0 and at most 1: "
            f"{np.count_nonzero(wrong)} of {len(read)} are not, first at row {first} "
            f"({values[first]:g})"
        )
        raise InputError(msg)
    return values


def check_propensity_settings(
    propensity: object, *, detection_rate: float, min_propensity: float
) -> None:
    """Refuse what is no share, and settings of propensities that there are none of.

    Raises
    ------
    ValueError
        Unless 0 < detection_rate <= 1 and 0 <= min_propensity < 1.
    """
    detection_rate = as_number(detection_rate, name="detection_rate")
    min_propensity = as_number(min_propensity, name="min_propensity")
    if propensity is None and (detection_rate != 1.0 or min_propensity != 0.0):
        name = "detection_rate" if detection_rate != 1.0 else "min_propensity"
        msg = f"{name} changes propensities, and there are none: give propensity as well"
        raise ValueError(msg)
    if not 0 < detection_rate <= 1:
        msg = (
            "detection_rate must satisfy 0 < detection_rate <= 1, got "
            f"{detection_rate:g}{if_percent(detection_rate)}"
        )
        raise ValueError(msg)
    if not 0 <= min_propensity < 1:
        msg = (
            "min_propensity must satisfy 0 <= min_propensity < 1, got "
            f"{min_propensity:g}{if_percent(min_propensity)}"
        )
        raise ValueError(msg)


def _numbers_or_nan(values: Any, *, name: str) -> FloatArray:
    """Numbers, with NaN where there is none: for columns of which only some rows are read."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        # pandas' own NA, and Arrow, which numpy does not convert by itself.
        listed = values.tolist() if hasattr(values, "tolist") else list(values)
    try:
        return np.array([math.nan if is_missing(value) else float(value) for value in listed])
    except (TypeError, ValueError):
        msg = f"{name} must be numbers, got {listed[:3]!r:.60}: convert it first"
        raise InputError(msg) from None
