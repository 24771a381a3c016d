"""Register monitors, plan windows, and make windows due again.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select, update

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import of_monitor
from pumonitor.monitor.ledger.database.schema import monitors, panes, windows
from pumonitor.monitor.ledger.records.claims import Claim, window_key
from pumonitor.ports import Pane

Which = Literal["missing", "failed", "all"]
"""Windows with panes not evaluated, windows whose last attempt failed, or all."""

_AT_ONCE = 500


def register(
    connection: Connection,
    database: Database,
    *,
    monitor: str,
    configuration: str,
    meaning: Mapping[str, Any],
    at: datetime,
) -> bool:
    """Make this the monitor's current configuration; returns whether that is a change."""
    database.alone(connection, f"monitor {monitor}")
    current = connection.scalar(
        select(monitors.c.configuration).where(monitors.c.name == monitor, monitors.c.is_current)
    )
    if current == configuration:
        return False
    connection.execute(update(monitors).where(monitors.c.name == monitor).values(is_current=False))
    connection.execute(
        database.insert_if_absent(monitors).values(
            name=monitor,
            configuration=configuration,
            meaning=dict(meaning),
            registered_at=at,
            is_current=True,
        )
    )
    connection.execute(
        update(monitors)
        .where(monitors.c.name == monitor, monitors.c.configuration == configuration)
        .values(is_current=True, registered_at=at)
    )
    return True


def plan(
    connection: Connection,
    database: Database,
    *,
    monitor: str,
    configuration: str,
    wanted: Iterable[Pane],
) -> int:
    """Add the panes and windows that are missing; returns the number of windows added."""
    if not connection.scalar(
        select(func.count())
        .select_from(monitors)
        .where(monitors.c.name == monitor, monitors.c.configuration == configuration)
    ):
        msg = f"monitor {monitor!r} is not registered with the configuration {configuration!r}"
        raise ValueError(msg)
    # Sorted, so that two processes planning the same windows lock rows in one order.
    in_order = sorted(wanted)
    added = 0
    for some in _in_parts(in_order):
        added += _plan(connection, database, monitor, configuration, some)
    return added


def _plan(
    connection: Connection,
    database: Database,
    monitor: str,
    configuration: str,
    some: Sequence[Pane],
) -> int:
    keys = {
        pane.window: window_key(monitor, configuration, pane.window.start, pane.window.end)
        for pane in some
    }
    new_windows = connection.execute(
        database.insert_if_absent(windows).returning(windows.c.window_key),
        [
            {
                "window_key": key,
                "monitor": monitor,
                "configuration": configuration,
                "window_start": window.start,
                "window_end": window.end,
                "window_index": window.index,
                "collected_panes": 0,
                "evaluated_panes": 0,
                "fence": 0,
                "attempts": 0,
            }
            for window, key in keys.items()
        ],
    ).all()
    new_panes = connection.execute(
        database.insert_if_absent(panes).returning(panes.c.window_key),
        [
            {
                "window_key": keys[pane.window],
                "number": pane.number,
                "state": pane.state,
                "as_of": pane.as_of,
                "status": "planned",
            }
            for pane in some
        ],
    ).all()
    recount(connection, sorted({row.window_key for row in new_panes}))
    return len(new_windows)


def recount(connection: Connection, keys: Sequence[str]) -> None:
    """Recompute the counters of windows from their panes."""
    own = panes.c.window_key == windows.c.window_key

    def number(*statuses: str) -> Any:
        return (
            select(func.count())
            .select_from(panes)
            .where(own, panes.c.status.in_(statuses))
            .scalar_subquery()
        )

    for some in _in_parts(keys):
        connection.execute(
            update(windows)
            .where(windows.c.window_key.in_(some))
            .values(
                collected_panes=number("collected", "evaluated"),
                evaluated_panes=number("evaluated"),
                next_as_of=select(func.min(panes.c.as_of))
                .where(own, panes.c.status == "planned")
                .scalar_subquery(),
            )
        )


def reopen(connection: Connection, *, keys: Sequence[str], which: Which, at: datetime) -> list[str]:
    """Make windows due again now; returns their keys.

    With "all", claims that are held are revoked: their commits will be refused.
    """
    reopened: list[str] = []
    for some in _in_parts(sorted(keys)):
        chosen: ColumnElement[bool] = windows.c.window_key.in_(some)
        if which != "all":
            chosen = and_(
                chosen,
                or_(windows.c.lease_until.is_(None), windows.c.lease_until <= at),
                windows.c.attempts > 0
                if which == "failed"
                else or_(
                    windows.c.next_as_of.is_not(None),
                    windows.c.evaluated_panes < windows.c.collected_panes,
                ),
            )
        reopened += connection.scalars(
            update(windows)
            .where(chosen)
            .values(
                fence=windows.c.fence + 1,
                lease_owner=None,
                lease_until=None,
                attempts=0,
                not_before=None,
            )
            .returning(windows.c.window_key)
        )
    if which == "all":
        for some in _in_parts(reopened):
            connection.execute(
                update(panes).where(panes.c.window_key.in_(some)).values(status="planned")
            )
        recount(connection, reopened)
    return sorted(reopened)


def evaluate_again(connection: Connection, *, monitor: str, configuration: str) -> list[str]:
    """Make all evaluated windows of a configuration due for evaluation; returns their keys.

    Nothing is collected again. Claims that are held are revoked, as who holds one may have begun
    with what was known before.
    """
    return _evaluate_again(connection, *of_monitor(monitor, configuration))


def evaluate_later_again(connection: Connection, claim: Claim) -> list[str]:
    """Make panes due for evaluation that were evaluated without those that are collected now.

    They are those of later windows at the same moment or later.
    """
    return _evaluate_again(
        connection,
        *of_monitor(claim.monitor, claim.configuration),
        windows.c.window_start > claim.window.start,
        since=claim.panes[0].pane.as_of,
    )


def _evaluate_again(
    connection: Connection, *which: ColumnElement[bool], since: datetime | None = None
) -> list[str]:
    later = [] if since is None else [panes.c.as_of >= since]
    keys = connection.scalars(
        select(windows.c.window_key)
        .where(
            *which,
            or_(
                exists().where(
                    panes.c.window_key == windows.c.window_key,
                    panes.c.status == "evaluated",
                    *later,
                ),
                windows.c.lease_until.is_not(None),
            ),
        )
        .order_by(windows.c.window_key)
    ).all()
    for some in _in_parts(keys):
        connection.execute(
            update(windows)
            .where(windows.c.window_key.in_(some))
            .values(
                fence=windows.c.fence + 1,
                lease_owner=None,
                lease_until=None,
                attempts=0,
                not_before=None,
            )
        )
        connection.execute(
            update(panes)
            .where(
                panes.c.window_key.in_(some),
                panes.c.status == "evaluated",
                panes.c.forgotten_at.is_(None),
                *later,
            )
            .values(status="collected")
        )
    recount(connection, keys)
    return list(keys)


def _in_parts(items: Sequence[Any]) -> Iterable[list[Any]]:
    """Parts of at most 500 items, as databases limit the length of a statement."""
    return (list(items[begin : begin + _AT_ONCE]) for begin in range(0, len(items), _AT_ONCE))
