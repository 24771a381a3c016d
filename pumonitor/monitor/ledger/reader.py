"""What the ledger holds, for whoever only looks: evaluation, pages, command line, exporter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Row, Select, exists, func, or_, select

from pumonitor.monitor.ledger.claims.holders import Holder, holders_of_windows
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import (
    WINDOW_COLUMNS,
    equal,
    is_latest,
    is_superseded,
    of_monitor,
    one_of,
    same_pane,
    select_evaluations,
    select_series,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import (
    audit,
    evaluations,
    latest,
    monitors,
    panes,
    results,
    series,
    windows,
)
from pumonitor.monitor.ledger.records.collected import LabeledCount, PaneCounts, StoredSeries
from pumonitor.monitor.ledger.records.results import (
    EvaluatedWindow,
    PublishedResult,
    StoredEvaluation,
)
from pumonitor.monitor.ledger.records.rows import evaluation_in, series_in, window_in, window_of
from pumonitor.monitor.ledger.records.windows import AuditEntry, Backlog, WindowRecord
from pumonitor.ports import State, Window

__all__ = ["LedgerReader", "Revisions"]

Revisions = Literal["latest", "all"]
"""The newest results of each window, or whatever was ever found."""


class LedgerReader:
    """Reads a ledger and changes nothing.

    Parameters
    ----------
    database : Database
        Up to date (`Ledger.open` sees to it).
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def ready(self) -> None:
        """Ask the database for something.

        Raises
        ------
        StateError
            If it does not answer.
        """
        with self.database.reading() as connection:
            connection.execute(select(func.count()).select_from(monitors))

    def configuration(self, monitor: str) -> str | None:
        """Hash of the monitor's current configuration, None for a monitor that is not known."""
        with self.database.reading() as connection:
            return connection.scalar(
                select(monitors.c.configuration).where(
                    monitors.c.name == monitor, monitors.c.is_current
                )
            )

    def configurations(self, monitor: str) -> dict[str, Mapping[str, Any]]:
        """What results of the monitor ever depended on, by hash, in the order of last use."""
        query = (
            select(monitors.c.configuration, monitors.c.meaning)
            .where(monitors.c.name == monitor)
            .order_by(monitors.c.registered_at, monitors.c.configuration)
        )
        with self.database.reading() as connection:
            return {row.configuration: row.meaning for row in connection.execute(query)}

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
        """What was collected of a pane, by model version and segment."""
        query = (
            select_series()
            .where(series.c.window_key == window_key, series.c.pane == number)
            .order_by(series.c.model_version, series.c.segment)
        )
        with self.database.reading() as connection:
            return tuple(series_in(row) for row in connection.execute(query))

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
        """A series in the windows before a moment, each as it was known as of another.

        Of each window the newest collected pane as of `as_of` counts; a series that is not in it is
        left out.

        Parameters
        ----------
        monitor, configuration : str
        segment : str
        start : datetime
            Windows that start before it.
        as_of : datetime
        limit : int
            The latest so many series.
        model_version : str, optional
            One only; all without it.
        since : datetime, optional
            Windows that start then or later.

        Returns
        -------
        tuple of StoredSeries
            In order of time, then model version.
        """
        query = (
            select_series()
            .where(
                windows.c.monitor == monitor,
                windows.c.configuration == configuration,
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
        return tuple(series_in(row) for row in reversed(rows))

    def segments(self, monitor: str, configuration: str, *, column: str) -> tuple[str, ...]:
        """Segments of one column that were ever seen, each as "column=value"."""
        query = (
            select(series.c.segment)
            .join(windows, windows.c.window_key == series.c.window_key)
            .where(
                windows.c.monitor == monitor,
                windows.c.configuration == configuration,
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
    ) -> tuple[PaneCounts, ...]:
        """What was found in the windows before a moment, each as it was known as of another.

        Parameters are those of `series_before`.
        """
        query: Select[Any] = (
            select(*WINDOW_COLUMNS, panes.c.as_of, panes.c.counts)
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(
                windows.c.monitor == monitor,
                windows.c.configuration == configuration,
                *starting_between(since, start),
                panes.c.collected_at.is_not(None),
                panes.c.as_of <= as_of,
                ~is_superseded(as_of),
            )
            .order_by(windows.c.window_start)
        )
        with self.database.reading() as connection:
            return tuple(
                PaneCounts(window=window_of(row), as_of=row.as_of, counts=row.counts)
                for row in connection.execute(query)
            )

    def labeled_before(
        self,
        monitor: str,
        configuration: str,
        *,
        start: datetime,
        as_of: datetime,
        since: datetime | None = None,
    ) -> tuple[LabeledCount, ...]:
        """Confirmed positives of the windows before a moment, at each look as of another.

        Parameters are those of `series_before`; the order is that of windows, then of panes.
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
                windows.c.monitor == monitor,
                windows.c.configuration == configuration,
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
                LabeledCount(
                    window=window_of(row),
                    number=row.number,
                    model_version=row.model_version,
                    segment=row.segment,
                    labeled=row.delays["labeled"],
                )
                for row in connection.execute(query)
            )

    def results(
        self,
        monitor: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        model_version: str | None = None,
        segment: str | None = None,
        metrics: Collection[str] | None = None,
        states: Collection[State] | None = None,
        revisions: Revisions = "latest",
        configuration: str | None = None,
    ) -> tuple[PublishedResult, ...]:
        """Results by window, model version, segment, metric and revision.

        Parameters
        ----------
        monitor : str, optional
            All without it.
        since, until : datetime, optional
            Windows that start in [since, until).
        model_version, segment : str, optional
        metrics, states : collection of str, optional
        revisions : {"latest", "all"}
        configuration : str, optional
            Hash of an earlier configuration; the current one without it.
        """
        query = (
            select(
                windows.c.monitor,
                results.c.model_version,
                results.c.segment,
                windows.c.window_start,
                windows.c.window_end,
                panes.c.state,
                results.c.revision,
                panes.c.as_of,
                results.c.metric,
                results.c.value,
                results.c.low,
                results.c.high,
                results.c.n_labeled,
                results.c.n_unlabeled,
                results.c.undefined_reason,
                results.c.infeasible,
                results.c.impossible,
                results.c.infeasible_reason,
                results.c.unclipped_value,
                results.c.unclipped_low,
                results.c.unclipped_high,
                results.c.assumed,
            )
            .join_from(results, panes, same_pane(results))
            .join(windows, windows.c.window_key == panes.c.window_key)
            .where(
                *of_monitor(monitor, configuration),
                *starting_between(since, until),
                *equal(results.c.model_version, model_version),
                *equal(results.c.segment, segment),
                *one_of(results.c.metric, metrics),
                *one_of(panes.c.state, states),
            )
            .order_by(
                windows.c.monitor,
                windows.c.window_start,
                results.c.model_version,
                results.c.segment,
                results.c.metric,
                results.c.revision,
            )
        )
        if revisions == "latest":
            query = query.join(latest, is_latest(results))
        with self.database.reading() as connection:
            return tuple(PublishedResult(**row._mapping) for row in connection.execute(query))

    def metrics(self, monitor: str) -> tuple[str, ...]:
        """Names of all metrics of the monitor's results."""
        query = (
            select(results.c.metric)
            .join(windows, windows.c.window_key == results.c.window_key)
            .where(*of_monitor(monitor, None))
            .distinct()
            .order_by(results.c.metric)
        )
        with self.database.reading() as connection:
            return tuple(connection.scalars(query))

    def evaluations(
        self,
        monitor: str,
        *,
        start: datetime,
        model_version: str | None = None,
        segment: str | None = None,
        revisions: Revisions = "latest",
        configuration: str | None = None,
    ) -> tuple[StoredEvaluation, ...]:
        """What the window that starts then came to, by revision, model version and segment."""
        query: Select[Any] = (
            select_evaluations()
            .where(
                *of_monitor(monitor, configuration),
                windows.c.window_start == start,
                *equal(evaluations.c.model_version, model_version),
                *equal(evaluations.c.segment, segment),
            )
            .order_by(
                windows.c.window_end,
                evaluations.c.revision,
                evaluations.c.model_version,
                evaluations.c.segment,
            )
        )
        if revisions == "latest":
            query = query.join(latest, is_latest(evaluations))
        with self.database.reading() as connection:
            return tuple(evaluation_in(row) for row in connection.execute(query))

    def evaluation_of(
        self, window_key: str, *, revision: int, model_version: str = "", segment: str = ""
    ) -> StoredEvaluation | None:
        """What one series of a window came to in one revision."""
        query = select_evaluations().where(
            windows.c.window_key == window_key,
            evaluations.c.revision == revision,
            evaluations.c.model_version == model_version,
            evaluations.c.segment == segment,
        )
        with self.database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else evaluation_in(row)

    def evaluation(
        self,
        monitor: str,
        *,
        start: datetime,
        model_version: str = "",
        segment: str = "",
        revision: int | None = None,
        configuration: str | None = None,
    ) -> StoredEvaluation | None:
        """What one series of the window that starts then came to; the newest without `revision`."""
        found = self.evaluations(
            monitor,
            start=start,
            model_version=model_version,
            segment=segment,
            revisions="latest" if revision is None else "all",
            configuration=configuration,
        )
        chosen = [one for one in found if revision is None or one.revision == revision]
        return chosen[-1] if chosen else None

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
        """The newest window of the current configuration in which something was predicted.

        Of all, or of those whose labels are mature.
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
        """Windows of the current configuration that were evaluated at all."""
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
        """When a pane of the monitor was evaluated last, by the database's clock."""
        query = (
            select(func.max(panes.c.evaluated_at))
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(*of_monitor(monitor, None))
        )
        with self.database.reading() as connection:
            last: datetime | None = connection.scalar(query)
        return last

    def counts(self, *, now: datetime, monitor: str | None = None) -> Backlog:
        """How much there is to do for the current configurations.

        Parameters
        ----------
        now : datetime
            Panes as of then or earlier are due.
        monitor : str, optional
            All without it.
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

    def holders(self, monitor: str | None = None) -> tuple[Holder, ...]:
        """Who works on windows, unless it is known to be dead.

        Parameters
        ----------
        monitor : str, optional
            All without it.
        """
        with self.database.reading() as connection:
            at = self.database.now(connection)
            return holders_of_windows(connection, at=at, monitor=monitor)

    def audit(self, *, limit: int = 100) -> tuple[AuditEntry, ...]:
        """What was done last, the latest first."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        with self.database.reading() as connection:
            return tuple(
                AuditEntry(at=row.at, actor=row.actor, action=row.action, detail=row.detail)
                for row in connection.execute(query)
            )
