"""Read what an overview of monitors shows, in as many statements for many monitors as for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    alert_states,
    headline_results,
    monitors,
    newest_panes,
    panes,
    results,
    standings,
    windows,
)
from pumonitor.monitor.ledger.records.columns import (
    FiringColumns,
    HeadlineColumns,
    Overview,
    WorkColumns,
    in_columns,
)
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.newest_panes import HEADLINES
from pumonitor.monitor.ledger.results.read_series import LIMIT, current_monitors

_PREDICTIONS: Final = "predictions"
_ABOUT_LABELS: Final = ("label_maturity", "labeled_positives", _PREDICTIONS)
_COLUMNS: Final = (
    "monitor",
    "model_version",
    "window_start",
    "window_end",
    "state",
    "metric",
    "value",
    "low",
    "high",
    "infeasible",
    "impossible",
    "assumed",
)


class OverviewReader(DatabaseReader):
    """Reads overviews of monitors under their current configurations."""

    def overview(
        self,
        metrics: Mapping[str, str],
        *,
        now: datetime,
        number: int = 60,
        limit: int = LIMIT,
    ) -> Overview:
        """What is due, the newest estimates, their series, and alerts that fire.

        Parameters
        ----------
        metrics : mapping of str to str
            Monitors to show, each with the metric that it is judged by.
        now : datetime
            Panes of this moment or earlier are due.
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
                work=_work(connection, metrics, now=now),
                newest=_headlines(connection, newest, limit=limit),
                series=_headlines(connection, series, limit=limit),
                firing=_firing(connection, metrics, limit=limit),
            )


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


def _work(connection: Connection, metrics: Mapping[str, str], *, now: datetime) -> WorkColumns:
    unfinished = _unfinished(metrics)
    to_collect = unfinished.c.next_as_of <= now
    to_evaluate = unfinished.c.evaluated_panes < unfinished.c.collected_panes
    counted = {
        row.monitor: row
        for row in connection.execute(
            select(
                unfinished.c.monitor,
                func.count().filter(to_collect).label("to_collect"),
                func.count().filter(to_evaluate).label("to_evaluate"),
                func.count()
                .filter(or_(to_collect, to_evaluate), unfinished.c.attempts > 0)
                .label("failing"),
                func.min(unfinished.c.next_as_of).label("next_look"),
            ).group_by(unfinished.c.monitor)
        )
    }
    mature = _next_mature(connection, unfinished)
    known = connection.execute(
        select(monitors.c.name, monitors.c.last_evaluated_at, standings.c.last_prediction)
        .join_from(monitors, standings, standings.c.monitor == monitors.c.name, isouter=True)
        .where(monitors.c.is_current, monitors.c.name.in_(sorted(metrics)))
        .order_by(monitors.c.name)
    )
    rows = []
    for name, evaluated, predicted in known:
        work = counted.get(name)
        rows.append(
            (
                name,
                evaluated,
                predicted,
                *((work.to_collect, work.to_evaluate, work.failing) if work else (0, 0, 0)),
                work.next_look if work else None,
                mature.get(name),
            )
        )
    return WorkColumns(**in_columns(WorkColumns.__slots__, rows))


def _next_mature(connection: Connection, unfinished: CTE) -> dict[str, datetime]:
    """Time of the next mature pane of each monitor."""
    return {
        row.monitor: row.next_mature
        for row in connection.execute(
            select(unfinished.c.monitor, func.min(panes.c.as_of).label("next_mature"))
            .join_from(unfinished, panes, panes.c.window_key == unfinished.c.window_key)
            .where(panes.c.status != "evaluated", panes.c.state == "mature")
            .group_by(unfinished.c.monitor)
        )
    }


def _unfinished(metrics: Mapping[str, str]) -> CTE:
    """Windows with panes that are not evaluated, due or not; each kind has an index of its own."""
    columns = (
        windows.c.window_key,
        windows.c.monitor,
        windows.c.configuration,
        windows.c.next_as_of,
        windows.c.collected_panes,
        windows.c.evaluated_panes,
        windows.c.attempts,
    )
    found = union(
        select(*columns).where(windows.c.next_as_of.is_not(None)),
        select(*columns).where(windows.c.evaluated_panes < windows.c.collected_panes),
    ).subquery("found")
    of = current_monitors(metrics)
    return (
        select(found)
        .join(
            of,
            and_(found.c.monitor == of.c.monitor, found.c.configuration == of.c.configuration),
        )
        .cte("unfinished")
        .prefix_with("MATERIALIZED")
    )


def _firing(connection: Connection, metrics: Mapping[str, str], *, limit: int) -> FiringColumns:
    names = [name for name in FiringColumns.__slots__ if name != "is_cut"]
    rows = connection.execute(
        select(*(alert_states.c[name] for name in names))
        .where(
            alert_states.c.monitor.in_(sorted(metrics)),
            alert_states.c.is_firing,
            alert_states.c.closed_at.is_(None),
        )
        .order_by(*(alert_states.c[name] for name in ("monitor", "rule", "rule_key")))
        .order_by(alert_states.c.model_version, alert_states.c.segment)
        .limit(limit + 1)
    ).all()
    return FiringColumns(**in_columns(names, rows, limit=limit))
