"""Panes with their results, in the order in which alerts fold them.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, or_, select, tuple_

from pumonitor.monitor.ledger.database.queries import WINDOW_COLUMNS, of_monitor, same_pane
from pumonitor.monitor.ledger.database.schema import panes, results, windows
from pumonitor.monitor.ledger.records.alerts import PaneResults, RecordedPane
from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.ledger.records.rows import record_of, window_of
from pumonitor.ports import Window

Position = tuple[datetime, datetime]
"""Moment of a pane, and start of its window: the sort key of the fold."""

_PANE_COLUMNS = (
    *WINDOW_COLUMNS,
    panes.c.number,
    panes.c.state,
    panes.c.as_of,
    panes.c.revision,
    panes.c.counts,
)
# A pane whose results were deleted was folded when it was new, and a later one replaced it.
_IS_KEPT = panes.c.forgotten_at.is_(None)


def next_panes(
    connection: Connection,
    *,
    monitor: str,
    configuration: str,
    after: Position | None,
    now: datetime,
    attempts_allowed: int,
    limit: int,
) -> list[RecordedPane]:
    """The panes after a position, up to the first one that is still to be evaluated.

    A window that has used up its attempts does not hold up later ones: its panes are returned
    without a revision.
    """
    ours = and_(*of_monitor(monitor, configuration))
    waited_for = connection.execute(
        select(panes.c.as_of, windows.c.window_start)
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(ours, panes.c.status != "evaluated", windows.c.attempts < attempts_allowed)
        .order_by(panes.c.as_of, windows.c.window_start)
        .limit(1)
    ).first()
    conditions: list[ColumnElement[bool]] = [ours, panes.c.as_of <= now, _IS_KEPT]
    if after is not None:
        # The first condition is redundant but can use the index.
        conditions += [panes.c.as_of >= after[0], _place() > after]
    if waited_for is not None:
        before = (waited_for.as_of, waited_for.window_start)
        conditions += [panes.c.as_of <= before[0], _place() < before]
    query: Select[Any] = (
        select(*_PANE_COLUMNS)
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(*conditions)
        .order_by(panes.c.as_of, windows.c.window_start)
        .limit(limit)
    )
    return [
        record_of(RecordedPane, row, counts=row.counts or {}) for row in connection.execute(query)
    ]


def panes_until(
    connection: Connection,
    *,
    monitor: str,
    configuration: str,
    until: Position,
    attempts_allowed: int,
    after: Position | None = None,
) -> list[RecordedPane]:
    """Folded panes that have results or whose window was given up: all, or those after `after`."""
    query: Select[Any] = (
        select(*_PANE_COLUMNS)
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(
            *of_monitor(monitor, configuration),
            panes.c.as_of <= until[0],
            _place() <= until,
            *([] if after is None else [panes.c.as_of >= after[0], _place() > after]),
            or_(panes.c.revision.is_not(None), windows.c.attempts >= attempts_allowed),
            _IS_KEPT,
        )
        .order_by(panes.c.as_of, windows.c.window_start)
    )
    return [
        record_of(RecordedPane, row, counts=row.counts or {}) for row in connection.execute(query)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeliness:
    """How up to date a monitor's results are.

    Attributes
    ----------
    oldest_due : datetime or None
        Earliest moment of the panes that are due and not evaluated.
    newest : Window or None
        The last window with an evaluated pane.
    first : datetime or None
        Start of the first window.
    """

    oldest_due: datetime | None
    newest: Window | None
    first: datetime | None = None


def read_timeliness(
    connection: Connection, *, monitor: str, configuration: str, now: datetime
) -> Timeliness:
    """Read how up to date a monitor's results are, for rules evaluated by the clock."""
    ours = and_(*of_monitor(monitor, configuration))
    joined = panes.join(windows, panes.c.window_key == windows.c.window_key)
    oldest_due = connection.scalar(
        select(func.min(panes.c.as_of))
        .select_from(joined)
        .where(ours, panes.c.status != "evaluated", panes.c.as_of <= now)
    )
    newest = connection.execute(
        select(windows)
        .where(ours, windows.c.evaluated_panes > 0)
        .order_by(windows.c.window_start.desc())
        .limit(1)
    ).first()
    return Timeliness(
        oldest_due=oldest_due,
        newest=None if newest is None else window_of(newest),
        first=connection.scalar(select(func.min(windows.c.window_start)).where(ours)),
    )


def earliest_unfinished(
    connection: Connection, *, monitor: str, configuration: str
) -> datetime | None:
    """Moment of the earliest pane that is not evaluated, due or not; None if all are."""
    found: datetime | None = connection.scalar(
        select(func.min(panes.c.as_of))
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(
            *of_monitor(monitor, configuration),
            or_(
                windows.c.next_as_of.is_not(None),
                windows.c.evaluated_panes < windows.c.collected_panes,
            ),
            panes.c.status != "evaluated",
        )
    )
    return found


def with_results(
    connection: Connection, some: Sequence[RecordedPane], *, metrics: Collection[str]
) -> list[PaneResults]:
    """The panes with the newest results of these metrics."""
    found: dict[tuple[str, int], dict[tuple[str, str], dict[str, MetricResult]]] = {
        (pane.window_key, pane.number): {} for pane in some
    }
    asked = [pane for pane in some if pane.revision is not None]
    for row in _result_rows(connection, asked, metrics):
        pane = found.get((row.window_key, row.pane))
        if pane is not None:
            series = pane.setdefault((row.model_version, row.segment), {})
            series[row.metric] = record_of(MetricResult, row)
    return [PaneResults(pane=pane, results=found[pane.window_key, pane.number]) for pane in some]


def _result_rows(
    connection: Connection, some: Sequence[RecordedPane], metrics: Collection[str]
) -> list[Row[Any]]:
    rows: list[Row[Any]] = []
    for number in sorted({pane.number for pane in some}):
        keys = sorted({pane.window_key for pane in some if pane.number == number})
        for begin in range(0, len(keys), 500):
            rows += connection.execute(
                select(results)
                .join(panes, and_(same_pane(results), panes.c.revision == results.c.revision))
                .where(
                    results.c.window_key.in_(keys[begin : begin + 500]),
                    results.c.pane == number,
                    results.c.metric.in_(sorted(metrics)),
                )
            ).all()
    return rows


def _place() -> Any:
    return tuple_(panes.c.as_of, windows.c.window_start)
