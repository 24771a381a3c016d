"""Mature panes of windows in a range of time.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from pumonitor.monitor.ledger.database.queries import WINDOW_COLUMNS, of_monitor, starting_between
from pumonitor.monitor.ledger.database.schema import panes, windows
from pumonitor.monitor.ledger.records.alerts import RecordedPane
from pumonitor.monitor.ledger.records.rows import record_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MaturePane:
    """The mature pane of a window.

    Attributes
    ----------
    seen : RecordedPane
        Without counts; without revision while it is collected and not evaluated.
    collected_at : datetime
    """

    seen: RecordedPane
    collected_at: datetime


def mature_panes(
    connection: Connection,
    *,
    monitor: str,
    configuration: str,
    since: datetime | None = None,
    until: datetime | None = None,
    most: int | None = None,
) -> tuple[MaturePane, ...]:
    """Collected mature panes, in order of time.

    Parameters
    ----------
    connection : Connection
    monitor, configuration : str
    since, until : datetime, optional
        Only windows that start in [since, until).
    most : int, optional
        Most panes to return, from the first.
    """
    query: Select[Any] = (
        select(
            *WINDOW_COLUMNS,
            panes.c.number,
            panes.c.state,
            panes.c.as_of,
            panes.c.status,
            panes.c.revision,
            panes.c.collected_at,
        )
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(
            *of_monitor(monitor, configuration),
            *starting_between(since, until),
            panes.c.state == "mature",
            panes.c.status.in_(["collected", "evaluated"]),
        )
        .order_by(windows.c.window_start)
        .limit(most)
    )
    return tuple(
        MaturePane(
            seen=record_of(
                RecordedPane,
                row,
                # Results may exist from data collected earlier; they do not count.
                revision=row.revision if row.status == "evaluated" else None,
                counts={},
            ),
            collected_at=row.collected_at,
        )
        for row in connection.execute(query)
    )
