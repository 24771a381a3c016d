"""A large answer of a driver, fetched by parts and held in columns.

As rows of Python's own numbers it takes some 1,300 bytes a row, as columns a tenth of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sqlalchemy import CursorResult

_FETCHED_AT_ONCE: Final = 10_000
_MOST_KEPT: Final = 10_000
"""Different texts of which equal ones are held once; more are ids, which differ."""


def columns_of(result: CursorResult[Any]) -> dict[str, NDArray[Any]]:
    """All columns of an answer by their names."""
    names = list(result.keys())
    parts: list[list[NDArray[Any]]] = [[] for _ in names]
    texts: dict[str, str] = {}
    while rows := result.fetchmany(_FETCHED_AT_ONCE):
        for column, values in zip(parts, zip(*rows, strict=True), strict=True):
            column.append(_packed(values, texts))
    return {
        name: np.concatenate(column) if column else np.empty(0, dtype=object)
        for name, column in zip(names, parts, strict=True)
    }


def _packed(values: Sequence[Any], texts: dict[str, str]) -> NDArray[Any]:
    """Numbers that are all of one kind as such; else objects, of which equal texts are one."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return np.array(values, dtype=np.int64)
    if kinds == {float}:
        return np.array(values, dtype=np.float64)
    if str in kinds and len(texts) < _MOST_KEPT:
        values = [
            texts.setdefault(value, value) if isinstance(value, str) else value for value in values
        ]
    packed = np.empty(len(values), dtype=object)
    packed[:] = values
    return packed
