"""One number given as a setting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pumonitor.errors import InputError


def as_number(value: Any, *, name: str) -> float:
    """The setting as a finite float.

    Examples
    --------
    >>> as_number("0.5", name="threshold")
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: threshold must be one number, got the text '0.5': convert it with \
float(...)
    """
    if isinstance(value, str | bytes):
        msg = f"{name} must be one number, got the text {value!r:.40}: convert it with float(...)"
        raise InputError(msg)
    try:
        number = float(value) if np.ndim(value) == 0 else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        msg = f"{name} must be one number, got {value!r:.40} of type {type(value).__name__}"
        raise InputError(msg)
    if not math.isfinite(number):
        msg = f"{name} must be finite, got {number:g}"
        raise InputError(msg)
    return number
