"""Numbers of confirmed positives of windows at panes of one age.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from pumonitor.monitor.ledger.database.queries import WINDOW_COLUMNS, of_monitor, starting_between
from pumonitor.monitor.ledger.database.schema import panes, series, windows
from pumonitor.monitor.ledger.records.collected import LabeledCount
from pumonitor.monitor.ledger.records.rows import window_of


def labels_at_age(
    connection: Connection,
    *,
    monitor: str,
    configuration: str,
    segment: str,
    number: int,
    until: datetime,
    as_of: datetime,
    most: int,
    since: datetime | None = None,
) -> tuple[LabeledCount, ...]:
    """Confirmed positives and rows, by window and model version.

    Parameters
    ----------
    connection : Connection
    monitor, configuration : str
    segment : str
    number : int
        Number of the pane, which determines the age of the labels.
    until : datetime
        Only windows that start before.
    as_of : datetime
        Only panes of this moment or earlier.
    most : int
        Most windows to return, from the first.
    since : datetime, optional
        Only windows that start then or later.
    """
    chosen = (
        select(windows.c.window_key)
        .join(panes, windows.c.window_key == panes.c.window_key)
        .where(
            *of_monitor(monitor, configuration),
            *starting_between(since, until),
            panes.c.number == number,
            panes.c.as_of <= as_of,
            panes.c.collected_at.is_not(None),
        )
        .order_by(windows.c.window_start)
        .limit(most)
        .subquery()
    )
    query: Select[Any] = (
        select(*WINDOW_COLUMNS, series.c.model_version, series.c.delays)
        .join_from(series, windows, windows.c.window_key == series.c.window_key)
        .where(
            series.c.window_key.in_(select(chosen.c.window_key)),
            series.c.pane == number,
            series.c.segment == segment,
        )
        .order_by(windows.c.window_start, series.c.model_version)
    )
    return tuple(
        LabeledCount(
            window=window_of(row),
            number=number,
            model_version=row.model_version,
            segment=segment,
            labeled=row.delays["labeled"],
            rows=sum(row.delays[one] for one in ("labeled", "unlabeled", "negative")),
        )
        for row in connection.execute(query)
    )
