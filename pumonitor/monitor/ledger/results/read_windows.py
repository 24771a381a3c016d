"""Read windows: planned, evaluated and mature ones, and the backlog."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, exists, func, or_, select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import (
    of_monitor,
    same_pane,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import (
    panes,
    results,
    windows,
)
from pumonitor.monitor.ledger.records.results import (
    EvaluatedWindow,
)
from pumonitor.monitor.ledger.records.rows import window_in, window_of
from pumonitor.monitor.ledger.records.windows import Backlog, WindowRecord
from pumonitor.ports import Window

__all__ = ["WindowsReader"]


class WindowsReader:
    """Reads windows.

    Parameters
    ----------
    database : Database
        Already migrated (by `Ledger.open`).
    """

    def __init__(self, database: Database) -> None:
        self.database = database

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
        by_key: dict[str, list[Row[Any]]] = {}
        with self.database.reading() as connection:
            for row in connection.execute(query):
                by_key.setdefault(row.window_key, []).append(row)
        return tuple(window_in(rows) for rows in by_key.values())

    def newest_with_results(self, monitor: str, *, mature: bool = False) -> Window | None:
        """The newest window of the current configuration with predictions; None if there is none.

        With `mature`, only windows whose labels are mature.
        """
        has_results = exists().where(
            same_pane(results),
            panes.c.window_key == windows.c.window_key,
            panes.c.revision == results.c.revision,
            *([panes.c.state != "provisional"] if mature else []),
        )
        query = (
            select(windows)
            .where(*of_monitor(monitor, None), windows.c.evaluated_panes > 0, has_results)
            .order_by(windows.c.window_start.desc())
            .limit(1)
        )
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
            select(results.c.model_version, results.c.segment, func.max(windows.c.window_start))
            .join_from(results, panes, same_pane(results))
            .join(windows, windows.c.window_key == panes.c.window_key)
            .where(
                *of_monitor(monitor, None),
                panes.c.state != "provisional",
                results.c.metric == "predictions",
            )
            .group_by(results.c.model_version, results.c.segment)
            .order_by(results.c.model_version, results.c.segment)
        )
        with self.database.reading() as connection:
            return {
                (version, segment): start for version, segment, start in connection.execute(query)
            }

    def last_success(self, monitor: str) -> datetime | None:
        """Time of the last evaluation of a pane of the monitor, by the database's clock."""
        query = (
            select(func.max(panes.c.evaluated_at))
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(*of_monitor(monitor, None))
        )
        with self.database.reading() as connection:
            last: datetime | None = connection.scalar(query)
        return last

    def counts(self, *, now: datetime, monitor: str | None = None) -> Backlog:
        """Count the work left for the current configurations.

        Parameters
        ----------
        now : datetime
            Panes of this moment or earlier are due.
        monitor : str, optional
            By default all monitors.
        """
        to_collect = windows.c.next_as_of <= now
        to_evaluate = windows.c.evaluated_panes < windows.c.collected_panes
        unfinished = or_(to_collect, to_evaluate)
        with self.database.reading() as connection:
            row = connection.execute(
                select(
                    func.count().label("windows"),
                    func.count().filter(to_collect).label("to_collect"),
                    func.count().filter(to_evaluate).label("to_evaluate"),
                    func.count().filter(unfinished, windows.c.attempts > 0).label("failing"),
                ).where(*of_monitor(monitor, None))
            ).one()
            oldest = connection.scalar(
                select(func.min(panes.c.as_of))
                .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
                .where(
                    *of_monitor(monitor, None),
                    unfinished,
                    panes.c.status != "evaluated",
                    panes.c.as_of <= now,
                )
            )
        return Backlog(
            windows=row.windows,
            to_collect=row.to_collect,
            to_evaluate=row.to_evaluate,
            failing=row.failing,
            oldest_unfinished=oldest,
        )
