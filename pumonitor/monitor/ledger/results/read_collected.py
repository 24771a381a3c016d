"""Read collected data of windows, for their evaluation."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from pumonitor.monitor.ledger.database.queries import (
    WINDOW_COLUMNS,
    equal,
    is_superseded,
    of_monitor,
    same_pane,
    select_series,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import panes, series, windows
from pumonitor.monitor.ledger.records.collected import LabeledCount, PaneCounts, StoredSeries
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader


class CollectedReader(DatabaseReader):
    """Reads collected data of windows."""

    def evaluated_panes(self, monitor: str, configuration: str) -> frozenset[tuple[datetime, int]]:
        """Start of the window and number of each pane that is evaluated."""
        query = (
            select(windows.c.window_start, panes.c.number)
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(*of_monitor(monitor, configuration), panes.c.status == "evaluated")
        )
        with self.database.reading() as connection:
            return frozenset((row.window_start, row.number) for row in connection.execute(query))

    def series(self, window_key: str, number: int) -> tuple[StoredSeries, ...]:
        """The series of a collected pane, sorted by model version and segment."""
        query = (
            select_series()
            .where(series.c.window_key == window_key, series.c.pane == number)
            .order_by(series.c.model_version, series.c.segment)
        )
        with self.database.reading() as connection:
            return tuple(record_of(StoredSeries, row) for row in connection.execute(query))

    def series_before(
        self,
        monitor: str,
        configuration: str,
        *,
        segment: str,
        start: datetime,
        as_of: datetime,
        limit: int,
        model_version: str | None = None,
        since: datetime | None = None,
    ) -> tuple[StoredSeries, ...]:
        """A series in the windows that start before `start`, each as known at `as_of`.

        Each window counts with its newest collected pane as of `as_of`, and is left out if that
        does not have the series.

        Parameters
        ----------
        monitor, configuration : str
        segment : str
        start : datetime
            Only windows that start before.
        as_of : datetime
        limit : int
            Most series to return, the latest ones.
        model_version : str, optional
            By default all.
        since : datetime, optional
            Only windows that start then or later.

        Returns
        -------
        tuple of StoredSeries
            In order of time, then model version.
        """
        query = (
            select_series()
            .where(
                *of_monitor(monitor, configuration),
                *starting_between(since, start),
                series.c.segment == segment,
                panes.c.as_of <= as_of,
                ~is_superseded(as_of),
                *equal(series.c.model_version, model_version),
            )
            .order_by(windows.c.window_start.desc(), series.c.model_version.desc())
            .limit(limit)
        )
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(record_of(StoredSeries, row) for row in reversed(rows))

    def segments(self, monitor: str, configuration: str, *, column: str) -> tuple[str, ...]:
        """All segments of a column in the ledger, each as "column=value"."""
        query = (
            select(series.c.segment)
            .join(windows, windows.c.window_key == series.c.window_key)
            .where(
                *of_monitor(monitor, configuration),
                series.c.segment.startswith(f"{column}=", autoescape=True),
            )
            .distinct()
            .order_by(series.c.segment)
        )
        with self.database.reading() as connection:
            return tuple(connection.scalars(query))

    def pane_counts_before(
        self,
        monitor: str,
        configuration: str,
        *,
        start: datetime,
        as_of: datetime,
        since: datetime | None = None,
        every_pane: bool = False,
    ) -> tuple[PaneCounts, ...]:
        """Row counts of the windows that start before `start`, each as known at `as_of`.

        Parameters are those of `series_before`; with `every_pane` those of earlier panes come too.
        """
        query: Select[Any] = (
            select(*WINDOW_COLUMNS, panes.c.as_of, panes.c.counts)
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(
                *of_monitor(monitor, configuration),
                *starting_between(since, start),
                panes.c.collected_at.is_not(None),
                panes.c.as_of <= as_of,
                *(() if every_pane else (~is_superseded(as_of),)),
            )
            .order_by(windows.c.window_start, panes.c.as_of)
        )
        with self.database.reading() as connection:
            return tuple(record_of(PaneCounts, row) for row in connection.execute(query))

    def labeled_before(
        self,
        monitor: str,
        configuration: str,
        *,
        start: datetime,
        as_of: datetime,
        since: datetime | None = None,
    ) -> tuple[LabeledCount, ...]:
        """Confirmed positives of the windows that start before `start`, at each pane up to `as_of`.

        Parameters are those of `series_before`. Sorted by window, then by pane.
        """
        query: Select[Any] = (
            select(
                *WINDOW_COLUMNS,
                panes.c.number,
                series.c.model_version,
                series.c.segment,
                series.c.delays,
            )
            .join_from(series, panes, same_pane(series))
            .join(windows, windows.c.window_key == panes.c.window_key)
            .where(
                *of_monitor(monitor, configuration),
                *starting_between(since, start),
                panes.c.as_of <= as_of,
            )
            .order_by(
                windows.c.window_start,
                panes.c.number,
                series.c.model_version,
                series.c.segment,
            )
        )
        with self.database.reading() as connection:
            return tuple(
                record_of(LabeledCount, row, labeled=row.delays["labeled"])
                for row in connection.execute(query)
            )
