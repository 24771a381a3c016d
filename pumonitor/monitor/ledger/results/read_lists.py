"""Read long lists a stretch at a time: results, windows.

A stretch begins behind a key of the order in which the list is sorted, so what is added meanwhile
moves no entry from one stretch to another, and the ledger reads no more than it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select, true

from pumonitor.monitor.ledger.database.queries import (
    equal,
    in_states,
    is_of_newest,
    one_of,
    same_pane,
    starting_between,
)
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
from pumonitor.monitor.ledger.records.rows import field_names, windows_in
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.read_results import Revisions
from pumonitor.monitor.ledger.results.read_series import OF_ANY, OF_NEWEST
from pumonitor.ports import State

ResultKey = tuple[str, datetime, str, str, str, int]
"""Monitor, start of the window, model version, segment, metric, revision."""

WindowKey = tuple[str, datetime]
"""Monitor and start of the window."""

_KEY: Final = ("monitor", "window_start", "model_version", "segment", "metric", "revision")
_OF_A_WINDOW: Final = 50
"""About so many results has a series of a window: as many windows are read as a stretch needs."""


class ListsReader(DatabaseReader):
    """Reads stretches of lists, of the current configurations."""

    def results_after(
        self,
        key: ResultKey | WindowKey | None,
        *,
        monitors: Collection[str],
        since: datetime | None = None,
        until: datetime | None = None,
        model_version: str | None = None,
        segment: str | None = None,
        metrics: Collection[str] | None = None,
        states: Collection[State] | None = None,
        revisions: Revisions = "latest",
        limit: int,
    ) -> tuple[ResultColumns, ResultKey | WindowKey | None]:
        """Results behind a key, sorted by `ResultKey`; and the key behind which more follow.

        There may be fewer than the limit although more follow: a stretch ends with the windows that
        were read for it. The key is None at the end of the list.

        Parameters
        ----------
        key : tuple or None
            Of a result, or of a window: behind all its results. None for the beginning.
        monitors : collection of str
        since, until : datetime, optional
            Only windows that start in [since, until).
        model_version, segment : str, optional
        metrics, states : collection of str, optional
            The state "mature" includes "final".
        revisions : {"latest", "all"}
        limit : int
        """
        number = -(-limit // (len(metrics) if metrics else _OF_A_WINDOW))
        found_windows = (
            _select_windows(monitors, since=since, until=until)
            .where(
                true() if key is None else _is_not_before(key),
                _has_panes(model_version, segment, states, revisions),
            )
            .order_by(windows.c.monitor, windows.c.window_start)
            .limit(number + 1)
        )
        with self.database.reading() as connection:
            keys = connection.execute(found_windows).all()
            query, place = _select_latest(states) if revisions == "latest" else _select_all(states)
            query = (
                query.where(
                    place.c.window_key.in_([row.window_key for row in keys[:number]]),
                    *equal(results.c.model_version, model_version),
                    *equal(results.c.segment, segment),
                    *one_of(results.c.metric, metrics),
                    true() if key is None else _is_behind(_order(place)[: len(key)], key),
                )
                .order_by(*_order(place))
                .limit(limit + 1)
            )
            rows = connection.execute(query).all()
        found = ResultColumns(**in_columns(field_names(PublishedResult), rows, limit=limit))
        if found.is_cut:
            return found, tuple(getattr(found, name)[-1] for name in _KEY)
        last = keys[number - 1] if len(keys) > number else None
        return found, None if last is None else (last.monitor, last.window_start)

    def windows_before(
        self,
        key: datetime | None,
        *,
        monitor: str,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int,
    ) -> tuple[list[WindowRecord], bool]:
        """Windows of a monitor before a moment, the newest first; and whether there are more.

        Parameters
        ----------
        key : datetime or None
            Only windows that start before; None for the newest.
        monitor : str
        since, until : datetime, optional
            Only windows that start in [since, until).
        limit : int
        """
        chosen = (
            _select_windows([monitor], since=since, until=until)
            .where(true() if key is None else windows.c.window_start < key)
            .order_by(windows.c.window_start.desc())
            .limit(limit + 1)
        )
        with self.database.reading() as connection:
            keys = [row.window_key for row in connection.execute(chosen)]
            query = (
                select(windows, panes)
                .join_from(windows, panes, panes.c.window_key == windows.c.window_key)
                .where(windows.c.window_key.in_(keys[:limit]))
                .order_by(windows.c.window_start.desc(), panes.c.number)
            )
            return windows_in(connection.execute(query)), len(keys) > limit


def _select_windows(
    names: Collection[str], *, since: datetime | None, until: datetime | None
) -> Select[Any]:
    """Windows of the current configurations of these monitors; an index has them in this order."""
    return (
        select(windows.c.window_key, windows.c.monitor, windows.c.window_start)
        .join_from(
            monitors,
            windows,
            and_(
                windows.c.monitor == monitors.c.name,
                windows.c.configuration == monitors.c.configuration,
            ),
        )
        .where(
            monitors.c.is_current,
            monitors.c.name.in_(sorted(names)),
            *starting_between(since, until),
        )
    )


def _has_panes(
    model_version: str | None,
    segment: str | None,
    states: Collection[State] | None,
    revisions: Revisions,
) -> ColumnElement[bool]:
    """Condition that a window has results of such a series: others would leave a stretch empty."""
    if revisions == "latest":
        return exists().where(
            newest_panes.c.window_key == windows.c.window_key,
            *equal(newest_panes.c.model_version, model_version),
            *equal(newest_panes.c.segment, segment),
            *in_states(newest_panes.c.state, states),
        )
    return exists().where(
        evaluations.c.window_key == windows.c.window_key,
        *equal(evaluations.c.model_version, model_version),
        *equal(evaluations.c.segment, segment),
    )


def _select_latest(states: Collection[State] | None) -> tuple[Select[Any], Any]:
    query = select(*OF_NEWEST).join_from(newest_panes, results, is_of_newest())
    return query.where(*in_states(newest_panes.c.state, states)), newest_panes


def _select_all(states: Collection[State] | None) -> tuple[Select[Any], Any]:
    query = (
        select(*OF_ANY)
        .join_from(windows, panes, panes.c.window_key == windows.c.window_key)
        .join(results, same_pane(results))
    )
    return query.where(*in_states(panes.c.state, states)), windows


def _order(place: Any) -> tuple[ColumnElement[Any], ...]:
    """Columns of `ResultKey`."""
    return (
        place.c.monitor,
        place.c.window_start,
        results.c.model_version,
        results.c.segment,
        results.c.metric,
        results.c.revision,
    )


def _is_not_before(key: Sequence[Any]) -> ColumnElement[bool]:
    """Condition that a window is that of a result's key or comes behind it; behind a window's."""
    monitor, start = windows.c.monitor, windows.c.window_start
    of_same = start >= key[1] if len(key) > 2 else start > key[1]
    return or_(monitor > key[0], and_(monitor == key[0], of_same))


def _is_behind(columns: Sequence[ColumnElement[Any]], key: Sequence[Any]) -> ColumnElement[bool]:
    """Condition that a row comes behind a key, in the order of the columns."""
    first, value = columns[0], key[0]
    behind: ColumnElement[bool] = first > value
    if len(columns) == 1:
        return behind
    return or_(behind, and_(first == value, _is_behind(columns[1:], key[1:])))
