"""Convert rows of the database to records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Row

from pumonitor.monitor.ledger.records.windows import PaneRecord, WindowRecord
from pumonitor.ports import Window

Record = TypeVar("Record")


@cache
def field_names(kind: Any) -> tuple[str, ...]:
    """Names of the fields of a record, which are those of the columns that it is made of."""
    return tuple(getattr(kind, "model_fields", None) or (field.name for field in fields(kind)))


def record_of(kind: Callable[..., Record], row: Any, **given: Any) -> Record:
    """Make a record of a row: each field that is not given from the column of its name.

    A field `window` is made from the columns of a window. A field without a column has its default.
    """
    columns = row._mapping
    for name in field_names(kind):
        if name not in given:
            if name in columns:
                given[name] = columns[name]
            elif name == "window":
                given[name] = window_of(row)
    return kind(**given)


def window_of(row: Row[Any]) -> Window:
    """Make a window from a row with its columns."""
    return Window(start=row.window_start, end=row.window_end, index=row.window_index)


def windows_in(rows: Iterable[Row[Any]]) -> list[WindowRecord]:
    """Make windows from the rows of their panes, which are in order."""
    by_key: dict[str, list[Row[Any]]] = {}
    for row in rows:
        by_key.setdefault(row.window_key, []).append(row)
    return [
        record_of(
            WindowRecord, of_window[0], panes=tuple(record_of(PaneRecord, row) for row in of_window)
        )
        for of_window in by_key.values()
    ]
