"""What the ledger holds, for whoever only looks: evaluation, pages, command line, exporter."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement, Row, Select, and_, exists, func, or_, select

from pumonitor.ports import State
from pumonitor.store.claims import window_of
from pumonitor.store.database import Database
from pumonitor.store.records import (
    AuditEntry,
    Backlog,
    PaneCounts,
    PaneRecord,
    PublishedResult,
    StoredEvaluation,
    StoredSeries,
    WindowRecord,
)
from pumonitor.store.schema import (
    audit,
    evaluations,
    latest,
    monitors,
    panes,
    results,
    series,
    windows,
)

__all__ = ["LedgerReader", "Revisions"]

Revisions = Literal["latest", "all"]
"""The newest results of each window, or whatever was ever found."""

_OF_WINDOW = (
    windows.c.window_key,
    windows.c.monitor,
    windows.c.configuration,
    windows.c.window_start,
    windows.c.window_end,
    windows.c.window_index,
)


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

    def series(self, window_key: str, number: int) -> tuple[StoredSeries, ...]:
        """What was collected of a pane, by model version and segment."""
        query = (
            _stored_series()
            .where(series.c.window_key == window_key, series.c.pane == number)
            .order_by(series.c.model_version, series.c.segment)
        )
        with self.database.reading() as connection:
            return tuple(_series_of(row) for row in connection.execute(query))

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
            _stored_series()
            .where(
                windows.c.monitor == monitor,
                windows.c.configuration == configuration,
                *_between(since, start),
                series.c.segment == segment,
                panes.c.as_of <= as_of,
                ~_is_superseded(as_of),
                *_equal(series.c.model_version, model_version),
            )
            .order_by(windows.c.window_start.desc(), series.c.model_version.desc())
            .limit(limit)
        )
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(_series_of(row) for row in reversed(rows))

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
            select(*_OF_WINDOW, panes.c.as_of, panes.c.counts)
            .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
            .where(
                windows.c.monitor == monitor,
                windows.c.configuration == configuration,
                *_between(since, start),
                panes.c.collected_at.is_not(None),
                panes.c.as_of <= as_of,
                ~_is_superseded(as_of),
            )
            .order_by(windows.c.window_start)
        )
        with self.database.reading() as connection:
            return tuple(
                PaneCounts(window=window_of(row), as_of=row.as_of, counts=row.counts)
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
            )
            .join_from(results, panes, _same_pane(results))
            .join(windows, windows.c.window_key == panes.c.window_key)
            .where(
                *_chosen(monitor, configuration),
                *_between(since, until),
                *_equal(results.c.model_version, model_version),
                *_equal(results.c.segment, segment),
                *_one_of(results.c.metric, metrics),
                *_one_of(panes.c.state, states),
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
            query = query.join(latest, _latest_of(results))
        with self.database.reading() as connection:
            return tuple(PublishedResult(**row._mapping) for row in connection.execute(query))

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
            _stored_evaluations()
            .where(
                *_chosen(monitor, configuration),
                windows.c.window_start == start,
                *_equal(evaluations.c.model_version, model_version),
                *_equal(evaluations.c.segment, segment),
            )
            .order_by(
                windows.c.window_end,
                evaluations.c.revision,
                evaluations.c.model_version,
                evaluations.c.segment,
            )
        )
        if revisions == "latest":
            query = query.join(latest, _latest_of(evaluations))
        with self.database.reading() as connection:
            return tuple(_evaluation_of(row) for row in connection.execute(query))

    def evaluation_of(
        self, window_key: str, *, revision: int, model_version: str = "", segment: str = ""
    ) -> StoredEvaluation | None:
        """What one series of a window came to in one revision."""
        query = _stored_evaluations().where(
            windows.c.window_key == window_key,
            evaluations.c.revision == revision,
            evaluations.c.model_version == model_version,
            evaluations.c.segment == segment,
        )
        with self.database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else _evaluation_of(row)

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
                *_chosen(monitor, configuration),
                *_between(since, until),
            )
            .order_by(
                windows.c.monitor, windows.c.window_start, windows.c.window_end, panes.c.number
            )
        )
        by_key: dict[str, list[Row[Any]]] = {}
        with self.database.reading() as connection:
            for row in connection.execute(query):
                by_key.setdefault(row.window_key, []).append(row)
        return tuple(_window_record(rows) for rows in by_key.values())

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
                ).where(*_chosen(monitor, None))
            ).one()
            oldest = connection.scalar(
                select(func.min(panes.c.as_of))
                .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
                .where(
                    *_chosen(monitor, None),
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

    def audit(self, *, limit: int = 100) -> tuple[AuditEntry, ...]:
        """What was done last, the latest first."""
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        with self.database.reading() as connection:
            return tuple(
                AuditEntry(at=row.at, actor=row.actor, action=row.action, detail=row.detail)
                for row in connection.execute(query)
            )


def _chosen(monitor: str | None, configuration: str | None) -> list[ColumnElement[bool]]:
    """Windows of the monitor, of its current configuration unless another is named."""
    if configuration is not None:
        of_configuration: ColumnElement[bool] = windows.c.configuration == configuration
    else:
        of_configuration = exists().where(
            monitors.c.name == windows.c.monitor,
            monitors.c.configuration == windows.c.configuration,
            monitors.c.is_current,
        )
    return [of_configuration, *_equal(windows.c.monitor, monitor)]


def _equal(column: Column[Any], value: object) -> list[ColumnElement[bool]]:
    return [] if value is None else [column == value]


def _one_of(column: Column[Any], values: Collection[Any] | None) -> list[ColumnElement[bool]]:
    return [] if values is None else [column.in_(values)]


def _between(since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    start = windows.c.window_start
    return [
        *([] if since is None else [start >= since]),
        *([] if until is None else [start < until]),
    ]


def _is_superseded(as_of: datetime) -> ColumnElement[bool]:
    """Whether a later pane of the window was collected, as of that moment or before."""
    later = panes.alias("later")
    return exists().where(
        later.c.window_key == panes.c.window_key,
        later.c.number > panes.c.number,
        later.c.as_of <= as_of,
        later.c.collected_at.is_not(None),
    )


def _same_pane(table: Any) -> ColumnElement[bool]:
    return and_(panes.c.window_key == table.c.window_key, panes.c.number == table.c.pane)


def _latest_of(table: Any) -> ColumnElement[bool]:
    return and_(
        latest.c.window_key == table.c.window_key,
        latest.c.pane == table.c.pane,
        latest.c.revision == table.c.revision,
    )


def _stored_evaluations() -> Select[Any]:
    return (
        select(
            *_OF_WINDOW,
            panes.c.number,
            panes.c.state,
            panes.c.as_of,
            evaluations.c.revision,
            evaluations.c.model_version,
            evaluations.c.segment,
            evaluations.c.evaluation,
        )
        .join_from(evaluations, panes, _same_pane(evaluations))
        .join(windows, windows.c.window_key == panes.c.window_key)
    )


def _evaluation_of(row: Row[Any]) -> StoredEvaluation:
    return StoredEvaluation(
        window_key=row.window_key,
        monitor=row.monitor,
        window=window_of(row),
        number=row.number,
        state=row.state,
        as_of=row.as_of,
        revision=row.revision,
        model_version=row.model_version,
        segment=row.segment,
        evaluation=row.evaluation,
    )


def _stored_series() -> Select[Any]:
    return (
        select(*_OF_WINDOW, panes.c.number, panes.c.state, panes.c.as_of, series)
        .join_from(series, panes, _same_pane(series))
        .join(windows, windows.c.window_key == panes.c.window_key)
    )


def _series_of(row: Row[Any]) -> StoredSeries:
    return StoredSeries(
        window_key=row.window_key,
        window=window_of(row),
        number=row.number,
        state=row.state,
        as_of=row.as_of,
        model_version=row.model_version,
        segment=row.segment,
        class_prior=row.class_prior,
        delays=row.delays,
        table_bytes=row.table_bytes,
    )


def _window_record(rows: list[Row[Any]]) -> WindowRecord:
    first = rows[0]
    return WindowRecord(
        window_key=first.window_key,
        monitor=first.monitor,
        configuration=first.configuration,
        window=window_of(first),
        panes=tuple(
            PaneRecord(
                number=row.number,
                state=row.state,
                as_of=row.as_of,
                status=row.status,
                revision=row.revision,
                digest=row.digest,
                counts=row.counts,
                collected_at=row.collected_at,
                evaluated_at=row.evaluated_at,
                library_version=row.library_version,
            )
            for row in rows
        ),
        attempts=first.attempts,
        last_error=first.last_error,
        not_before=first.not_before,
        lease_owner=first.lease_owner,
        lease_until=first.lease_until,
    )
