"""Building blocks of queries: conditions and selections."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    FromClause,
    Select,
    and_,
    exists,
    select,
)

from pumonitor.monitor.ledger.database.schema import (
    evaluations,
    latest,
    monitors,
    newest_panes,
    panes,
    results,
    series,
    windows,
)
from pumonitor.ports import State

WINDOW_COLUMNS = (
    windows.c.window_key,
    windows.c.monitor,
    windows.c.configuration,
    windows.c.window_start,
    windows.c.window_end,
    windows.c.window_index,
)

PLACE_OF_RESULT = ("window_key", "pane", "revision", "model_version", "segment")
"""Columns that say where the results of a newest pane are."""


def of_monitor(monitor: str | None, configuration: str | None) -> list[ColumnElement[bool]]:
    """Conditions for windows of a monitor, by default of its current configuration."""
    if configuration is not None:
        of_configuration: ColumnElement[bool] = windows.c.configuration == configuration
    else:
        of_configuration = exists().where(
            monitors.c.name == windows.c.monitor,
            monitors.c.configuration == windows.c.configuration,
            monitors.c.is_current,
        )
    return [of_configuration, *equal(windows.c.monitor, monitor)]


def equal(column: Column[Any], value: object) -> list[ColumnElement[bool]]:
    """Condition that a column equals a value; none if the value is None."""
    return [] if value is None else [column == value]


def one_of(column: Column[Any], values: Collection[Any] | None) -> list[ColumnElement[bool]]:
    """Condition that a column is one of the values; none if they are None."""
    return [] if values is None else [column.in_(values)]


def in_states(column: Column[Any], states: Collection[State] | None) -> list[ColumnElement[bool]]:
    """The condition that panes are in one of these states; a final one is mature as well."""
    also = ("final",) if states is not None and "mature" in states else ()
    return one_of(column, None if states is None else {*states, *also})


def starting_between(
    since: datetime | BindParameter[Any] | None,
    until: datetime | BindParameter[Any] | None,
    *,
    of: FromClause = windows,
) -> list[ColumnElement[bool]]:
    """Conditions for windows that start in [since, until); None leaves an end open."""
    start = of.c.window_start
    return [
        *([] if since is None else [start >= since]),
        *([] if until is None else [start < until]),
    ]


def is_superseded(
    as_of: datetime | BindParameter[Any], *, until: int | BindParameter[Any] | None = None
) -> ColumnElement[bool]:
    """Condition that a later pane of the window, of this moment or earlier, was collected.

    Parameters
    ----------
    as_of : datetime
    until : int, optional
        Ignore panes with a larger number.
    """
    later = panes.alias("later")
    return exists().where(
        later.c.window_key == panes.c.window_key,
        later.c.number > panes.c.number,
        *([] if until is None else [later.c.number <= until]),
        later.c.as_of <= as_of,
        later.c.collected_at.is_not(None),
    )


def same_pane(table: Any) -> ColumnElement[bool]:
    """Join condition: the pane to which a row of the table belongs."""
    return and_(panes.c.window_key == table.c.window_key, panes.c.number == table.c.pane)


def is_latest(table: Any) -> ColumnElement[bool]:
    """Condition that a row belongs to the newest results of its window."""
    return and_(
        latest.c.window_key == table.c.window_key,
        latest.c.pane == table.c.pane,
        latest.c.revision == table.c.revision,
    )


def is_of_newest() -> ColumnElement[bool]:
    """Join condition: the result is one of the newest pane."""
    return and_(*(results.c[name] == newest_panes.c[name] for name in PLACE_OF_RESULT))


def select_evaluations() -> Select[Any]:
    """Select evaluations joined with their panes and windows."""
    return (
        select(
            *WINDOW_COLUMNS,
            panes.c.number,
            panes.c.state,
            panes.c.as_of,
            evaluations.c.revision,
            evaluations.c.model_version,
            evaluations.c.segment,
            evaluations.c.evaluation,
        )
        .join_from(evaluations, panes, same_pane(evaluations))
        .join(windows, windows.c.window_key == panes.c.window_key)
    )


def select_series() -> Select[Any]:
    """Select series joined with their panes and windows."""
    return (
        select(*WINDOW_COLUMNS, panes.c.number, panes.c.state, panes.c.as_of, series)
        .join_from(series, panes, same_pane(series))
        .join(windows, windows.c.window_key == panes.c.window_key)
    )
