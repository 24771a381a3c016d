"""Series of mature windows in a range of time.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, Connection, func, select

from pumonitor.monitor.ledger.database.queries import (
    equal,
    is_superseded,
    of_monitor,
    same_pane,
    select_series,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import panes, series, windows
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.records.rows import record_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MatureSeries:
    """Selection of series with a score table in mature or final panes.

    Each window counts with its newest collected pane as of a moment.

    Attributes
    ----------
    monitor, configuration : str
    segment : str
    since, until : datetime or None
        Only windows that start in [since, until); None leaves an end open.
    as_of : datetime
    model_version : str or None
        None for all.
    """

    monitor: str
    configuration: str
    segment: str
    since: datetime | None
    until: datetime | None
    as_of: datetime
    model_version: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The selection as conditions of a query."""
        return [
            *of_monitor(self.monitor, self.configuration),
            *starting_between(self.since, self.until),
            series.c.segment == self.segment,
            series.c.table_bytes.is_not(None),
            panes.c.state != "provisional",
            panes.c.as_of <= self.as_of,
            ~is_superseded(self.as_of),
            *equal(series.c.model_version, self.model_version),
        ]


def mature_series(
    connection: Connection,
    asked: MatureSeries,
    *,
    most: int | None = None,
    which: Literal["first", "last"] = "first",
) -> tuple[StoredSeries, ...]:
    """The selected series, in order of time and then of model version.

    Parameters
    ----------
    connection : Connection
    asked : MatureSeries
    most : int, optional
        Most series to return; by default all.
    which : {"first", "last"}
        Which ones to return if there are more.
    """
    order = (windows.c.window_start, series.c.model_version)
    query = (
        select_series()
        .where(*asked.conditions())
        .order_by(*(order if which == "first" else (column.desc() for column in order)))
        .limit(most)
    )
    found = [record_of(StoredSeries, row) for row in connection.execute(query)]
    return tuple(found if which == "first" else reversed(found))


def mature_versions(connection: Connection, asked: MatureSeries) -> dict[str, int]:
    """Model version to its number of predictions in the selected windows."""
    parts = [series.c.delays[name].as_integer() for name in ("labeled", "unlabeled", "negative")]
    query = (
        select(series.c.model_version, func.sum(parts[0] + parts[1] + parts[2]).label("number"))
        .join_from(series, panes, same_pane(series))
        .join(windows, windows.c.window_key == panes.c.window_key)
        .where(*asked.conditions())
        .group_by(series.c.model_version)
    )
    return {row.model_version: int(row.number) for row in connection.execute(query)}
