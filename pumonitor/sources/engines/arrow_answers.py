"""Answers that come as Arrow, in the forms that counts are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


def columns_of(answer: pa.Table) -> Mapping[str, Any]:
    """Columns by name: numbers as arrays, masked where they are null, all else as lists."""
    return {name: _column(column) for name, column in zip(answer.column_names, answer, strict=True)}


def rows_of(answer: pa.Table) -> list[tuple[Any, ...]]:
    """Rows as plain values, for answers of a few."""
    return list(zip(*(column.to_pylist() for column in answer), strict=True))


def _column(column: pa.ChunkedArray) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column.to_pylist()
    if not column.null_count:
        return column.to_numpy()
    return np.ma.MaskedArray(pc.fill_null(column, 0).to_numpy(), mask=pc.is_null(column).to_numpy())
