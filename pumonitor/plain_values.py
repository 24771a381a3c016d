"""Values as JSON takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time
from typing import Any


def plain(value: Any) -> Any:
    """The value in JSON types.

    Mappings, dataclasses and what has a ``to_dict`` become objects, arrays and tuples lists, times
    ISO 8601, NaN and infinity None, and what JSON has nothing for its text.

    Examples
    --------
    >>> plain({"low": float("nan"), "ends": (1, 2.5)})
    {'low': None, 'ends': [1, 2.5]}
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return finite_or_none(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return plain_fields(value)
    return plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def plain_fields(record: Any, *names: str) -> dict[str, Any]:
    """Attributes of a record by name, in JSON types; by default all fields of a dataclass."""
    return {
        name: plain(getattr(record, name))
        for name in names or (field.name for field in fields(record))
    }


def finite_or_none(value: float) -> float | None:
    """The value for JSON, which has no NaN.

    Examples
    --------
    >>> finite_or_none(float("inf")), finite_or_none(0.5)
    (None, 0.5)
    """
    return float(value) if math.isfinite(value) else None
