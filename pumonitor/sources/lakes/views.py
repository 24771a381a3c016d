"""Views of DuckDB on rows of lakes, whose number is told to its planner."""

# ruff: noqa: S608 (names reach SQL only through `quoted`)

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pumonitor.sources.lakes.table import LakeRows
from pumonitor.sources.reach.session import quoted

if TYPE_CHECKING:
    import duckdb

NOT_FOR_STREAMS: Final = ("partial_aggregate_pushdown", "join_filter_pushdown")
"""Optimizers that are no use here.

One groups all predictions by id before a join, as it takes their ids to be few; the other hands a
stream filters of a kind that DuckDB 1.5 then refuses.
"""


def show_rows(connection: duckdb.DuckDBPyConnection, view: str, rows: LakeRows) -> None:
    """Make a view of rows, in place of an earlier one of this name.

    DuckDB takes any stream for a single row, and would hold all predictions in memory to join the
    few labels to them. So as many rows are added as there are, none of which comes through.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    view : str
    rows : LakeRows
    """
    stream = f"{view}_stream"
    connection.register(stream, rows)
    names = rows.schema.names
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW {quoted(view)} AS "
        f"SELECT {', '.join(map(quoted, names))} FROM {quoted(stream)} UNION ALL "
        f"SELECT {', '.join('NULL' for _ in names)} FROM range({rows.expected}) AS none_of(i) "
        "WHERE i < 0"
    )
