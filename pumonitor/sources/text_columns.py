"""Columns of a small table as text: files, tables and queries, whatever their types are."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from pumonitor.sources.column_types.column_kinds import Relation, named_column
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.engines.registry import open_engine
from pumonitor.sources.windows.counts_duckdb import DuckDBEngine
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import Statement


def read_text_columns(
    place: str | SqlTable | SqlQuery,
    columns: Mapping[str, str],
    *,
    name: str,
    statement_timeout: float = 60.0,
) -> dict[str, list[str | None]]:
    """Read some columns of all rows.

    Parameters
    ----------
    place : str, SqlTable or SqlQuery
        A pattern that matches no file has no rows.
    columns : mapping of str to str
        Column to what it means, by which it is returned.
    name : str
        What the table is called in messages.
    statement_timeout : float
        Seconds that a database may take.

    Returns
    -------
    dict of str to list
        By meaning: the values, None where they are missing.

    Raises
    ------
    InputError
        If a column is missing.
    SourceError
        If the table cannot be read.
    """
    roles = dict.fromkeys(columns, "shown")
    opened: Engine
    if isinstance(place, SqlTable | SqlQuery):
        opened = open_engine(place.url, timeout=statement_timeout)
    else:
        opened = DuckDBEngine({name: place}, may_be_absent=frozenset({name}))
    with closing(opened) as engine:
        relation = engine.relation(place, role=name, columns=roles, parameters={})
        return _read(engine, relation, columns)


def _read(
    engine: Engine, relation: Relation, columns: Mapping[str, str]
) -> dict[str, list[str | None]]:
    found = [named_column(relation, one, role="shown") for one in columns]
    chosen = ", ".join(
        f"{engine.dialect.category(one.sql, one.kind)} AS c{place}"
        for place, one in enumerate(found)
    )
    statement = Statement(sql=f"SELECT {chosen} FROM {relation.sql} AS source")
    with engine.snapshot():
        engine.load(relation, list(columns))
        rows = engine.rows(statement, about=relation.name)
    return {
        meaning: [None if row[place] is None else str(row[place]) for row in rows]
        for place, meaning in enumerate(columns.values())
    }
