"""A table by its name, or a checked query, as what engines select from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.windows.contained_sql import check_query


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What is selected from.

    Attributes
    ----------
    name : str
        For messages.
    sql : str
        Behind FROM.
    parameters : mapping of str to object
        Those that a query takes; none of a table.
    """

    name: str
    sql: str
    parameters: Mapping[str, object]


def named(
    table: object,
    *,
    role: str,
    parameters: Mapping[str, object],
    spoken: str | None,
    sql_of: Callable[[str, str], str],
    placeholder: str | None = None,
) -> Named:
    """Find a table, or check a query.

    Parameters
    ----------
    table : SqlTable or SqlQuery
    role : str
        "predictions" or "positives".
    parameters : mapping of str to object
        Values for the parameters of a query that let every row through.
    spoken : str or None
        The dialect in which sqlglot reads a query.
    sql_of : callable
        From a table's name, and what messages call it, to its SQL; raises if there is none.
    placeholder : str, optional
        As in `check_query`.
    """
    if isinstance(table, SqlTable):
        name = f"{role} {table.table}"
        return Named(name=name, sql=sql_of(table.table, name), parameters={})
    if not isinstance(table, SqlQuery):
        raise TypeError(type(table))
    name = f"the query of {role}"
    query = check_query(
        table.query, dialect=spoken, parameters=parameters, name=name, placeholder=placeholder
    )
    return Named(name=name, sql=f"({query})", parameters=parameters)
