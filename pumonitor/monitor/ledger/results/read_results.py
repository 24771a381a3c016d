"""Read results and evaluations, for pages, the command line and exporters."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import Select, and_, select

from pumonitor.monitor.ledger.database.queries import (
    PLACE_OF_RESULT,
    equal,
    in_states,
    is_latest,
    of_monitor,
    one_of,
    same_pane,
    select_evaluations,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import (
    evaluations,
    latest,
    newest_panes,
    panes,
    results,
    windows,
)
from pumonitor.monitor.ledger.records.results import PublishedResult, StoredEvaluation
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.read_series import OF_ANY, current_monitors, select_newest
from pumonitor.ports import State

Revisions = Literal["latest", "all"]
"""The newest results of each window, or all revisions."""

_WINDOWS_OF_METRICS: Final = 100


class ResultsReader(DatabaseReader):
    """Reads results and evaluations."""

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
        """Results, sorted by window, model version, segment, metric and revision.

        Parameters
        ----------
        monitor : str, optional
            By default all monitors.
        since, until : datetime, optional
            Only windows that start in [since, until).
        model_version, segment : str, optional
        metrics, states : collection of str, optional
            The state "mature" includes "final".
        revisions : {"latest", "all"}
        configuration : str, optional
            Hash of an earlier configuration; by default the current one.
        """
        chosen = (
            *equal(results.c.model_version, model_version),
            *equal(results.c.segment, segment),
            *one_of(results.c.metric, metrics),
        )
        if revisions == "latest":
            of = current_monitors(None if monitor is None else [monitor], configuration)
            place = newest_panes.c
            query = select_newest(of).where(
                *chosen,
                *starting_between(since, until, of=newest_panes),
                *in_states(newest_panes.c.state, states),
            )
        else:
            place = windows.c
            query = self._select_all().where(
                *chosen,
                *of_monitor(monitor, configuration),
                *starting_between(since, until),
                *in_states(panes.c.state, states),
            )
        query = query.order_by(
            place.monitor,
            place.window_start,
            results.c.model_version,
            results.c.segment,
            results.c.metric,
            results.c.revision,
        )
        with self.database.reading() as connection:
            return tuple(PublishedResult(**row._mapping) for row in connection.execute(query))

    @staticmethod
    def _select_all() -> Select[Any]:
        """Select the results of all revisions, in the order of the fields of `PublishedResult`."""
        return (
            select(*OF_ANY)
            .join_from(results, panes, same_pane(results))
            .join(windows, windows.c.window_key == panes.c.window_key)
        )

    def metrics(self, monitor: str) -> tuple[str, ...]:
        """Names of the metrics of the monitor's latest windows, a hundred of them.

        All rows of a window have the metrics that its segments have. All windows would be hundreds
        of thousands of results, for the same names.
        """
        current = current_monitors([monitor])
        newest = (
            select(*(newest_panes.c[name] for name in PLACE_OF_RESULT))
            .join_from(
                current,
                newest_panes,
                and_(
                    newest_panes.c.monitor == current.c.monitor,
                    newest_panes.c.configuration == current.c.configuration,
                ),
            )
            .where(newest_panes.c.segment == "")
            .order_by(newest_panes.c.window_start.desc())
            .limit(_WINDOWS_OF_METRICS)
            .cte("newest_of_monitor")
            .prefix_with("MATERIALIZED")
        )
        query = (
            select(results.c.metric)
            .join_from(
                newest,
                results,
                and_(*(results.c[name] == newest.c[name] for name in PLACE_OF_RESULT)),
            )
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
        """Evaluations of the window that starts then, by revision, model version and segment."""
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
            return tuple(record_of(StoredEvaluation, row) for row in connection.execute(query))

    def evaluation_of(
        self, window_key: str, *, revision: int, model_version: str = "", segment: str = ""
    ) -> StoredEvaluation | None:
        """Evaluation of one series of a window in one revision; None if there is none."""
        query = select_evaluations().where(
            windows.c.window_key == window_key,
            evaluations.c.revision == revision,
            evaluations.c.model_version == model_version,
            evaluations.c.segment == segment,
        )
        with self.database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else record_of(StoredEvaluation, row)

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
        """Evaluation of one series of the window that starts then; by default the newest."""
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

    def evaluation_behind(self, row: PublishedResult) -> StoredEvaluation | None:
        """The evaluation that a result is of; None if it was deleted."""
        return self.evaluation(
            row.monitor,
            start=row.window_start,
            model_version=row.model_version,
            segment=row.segment,
            revision=row.revision,
        )
