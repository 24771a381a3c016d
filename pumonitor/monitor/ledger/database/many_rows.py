"""Insert many rows of plain values at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert


def insert_many(
    connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]
) -> None:
    """Insert rows of text, numbers, truth values and None; no rows do nothing.

    The driver gets them as they are: what SQLAlchemy does for each row takes longer than to store
    it, and these types need none of it.

    Parameters
    ----------
    connection : Connection
    table : Table
    columns : sequence of str
    rows : iterable of tuple
        Values in the order of `columns`.
    """
    compiled = insert(table).compile(dialect=connection.dialect, column_keys=list(columns))
    parameters: list[Any]
    if compiled.positional:
        assert compiled.positiontup == list(columns)  # noqa: S101
        parameters = [*rows]
    else:
        parameters = [dict(zip(columns, row, strict=True)) for row in rows]
    if parameters:
        connection.exec_driver_sql(str(compiled), parameters)
