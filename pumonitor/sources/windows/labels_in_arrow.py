"""Labels on their way from one engine to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pumonitor.sources.column_types.column_kinds import Key, Relation
from pumonitor.sources.column_types.time_columns import TimeColumn
from pumonitor.sources.windows.counts_engine import RECEIVED_COLUMNS
from pumonitor.sources.windows.counts_rows import LabelTable
from pumonitor.sources.windows.described import plain_values

if TYPE_CHECKING:
    import pyarrow as pa


def labels_in_arrow(answer: Mapping[str, Any], *, key: Key) -> pa.Table:
    """The answer to `CountQuery.labels_as_said`, as engines receive it."""
    import pyarrow as pa

    types = (
        pa.int64() if key == "integer" else pa.string(),
        pa.int64(),
        pa.int64(),
        pa.float64(),
    )
    return pa.table(
        {
            name: arrow_column(answer[name], kind)
            for name, kind in zip(RECEIVED_COLUMNS, types, strict=True)
        }
    )


def as_received(table: LabelTable, relation: Relation, *, has_chances: bool = False) -> LabelTable:
    """Labels that are known to be usable, where they were received, perhaps with chances."""
    column = relation.columns
    return LabelTable(
        relation=relation,
        id=column["id"],
        known_at=None
        if table.known_at is None
        else TimeColumn(column=column["known"], zone=None, unit="us"),
        label=column["label"],
        propensity=column["propensity"] if has_chances or table.propensity is not None else None,
        states=table.states,
        is_checked=True,
    )


def arrow_column(values: Any, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    """A column of an answer."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray | pa.Array):
        return values.cast(kind)
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, type=kind, mask=np.ma.getmaskarray(values))
    if isinstance(values, np.ndarray):
        return pa.array(values, type=kind)
    return pa.array(plain_values(values), type=kind)
