"""Processes that hold windows and messages, and the end of leases of dead processes.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import Connection, and_, func, select, update

from pumonitor.monitor.ledger.claims.owners import is_dead, lives_here, shown_owner
from pumonitor.monitor.ledger.database.queries import equal
from pumonitor.monitor.ledger.database.schema import outbox, windows


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that holds windows or messages.

    Attributes
    ----------
    name : str
        Display name.
    until : datetime
        End of its lease, unless renewed.
    held : int
        Number of windows or messages.
    lives_here : bool
        Whether it is known to be alive; False for processes on other machines.
    """

    name: str
    until: datetime
    held: int
    lives_here: bool

    @classmethod
    def of(cls, owner: str, *, until: datetime, held: int) -> Self:
        """Make a holder from an owner's text in the ledger."""
        return cls(name=shown_owner(owner), until=until, held=held, lives_here=lives_here(owner))


def is_pending() -> Any:
    """Condition that a message is neither delivered nor set aside."""
    return and_(outbox.c.delivered_at.is_(None), outbox.c.set_aside_at.is_(None))


def holders_of_windows(
    connection: Connection, *, at: datetime, monitor: str | None = None
) -> tuple[Holder, ...]:
    """Processes that hold windows, except those known to be dead."""
    query = (
        select(
            windows.c.lease_owner,
            func.max(windows.c.lease_until).label("until"),
            func.count().label("held"),
        )
        .where(windows.c.lease_until > at, *equal(windows.c.monitor, monitor))
        .group_by(windows.c.lease_owner)
        .order_by(windows.c.lease_owner)
    )
    return tuple(
        Holder.of(row.lease_owner, until=row.until, held=row.held)
        for row in connection.execute(query)
        if not is_dead(row.lease_owner)
    )


def holders_of_messages(connection: Connection, *, at: datetime) -> dict[str, tuple[Holder, ...]]:
    """Destination to the processes that hold its messages, except those known to be dead."""
    query = (
        select(
            outbox.c.destination,
            outbox.c.claimed_by,
            func.max(outbox.c.claimed_until).label("until"),
            func.count().label("held"),
        )
        .where(is_pending(), outbox.c.claimed_until > at)
        .group_by(outbox.c.destination, outbox.c.claimed_by)
        .order_by(outbox.c.destination, outbox.c.claimed_by)
    )
    found: dict[str, tuple[Holder, ...]] = {}
    for row in connection.execute(query):
        if not is_dead(row.claimed_by):
            holder = Holder.of(row.claimed_by, until=row.until, held=row.held)
            found[row.destination] = (*found.get(row.destination, ()), holder)
    return found


def free_windows(connection: Connection, *, at: datetime) -> bool:
    """End the leases of workers known to be dead; returns whether there were any.

    Their names stay in the rows, so that the next claim counts a failed attempt.
    """
    held = windows.c.lease_until > at
    owners = connection.scalars(select(windows.c.lease_owner).where(held).distinct()).all()
    dead = [owner for owner in owners if is_dead(owner)]
    if not dead:
        return False
    # Rows are locked in one order, as another worker may do the same at the same time.
    keys = connection.scalars(
        select(windows.c.window_key)
        .where(held, windows.c.lease_owner.in_(dead))
        .order_by(windows.c.window_key)
        .with_for_update(skip_locked=True)
    ).all()
    connection.execute(update(windows).where(windows.c.window_key.in_(keys)).values(lease_until=at))
    return bool(keys)


def free_messages(
    connection: Connection, *, destination: str, left_behind: Collection[str], at: datetime
) -> bool:
    """End claims of dead processes and those in `left_behind`; returns whether there were any."""
    held = [outbox.c.destination == destination, is_pending(), outbox.c.claimed_until > at]
    claims = connection.scalars(select(outbox.c.claimed_by).where(*held).distinct()).all()
    free = [claim for claim in claims if claim in left_behind or is_dead(claim)]
    if free:
        connection.execute(
            update(outbox)
            .where(*held, outbox.c.claimed_by.in_(free))
            .values(claimed_by=None, claimed_until=None)
        )
    return bool(free)


def free_all_of(connection: Connection, owner: str) -> None:
    """End all claims of a process, which is about to end. No attempt counts."""
    connection.execute(
        update(windows)
        .where(windows.c.lease_owner == owner)
        .values(lease_owner=None, lease_until=None)
    )
    connection.execute(
        update(outbox)
        .where(outbox.c.claimed_by.startswith(f"{owner} ", autoescape=True), is_pending())
        .values(claimed_by=None, claimed_until=None)
    )
