"""Read windows: planned, evaluated and mature ones, and the backlog."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, and_, func, or_, select

from pumonitor.monitor.ledger.database.queries import of_monitor, starting_between
from pumonitor.monitor.ledger.database.schema import monitors, newest_panes, panes, windows
from pumonitor.monitor.ledger.records.results import EvaluatedWindow
from pumonitor.monitor.ledger.records.rows import record_of, window_of, windows_in
from pumonitor.monitor.ledger.records.windows import Backlog, WindowRecord
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.ports import Window


class WindowsReader(DatabaseReader):
    """Reads windows."""

    def evaluated_windows(self, monitor: str) -> tuple[EvaluatedWindow, ...]:
        """Windows of the monitor with results, under all configurations, in order of time."""
        query = (
            select(windows.c.configuration, windows.c.window_start, windows.c.window_end)
            .where(windows.c.monitor == monitor, windows.c.evaluated_panes > 0)
            .order_by(windows.c.window_start, windows.c.window_end)
        )
        with self.database.reading() as connection:
            return tuple(
                EvaluatedWindow(
                    configuration=row.configuration, start=row.window_start, end=row.window_end
                )
                for row in connection.execute(query)
            )

    def windows(
        self,
        monitor: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        configuration: str | None = None,
    ) -> tuple[WindowRecord, ...]:
        """Windows that start in [since, until), with their panes, in order of time."""
        query = (
            select(windows, panes)
            .join_from(windows, panes, panes.c.window_key == windows.c.window_key)
            .where(
                *of_monitor(monitor, configuration),
                *starting_between(since, until),
            )
            .order_by(
                windows.c.monitor, windows.c.window_start, windows.c.window_end, panes.c.number
            )
        )
        with self.database.reading() as connection:
            return tuple(windows_in(connection.execute(query)))

    def newest_counts(
        self, monitor: str, *, since: datetime
    ) -> list[tuple[Window, Mapping[str, Any]]]:
        """Windows that start then or later, in order of time, with their last row counts."""
        later = panes.alias("later")
        last = (
            select(func.max(later.c.number))
            .where(later.c.window_key == windows.c.window_key, later.c.counts.is_not(None))
            .scalar_subquery()
        )
        query = (
            select(
                windows.c.window_start, windows.c.window_end, windows.c.window_index, panes.c.counts
            )
            .join_from(
                windows,
                panes,
                and_(panes.c.window_key == windows.c.window_key, panes.c.number == last),
            )
            .where(*of_monitor(monitor, None), windows.c.window_start >= since)
            .order_by(windows.c.window_start, windows.c.window_end)
        )
        with self.database.reading() as connection:
            rows: list[Row[Any]] = list(connection.execute(query))
        return [(window_of(row), row.counts) for row in rows]

    def newest_with_results(self, monitor: str, *, mature: bool = False) -> Window | None:
        """The newest window of the current configuration with predictions; None if there is none.

        With `mature`, only windows whose labels are mature.
        """
        newest = (
            select(newest_panes.c.window_key)
            .join(monitors, _is_current(newest_panes))
            .where(
                newest_panes.c.monitor == monitor,
                *([newest_panes.c.state != "provisional"] if mature else []),
            )
            .order_by(newest_panes.c.window_start.desc())
            .limit(1)
        )
        query = select(windows).where(windows.c.window_key == newest.scalar_subquery())
        with self.database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else window_of(row)

    def number_evaluated(self, monitor: str) -> int:
        """Number of windows of the current configuration with an evaluated pane."""
        query = (
            select(func.count())
            .select_from(windows)
            .where(*of_monitor(monitor, None), windows.c.evaluated_panes > 0)
        )
        with self.database.reading() as connection:
            return int(connection.scalar(query) or 0)

    def newest_mature(self, monitor: str) -> dict[tuple[str, str], datetime]:
        """Start of the newest window with mature results, by model version and segment."""
        query = (
            select(
                newest_panes.c.model_version,
                newest_panes.c.segment,
                func.max(newest_panes.c.window_start),
            )
            .join(monitors, _is_current(newest_panes))
            .where(newest_panes.c.monitor == monitor, newest_panes.c.state != "provisional")
            .group_by(newest_panes.c.model_version, newest_panes.c.segment)
            .order_by(newest_panes.c.model_version, newest_panes.c.segment)
        )
        with self.database.reading() as connection:
            return {
                (version, segment): start for version, segment, start in connection.execute(query)
            }

    def backlogs(self, *, now: datetime) -> dict[str, Backlog]:
        """Count the work left for the current configuration of each monitor that has windows.

        Parameters
        ----------
        now : datetime
            Panes of this moment or earlier are due.
        """
        of_each = windows.c.monitor
        counted = select(of_each, *_counted(now)).where(*of_monitor(None, None)).group_by(of_each)
        oldest = (
            select(of_each, func.min(panes.c.as_of).label("oldest"))
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(*of_monitor(None, None), *_overdue(now))
            .group_by(of_each)
        )
        with self.database.reading() as connection:
            since = {row.monitor: row.oldest for row in connection.execute(oldest)}
            rows = connection.execute(counted).all()
        return {
            row.monitor: record_of(Backlog, row, oldest_unfinished=since.get(row.monitor))
            for row in rows
        }

    def counts(self, *, now: datetime, monitor: str | None = None) -> Backlog:
        """Count the work left for the current configurations.

        Parameters
        ----------
        now : datetime
            Panes of this moment or earlier are due.
        monitor : str, optional
            By default all monitors.
        """
        counted = select(*_counted(now)).where(*of_monitor(monitor, None))
        oldest = (
            select(func.min(panes.c.as_of))
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(*of_monitor(monitor, None), *_overdue(now))
        )
        with self.database.reading() as connection:
            (row,) = connection.execute(counted).all()
            since = connection.scalar(oldest)
        return record_of(Backlog, row, oldest_unfinished=since)


def _due(now: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Conditions that panes of a window are due: to be collected, to be evaluated."""
    return windows.c.next_as_of <= now, windows.c.evaluated_panes < windows.c.collected_panes


def _counted(now: datetime) -> list[ColumnElement[Any]]:
    to_collect, to_evaluate = _due(now)
    return [
        func.count().label("windows"),
        func.count().filter(to_collect).label("to_collect"),
        func.count().filter(to_evaluate).label("to_evaluate"),
        func.count().filter(or_(to_collect, to_evaluate), windows.c.attempts > 0).label("failing"),
    ]


def _overdue(now: datetime) -> list[ColumnElement[bool]]:
    return [or_(*_due(now)), panes.c.status != "evaluated", panes.c.as_of <= now]


def _is_current(table: Table) -> ColumnElement[bool]:
    """Join condition with monitors: the row is of a monitor's current configuration."""
    return and_(
        monitors.c.name == table.c.monitor,
        monitors.c.configuration == table.c.configuration,
        monitors.c.is_current,
    )
