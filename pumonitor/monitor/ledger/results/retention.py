"""Delete evaluations that later ones superseded long ago, and say what could be deleted.

Never deleted are the newest evaluation of a window, that of its mature pane, which references,
label maturity and the followed class prior read, and what an alert cites. The counts of all panes
stay: from them, and from nothing else, evaluations are made.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    case,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)

from pumonitor.monitor.ledger.database.schema import (
    alert_progress,
    alert_states,
    alert_transitions,
    evaluations,
    panes,
    results,
    windows,
)

_HAS_RESULTS: Final = and_(panes.c.revision.is_not(None), panes.c.forgotten_at.is_(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was deleted.

    Attributes
    ----------
    panes : int
        Panes that have nothing superseded any more; a pane without rows had nothing to delete.
    evaluations, results : int
        Rows: one evaluation for each series of a pane, one result for each of its metrics.
    """

    panes: int = 0
    evaluations: int = 0
    results: int = 0

    def __str__(self) -> str:
        return (
            f"{self.evaluations:,} superseded evaluations of {self.panes:,} panes deleted "
            "(keep_evaluations)"
        )

    def __add__(self, other: Forgotten) -> Forgotten:
        return Forgotten(
            panes=self.panes + other.panes,
            evaluations=self.evaluations + other.evaluations,
            results=self.results + other.results,
        )


def note_superseded(
    connection: Connection, key: str, changed: Collection[int], *, at: datetime
) -> None:
    """Note which results of a window are superseded, now that these panes have new ones.

    Call it in the transaction that stores them.
    """
    connection.execute(
        update(panes)
        .where(
            panes.c.window_key == key,
            _HAS_RESULTS,
            or_(
                # An earlier revision of its own; a larger number may be its first as well.
                and_(panes.c.number.in_(changed), panes.c.revision > panes.c.number),
                _is_replaced(),
            ),
        )
        .values(superseded_at=at)
    )


def forget_superseded(
    connection: Connection, *, before: datetime, at: datetime, limit: int
) -> Forgotten:
    """Delete evaluations and results that were superseded before a moment, of the oldest panes.

    Parameters
    ----------
    connection : Connection
    before : datetime
    at : datetime
        By the database's clock.
    limit : int
        Most panes.
    """
    found = connection.execute(
        select(panes.c.window_key, panes.c.number, _is_replaced().label("is_replaced"))
        .where(*_is_forgettable(before))
        .order_by(panes.c.superseded_at, panes.c.window_key, panes.c.number)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    if not found:
        return Forgotten()
    whole = [row for row in found if row.is_replaced]
    gone = {table: _delete(connection, table, found, whole) for table in (evaluations, results)}
    of_whole = _are(panes.c.number, whole, panes)
    connection.execute(
        update(panes)
        .where(_are(panes.c.number, found, panes))
        .values(superseded_at=None, forgotten_at=case((of_whole, at), else_=panes.c.forgotten_at))
    )
    return Forgotten(panes=len(found), evaluations=gone[evaluations], results=gone[results])


def superseded_by_monitor(connection: Connection, *, before: datetime) -> dict[str, int]:
    """Number of evaluations of each monitor that could be deleted."""
    query = (
        select(windows.c.monitor, func.count())
        .join_from(panes, windows, windows.c.window_key == panes.c.window_key)
        .join(
            evaluations,
            and_(
                evaluations.c.window_key == panes.c.window_key,
                evaluations.c.pane == panes.c.number,
                or_(_is_replaced(), evaluations.c.revision < panes.c.revision),
            ),
        )
        .where(*_is_forgettable(before))
        .group_by(windows.c.monitor)
    )
    return {name: int(count) for name, count in connection.execute(query)}


def _is_forgettable(before: datetime) -> list[ColumnElement[bool]]:
    return [panes.c.superseded_at < before, _HAS_RESULTS, ~_is_cited(), ~_is_to_be_folded()]


def _is_replaced() -> ColumnElement[bool]:
    """Whether the pane is provisional, and its window has results of a mature or final one."""
    later = panes.alias("later")
    return and_(
        panes.c.state == "provisional",
        exists().where(
            later.c.window_key == panes.c.window_key,
            later.c.number > panes.c.number,
            later.c.state != "provisional",
            later.c.revision.is_not(None),
        ),
    )


def _is_cited() -> ColumnElement[bool]:
    """Whether an alert stands on the pane: its state or anything that it went through."""
    cites = [
        exists().where(
            windows.c.window_key == panes.c.window_key,
            table.c.monitor == windows.c.monitor,
            table.c.window_start == windows.c.window_start,
            table.c.as_of == panes.c.as_of,
        )
        for table in (alert_states, alert_transitions)
    ]
    return or_(*cites)


def _is_to_be_folded() -> ColumnElement[bool]:
    """Whether a rule of the monitor has not come to the pane yet."""
    return exists().where(
        windows.c.window_key == panes.c.window_key,
        alert_progress.c.monitor == windows.c.monitor,
        or_(
            alert_progress.c.as_of.is_(None),
            alert_progress.c.as_of < panes.c.as_of,
            and_(
                alert_progress.c.as_of == panes.c.as_of,
                alert_progress.c.window_start < windows.c.window_start,
            ),
        ),
    )


def _delete(
    connection: Connection, table: Any, found: Sequence[Row[Any]], whole: Sequence[Row[Any]]
) -> int:
    newest = (
        select(panes.c.revision)
        .where(panes.c.window_key == table.c.window_key, panes.c.number == table.c.pane)
        .scalar_subquery()
    )
    done = connection.execute(
        delete(table).where(
            _are(table.c.pane, found, table),
            or_(_are(table.c.pane, whole, table), table.c.revision < newest),
        )
    )
    return int(done.rowcount)


def _are(number: Any, rows: Sequence[Row[Any]], table: Any) -> ColumnElement[bool]:
    """Condition that rows of a table are of these panes."""
    return tuple_(table.c.window_key, number).in_([(row.window_key, row.number) for row in rows])
