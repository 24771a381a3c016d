"""Read series of results as columns: of one metric or several, of one monitor or of all.

Every read is one statement, whatever the number of monitors, and has a limit.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, FromClause, Select, and_, func, select

from pumonitor.monitor.ledger.database.queries import equal, is_of_newest, one_of, starting_between
from pumonitor.monitor.ledger.database.schema import (
    evaluations,
    monitors,
    newest_panes,
    panes,
    results,
    windows,
)
from pumonitor.monitor.ledger.records.columns import ResultColumns, in_columns
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.ledger.records.rows import field_names
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader

LIMIT: Final = 10_000
"""Most results that a read returns unless it is told otherwise."""


def result_columns(*tables: FromClause) -> list[ColumnElement[Any]]:
    """Columns of a result, in the order of the fields of `PublishedResult`.

    Each is that of the first of the tables that has it.
    """
    return [
        next(table.c[name] for table in tables if name in table.c)
        for name in field_names(PublishedResult)
    ]


OF_NEWEST: Final = result_columns(newest_panes, results)
"""Of a newest pane."""

OF_ANY: Final = result_columns(results, windows, panes)
"""Of any revision."""


class SeriesReader(DatabaseReader):
    """Reads results of the current configurations as columns."""

    def series_of(
        self,
        metrics: Collection[str],
        *,
        monitors: Collection[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        model_version: str | None = None,
        segment: str | None = "",
        as_of: datetime | None = None,
        limit: int = LIMIT,
    ) -> ResultColumns:
        """Results of metrics, window after window.

        Sorted by window, then by monitor, segment, model version and metric. If there are more than
        the limit, those of the latest windows are returned.

        Parameters
        ----------
        metrics : collection of str
        monitors : collection of str, optional
            By default all monitors.
        since, until : datetime, optional
            Only windows that start in [since, until).
        model_version : str, optional
            By default all.
        segment : str or None
            By default all rows; None for all segments.
        as_of : datetime, optional
            What was known then: of each window the last pane of that moment or earlier. By default
            what is known now.
        limit : int
        """
        of: FromClause = newest_panes
        if as_of is None:
            query = select_newest(current_monitors(monitors)).where(
                *starting_between(since, until, of=newest_panes),
                *equal(newest_panes.c.segment, segment),
                *equal(newest_panes.c.model_version, model_version),
            )
        else:
            of = _known_panes(as_of, monitors, since=since, until=until)
            query = _select_known(of).where(
                *equal(evaluations.c.segment, segment),
                *equal(evaluations.c.model_version, model_version),
            )
        query = (
            query.where(results.c.metric.in_(metrics))
            .order_by(
                of.c.window_start.desc(),
                of.c.monitor.desc(),
                results.c.segment.desc(),
                results.c.model_version.desc(),
                results.c.metric.desc(),
            )
            .limit(limit + 1)
        )
        return self._columns(query, limit=limit, newest_last=True)

    def newest_results(
        self,
        *,
        monitors: Collection[str] | None = None,
        mature: bool = False,
        model_version: str | None = None,
        segment: str | None = None,
        metrics: Collection[str] | None = None,
        limit: int = LIMIT,
    ) -> ResultColumns:
        """Results of the newest window of each series.

        Sorted by monitor, model version, segment and metric.

        Parameters
        ----------
        monitors : collection of str, optional
            By default all monitors.
        mature : bool
            Whether to go back to the newest window whose labels are mature.
        model_version, segment : str, optional
            By default all.
        metrics : collection of str, optional
            By default all.
        limit : int
        """
        newest = _newest_windows(
            monitors, mature=mature, model_version=model_version, segment=segment
        )
        query = (
            select_newest(newest)
            .where(
                newest_panes.c.segment == newest.c.segment,
                newest_panes.c.model_version == newest.c.model_version,
                newest_panes.c.window_start == newest.c.window_start,
                *one_of(results.c.metric, metrics),
            )
            .order_by(
                newest_panes.c.monitor,
                newest_panes.c.model_version,
                newest_panes.c.segment,
                results.c.metric,
            )
            .limit(limit + 1)
        )
        return self._columns(query, limit=limit)

    def _columns(
        self, query: Select[Any], *, limit: int, newest_last: bool = False
    ) -> ResultColumns:
        with self.database.reading() as connection:
            found = connection.execute(query)
            names, rows = list(found.keys()), found.all()
        return ResultColumns(**in_columns(names, rows, limit=limit, newest_last=newest_last))


def select_newest(of: FromClause) -> Select[Any]:
    """Select the results of newest panes, in the order of the fields of `PublishedResult`.

    Parameters
    ----------
    of : FromClause
        Has the monitors and their configurations, as `monitor` and `configuration`.
    """
    return (
        select(*OF_NEWEST)
        .join_from(
            of,
            newest_panes,
            and_(
                newest_panes.c.monitor == of.c.monitor,
                newest_panes.c.configuration == of.c.configuration,
            ),
        )
        .join(results, is_of_newest())
    )


def current_monitors(names: Collection[str] | None = None, configuration: str | None = None) -> CTE:
    """Monitors with their current configuration, or with an earlier one; databases begin with them.

    Without statistics SQLite would begin with all panes and look the monitor of each up. It cannot
    where the monitors have been found beforehand.
    """
    wanted: list[ColumnElement[bool]] = [monitors.c.is_current]
    if configuration is not None:
        wanted = equal(monitors.c.configuration, configuration)
    return (
        select(monitors.c.name.label("monitor"), monitors.c.configuration)
        .where(*wanted, *one_of(monitors.c.name, names))
        .cte("current_monitors")
        .prefix_with("MATERIALIZED")
    )


def _select_known(known: FromClause) -> Select[Any]:
    """Select the results of known panes, in the order of the fields of `PublishedResult`."""
    of_pane = ("window_key", "pane", "revision")
    return (
        select(*result_columns(known, results))
        .join_from(
            known, evaluations, and_(*(evaluations.c[name] == known.c[name] for name in of_pane))
        )
        .join(
            results,
            and_(
                *(
                    results.c[name] == evaluations.c[name]
                    for name in (*of_pane, "model_version", "segment")
                )
            ),
        )
    )


def _known_panes(
    as_of: datetime,
    names: Collection[str] | None,
    *,
    since: datetime | None,
    until: datetime | None,
) -> CTE:
    """Of each window the last pane with results of this moment or earlier."""
    later = panes.alias("later")
    last = (
        select(func.max(later.c.number))
        .where(
            later.c.window_key == windows.c.window_key,
            later.c.revision.is_not(None),
            later.c.as_of <= as_of,
        )
        .scalar_subquery()
    )
    current = current_monitors(names)
    return (
        select(
            windows.c.monitor,
            windows.c.window_key,
            windows.c.window_start,
            windows.c.window_end,
            panes.c.number.label("pane"),
            panes.c.state,
            panes.c.revision,
            panes.c.as_of,
        )
        .join_from(
            current,
            windows,
            and_(
                windows.c.monitor == current.c.monitor,
                windows.c.configuration == current.c.configuration,
            ),
        )
        .join(panes, and_(panes.c.window_key == windows.c.window_key, panes.c.number == last))
        .where(*starting_between(since, until))
        .cte("known_panes")
        .prefix_with("MATERIALIZED")
    )


def _newest_windows(
    of: Collection[str] | None,
    *,
    mature: bool,
    model_version: str | None,
    segment: str | None,
) -> CTE:
    """Start of the newest window of each series."""
    one = newest_panes.alias("one")
    current = current_monitors(of)
    series = (one.c.monitor, one.c.configuration, one.c.segment, one.c.model_version)
    return (
        select(*series, func.max(one.c.window_start).label("window_start"))
        .join_from(
            current,
            one,
            and_(
                one.c.monitor == current.c.monitor, one.c.configuration == current.c.configuration
            ),
        )
        .where(
            *equal(one.c.model_version, model_version),
            *equal(one.c.segment, segment),
            *([one.c.state != "provisional"] if mature else []),
        )
        .group_by(*series)
        .cte("newest_windows")
    )
