"""Looks at windows: what later ones are held to, those that were not taken, and those accepted.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from pumonitor.monitor.ledger.database.queries import of_monitor, same_pane
from pumonitor.monitor.ledger.database.schema import panes, series, windows
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.monitor.ledger.results.planning import recount
from pumonitor.monitor.rules.windows.losses import SeriesCount
from pumonitor.ports import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLook:
    """A window of which rows are missing, so that the looks before stand.

    They were counted before and are gone, or are in a file that is damaged.

    Attributes
    ----------
    monitor : str
    window_key : str
    window : Window
    since : datetime
        Time of the first such look in a row, by the database's clock.
    error : str
        What is missing, and what to do.
    is_acceptable : bool
        Whether what is left was counted.
    """

    monitor: str
    window_key: str
    window: Window
    since: datetime
    error: str
    is_acceptable: bool


def counts_known(connection: Connection, key: str) -> tuple[SeriesCount, ...]:
    """What a later look at a window is held to: the looks taken, from the last accepted one on."""
    accepted: Mapping[str, Any] | None = connection.scalar(
        select(windows.c.accepted_look).where(windows.c.window_key == key)
    )
    query = (
        select(
            panes.c.number,
            panes.c.as_of,
            series.c.model_version,
            series.c.segment,
            series.c.delays,
        )
        .join(panes, same_pane(series))
        .where(series.c.window_key == key)
    )
    counts: list[SeriesCount] = []
    if accepted is not None:
        since = datetime.fromisoformat(accepted["at"])
        query = query.where(panes.c.collected_at > since)
        counts = [SeriesCount.from_json(one) for one in accepted["counts"]]
    return (
        *counts,
        *(
            record_of(
                SeriesCount,
                row,
                rows=sum(row.delays[name] for name in ("labeled", "unlabeled", "negative")),
                labels=row.delays["labeled"] + row.delays["negative"],
            )
            for row in connection.execute(query)
        ),
    )


def refuse(
    connection: Connection, claim: Claim, counts: Sequence[SeriesCount], *, at: datetime
) -> None:
    """Store what a look found that is not taken."""
    before: Mapping[str, Any] | None = connection.scalar(
        select(windows.c.refused_look).where(windows.c.window_key == claim.window_key)
    )
    since = at.isoformat() if before is None else before["since"]
    look = {"since": since, "counts": [count.to_json() for count in counts]}
    connection.execute(
        update(windows).where(windows.c.window_key == claim.window_key).values(refused_look=look)
    )


def accept(connection: Connection, key: str, *, by: str, reason: str, at: datetime) -> bool:
    """Take a refused look: the window is due at once; returns False if none was refused."""
    refused: Mapping[str, Any] | None = connection.scalar(
        select(windows.c.refused_look).where(windows.c.window_key == key).with_for_update()
    )
    if refused is None or not refused["counts"]:
        return False
    accepted = {"at": at.isoformat(), "by": by, "reason": reason, "counts": refused["counts"]}
    accepted["is_taken"] = False
    connection.execute(
        update(windows)
        .where(windows.c.window_key == key)
        .values(accepted_look=accepted, refused_look=None, attempts=0, not_before=None)
    )
    return True


def settle(connection: Connection, claim: Claim) -> bool:
    """Store that a look at a window was taken; returns whether one was refused before."""
    own = windows.c.window_key == claim.window_key
    refused, accepted = connection.execute(
        select(windows.c.refused_look, windows.c.accepted_look).where(own)
    ).one()
    is_first = accepted is not None and not accepted["is_taken"]
    if refused is None and not is_first:
        return False
    if is_first:
        accepted = {**accepted, "is_taken": True}
    connection.execute(update(windows).where(own).values(refused_look=None, accepted_look=accepted))
    return True


def refused_looks(connection: Connection, monitor: str | None) -> tuple[RefusedLook, ...]:
    """Windows of current configurations whose newest look was refused, in order of time."""
    query = (
        select(windows)
        .where(*of_monitor(monitor, None), windows.c.refused_look.is_not(None))
        .order_by(windows.c.monitor, windows.c.window_start)
    )
    return tuple(
        record_of(
            RefusedLook,
            row,
            since=datetime.fromisoformat(row.refused_look["since"]),
            error=row.last_error or "",
            is_acceptable=bool(row.refused_look["counts"]),
        )
        for row in connection.execute(query)
    )


def withdraw(connection: Connection, claim: Claim, numbers: Sequence[int]) -> None:
    """Delete planned panes of a claimed window that were never collected."""
    connection.execute(
        delete(panes).where(
            panes.c.window_key == claim.window_key,
            panes.c.number.in_(numbers),
            panes.c.status == "planned",
            panes.c.digest.is_(None),
        )
    )
    recount(connection, [claim.window_key])
    connection.execute(
        update(windows)
        .where(windows.c.window_key == claim.window_key, windows.c.next_as_of.is_(None))
        .values(refused_look=None, attempts=0, last_error=None, not_before=None)
    )
