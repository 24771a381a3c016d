"""Read what an overview of monitors shows, in as many statements for many monitors as for one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    Subquery,
    and_,
    case,
    func,
    or_,
    select,
    union,
)

from pumonitor.monitor.ledger.database.queries import is_of_newest
from pumonitor.monitor.ledger.database.schema import (
    headline_results,
    monitors,
    newest_panes,
    panes,
    results,
    standings,
    windows,
)
from pumonitor.monitor.ledger.records.columns import HeadlineColumns, Overview, in_columns
from pumonitor.monitor.ledger.records.windows import MonitorWork
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.newest_panes import HEADLINES
from pumonitor.monitor.ledger.results.read_series import LIMIT, current_monitors

_PREDICTIONS: Final = "predictions"
_ABOUT_LABELS: Final = ("label_maturity", "labeled_positives", _PREDICTIONS)
_COLUMNS: Final = tuple(
    column.name for column in headline_results.c if column.name not in {"configuration", "segment"}
)
_OF_STANDING: Final = ("last_prediction", "looked_at", "problem", "problem_since")


class OverviewReader(DatabaseReader):
    """Reads overviews of monitors under their current configurations."""

    def overview(
        self,
        metrics: Mapping[str, str],
        *,
        number: int = 60,
        limit: int = LIMIT,
    ) -> Overview:
        """The newest estimates and their series.

        Parameters
        ----------
        metrics : mapping of str to str
            Monitors to show, each with the metric that it is judged by.
        number : int
            How many of its latest windows the series of a monitor has.
        limit : int
            Most entries of each part.
        """
        if not metrics:
            metrics = {"": ""}  # of no monitor
        chosen = _chosen(metrics, number=number)
        with self.database.reading() as connection:
            starts = connection.execute(select(chosen)).all()
            newest = _select_newest(metrics, chosen, starts)
            series = _select_series(metrics, chosen, starts)
            return Overview(
                newest=_headlines(connection, newest, limit=limit),
                series=_headlines(connection, series, limit=limit),
            )

    def work(self, monitors: Collection[str], *, now: datetime) -> dict[str, MonitorWork]:
        """What is due of monitors, and what the last round found; of those that the ledger knows.

        Parameters
        ----------
        monitors : collection of str
        now : datetime
            Panes of this moment or earlier are due.
        """
        with self.database.reading() as connection:
            return _work(connection, monitors, now=now)


def _headlines(connection: Connection, query: Select[Any], *, limit: int) -> HeadlineColumns:
    rows = connection.execute(query.limit(limit + 1)).all()
    return HeadlineColumns(**in_columns(_COLUMNS, rows, limit=limit))


def _select_series(
    metrics: Mapping[str, str], chosen: CTE, starts: Sequence[Row[Any]]
) -> Select[Any]:
    """Select each monitor's metric, and predictions, from the first of its latest windows on."""
    numbers = _numbers(metrics)
    start = numbers.c.window_start
    # The earliest, as a value: by that PostgreSQL sees how few of all rows are wanted.
    earliest = min((row.since for row in starts if row.since is not None), default=None)
    return _select_numbers(numbers, chosen).where(
        *([] if earliest is None else [start >= earliest]),
        start >= chosen.c.since,
        or_(
            # Of two versions in a window, these say which has more rows.
            numbers.c.metric == _PREDICTIONS,
            numbers.c.metric == _metric_of(metrics, numbers),
        ),
    )


def _select_newest(
    metrics: Mapping[str, str], chosen: CTE, starts: Sequence[Row[Any]]
) -> Select[Any]:
    """Select each monitor's metric and labels in its newest window and in the newest mature one."""
    numbers = _numbers(metrics)
    start = numbers.c.window_start
    found = {one for row in starts for one in (row.newest, row.newest_mature) if one is not None}
    return _select_numbers(numbers, chosen).where(
        start.in_(sorted(found)),
        or_(start == chosen.c.newest, start == chosen.c.newest_mature),
        or_(
            numbers.c.metric.in_(_ABOUT_LABELS),
            numbers.c.metric == _metric_of(metrics, numbers),
        ),
    )


def _starts(of: FromClause) -> Select[Any]:
    """Select the starts of a monitor's windows with predictions; one for all versions."""
    return (
        select(newest_panes.c.window_start)
        .where(
            newest_panes.c.monitor == of.c.name,
            newest_panes.c.configuration == of.c.configuration,
            newest_panes.c.segment == "",
        )
        .group_by(newest_panes.c.window_start)
        .correlate(of)
    )


def _chosen(metrics: Mapping[str, str], *, number: int) -> CTE:
    """The monitors to show, with the starts of their newest windows and of the first of the latest.

    Databases begin with them (see `current_monitors`).
    """
    starts = _starts(monitors)
    newest = starts.order_by(newest_panes.c.window_start.desc()).limit(1)
    mature = newest.where(newest_panes.c.state != "provisional")
    # The last so many, or all where there are fewer.
    nth = newest.offset(number - 1)
    first = starts.order_by(newest_panes.c.window_start).limit(1)
    return (
        select(
            monitors.c.name.label("monitor"),
            monitors.c.configuration,
            newest.scalar_subquery().label("newest"),
            mature.scalar_subquery().label("newest_mature"),
            func.coalesce(nth.scalar_subquery(), first.scalar_subquery()).label("since"),
        )
        .where(monitors.c.is_current, monitors.c.name.in_(sorted(metrics)))
        .cte("chosen")
        .prefix_with("MATERIALIZED")
    )


def _numbers(metrics: Mapping[str, str]) -> FromClause:
    """The numbers of newest panes: the table of headlines if it has all of these metrics."""
    if HEADLINES.issuperset(metrics.values()):
        return headline_results
    return _from_results()


def _from_results() -> Subquery:
    """The columns of `headline_results`, of all metrics."""
    of_pane = {
        "monitor", "configuration", "segment", "window_start", "model_version", "window_end",
        "state",
    }  # fmt: skip
    return (
        select(
            *(
                (newest_panes if column.name in of_pane else results).c[column.name]
                for column in headline_results.c
            )
        )
        .join_from(newest_panes, results, is_of_newest())
        .subquery("numbers")
    )


def _select_numbers(numbers: FromClause, chosen: FromClause) -> Select[Any]:
    return (
        select(*(numbers.c[name] for name in _COLUMNS))
        .join_from(
            chosen,
            numbers,
            and_(
                numbers.c.monitor == chosen.c.monitor,
                numbers.c.configuration == chosen.c.configuration,
                numbers.c.segment == "",
            ),
        )
        .order_by(
            numbers.c.monitor, numbers.c.window_start, numbers.c.model_version, numbers.c.metric
        )
    )


def _metric_of(metrics: Mapping[str, str], numbers: FromClause) -> ColumnElement[str] | str:
    """The metric of a monitor, as an expression."""
    names = set(metrics.values())
    if len(names) == 1:
        return names.pop()
    return case(dict(metrics), value=numbers.c.monitor)


def _work(
    connection: Connection, names: Collection[str], *, now: datetime
) -> dict[str, MonitorWork]:
    of = current_monitors(names)
    unfinished = _unfinished(of)
    to_collect = unfinished.c.next_as_of <= now
    to_evaluate = unfinished.c.evaluated_panes < unfinished.c.collected_panes
    is_due = or_(to_collect, to_evaluate)
    fails = and_(is_due, unfinished.c.attempts > 0)
    counted = select(
        unfinished.c.monitor,
        func.count().filter(to_collect).label("to_collect"),
        func.count().filter(to_evaluate).label("to_evaluate"),
        func.count().filter(is_due).label("due"),
        func.count().filter(fails).label("failing"),
        func.min(unfinished.c.window_start).filter(fails).label("failing_since"),
        func.count().filter(unfinished.c.lease_until > now).label("held"),
    ).group_by(unfinished.c.monitor)
    is_pane_due = panes.c.as_of <= now
    moments = (
        select(
            unfinished.c.monitor,
            func.min(panes.c.as_of).filter(is_pane_due).label("oldest_due"),
            func.min(panes.c.as_of).filter(panes.c.state == "mature").label("next_mature"),
        )
        .join_from(unfinished, panes, panes.c.window_key == unfinished.c.window_key)
        .where(panes.c.status != "evaluated", or_(is_pane_due, panes.c.state == "mature"))
        .group_by(unfinished.c.monitor)
    )
    newest_end = (
        select(windows.c.window_end)
        .where(windows.c.monitor == monitors.c.name)
        .where(windows.c.configuration == monitors.c.configuration)
        .order_by(windows.c.window_start.desc())
        .limit(1)
        .correlate(monitors)
    )
    known = select(
        monitors.c.name.label("monitor"),
        monitors.c.last_evaluated_at.label("last_evaluated"),
        newest_end.scalar_subquery().label("newest_end"),
    ).where(monitors.c.is_current, monitors.c.name.in_(names))
    # A monitor whose tables could never be read has no configuration in the ledger.
    looks = select(standings.c.monitor, *(standings.c[name] for name in _OF_STANDING)).where(
        standings.c.monitor.in_(names)
    )
    work: dict[str, dict[str, Any]] = {}
    for query in (known, looks, counted, moments):
        for row in connection.execute(query).mappings():
            work.setdefault(row["monitor"], {}).update(row)
    held = [name for name, of_monitor in work.items() if of_monitor.get("held")]
    planned = (
        select(windows.c.monitor, func.count().label("windows"))
        .join(
            of,
            and_(windows.c.monitor == of.c.monitor, windows.c.configuration == of.c.configuration),
        )
        .where(windows.c.monitor.in_(held))
        .group_by(windows.c.monitor)
    )
    for row in connection.execute(planned).mappings() if held else ():
        work[row["monitor"]].update(row)
    return {
        name: MonitorWork(**{key: value for key, value in found.items() if key != "monitor"})
        for name, found in work.items()
    }


def _unfinished(of: CTE) -> CTE:
    """Windows with panes that are not evaluated, due or not; each kind has an index of its own."""
    columns = (
        windows.c.window_key,
        windows.c.monitor,
        windows.c.configuration,
        windows.c.window_start,
        windows.c.next_as_of,
        windows.c.collected_panes,
        windows.c.evaluated_panes,
        windows.c.attempts,
        windows.c.lease_until,
    )
    found = union(
        select(*columns).where(windows.c.next_as_of.is_not(None)),
        select(*columns).where(windows.c.evaluated_panes < windows.c.collected_panes),
    ).subquery("found")
    return (
        select(found)
        .join(
            of,
            and_(found.c.monitor == of.c.monitor, found.c.configuration == of.c.configuration),
        )
        .cte("unfinished")
        .prefix_with("MATERIALIZED")
    )
