"""The outbox: messages in the state database that wait for delivery.

Results and messages about them are stored in one transaction, so no message is lost and none is
about missing results. Messages are sent afterwards, again and again until delivery is recorded
(at least once): a destination may receive a message twice, with the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import and_, delete, exists, false, func, or_, select, update

from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.ledger.claims.holders import (
    Holder,
    free_messages,
    holders_of_messages,
    is_pending,
)
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.claims.renewal import surely_held
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import without_passwords
from pumonitor.monitor.ledger.database.schema import outbox, sent_keys
from pumonitor.monitor.ledger.enqueue import alone_with, key_hash
from pumonitor.monitor.ledger.records.rows import field_names, record_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A message that the outbox still has.

    Attributes
    ----------
    destination, key : str
    payload : mapping
    delivered_at, set_aside_at : datetime or None
        None and None: it waits.
    """

    destination: str
    key: str
    payload: Mapping[str, Any]
    delivered_at: datetime | None
    set_aside_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Undelivered messages of one destination.

    Attributes
    ----------
    messages : int
        Number of messages that are neither delivered nor set aside.
    oldest : timedelta
        Time that the oldest of them has waited, by the database's clock.
    set_aside : int
        Number of messages that are no longer tried.
    failed : int
        Number of waiting messages with a failed attempt.
    next_try : datetime or None
        When the first failed one is tried again; None if the next round does it.
    holders : tuple of Holder
        Processes that are sending some of them, except those known to be dead.
    last_error : str or None
        Error of the oldest failed message, or else of the last one set aside.
    """

    messages: int
    oldest: timedelta
    set_aside: int
    last_error: str | None
    failed: int = 0
    next_try: datetime | None = None
    holders: tuple[Holder, ...] = ()


class StoredOutbox:
    """The outbox of a ledger; implements `pumonitor.monitor.delivery_ports.Outbox`.

    Parameters
    ----------
    database : Database
    mask : callable
        Hides secrets in text.
    """

    def __init__(
        self, database: Database, *, mask: Callable[[str], str] = without_passwords
    ) -> None:
        self._database = database
        self._mask = mask
        self._left_behind: set[str] = set()

    def claim(self, destination: str, *, limit: int, lease: timedelta) -> Sequence[OutboxMessage]:
        """Claim the next messages of a destination, in the order of their lanes.

        Claims of processes known to be dead, and those that this process failed to release, are
        ended at once.
        """
        with self._database.writing() as connection:
            alone_with(connection, self._database, destination)
            at = self._database.now(connection)
            rows = connection.execute(_next_in_turn(destination, at).limit(limit)).all()
            if len(rows) < limit and free_messages(
                connection, destination=destination, left_behind=self._left_behind, at=at
            ):
                rows = connection.execute(_next_in_turn(destination, at).limit(limit)).all()
            claim = f"{this_process()} {uuid4().hex}"
            connection.execute(
                update(outbox)
                .where(outbox.c.id.in_([row.id for row in rows]))
                .values(claimed_by=claim, claimed_until=at + lease)
            )
        return tuple(record_of(OutboxMessage, row, claim=claim) for row in rows)

    @contextmanager
    def keeping(
        self, messages: Sequence[OutboxMessage], *, lease: timedelta
    ) -> Iterator[Callable[[], bool]]:
        """Context that renews the claim; yields a function that returns whether it still holds."""
        try:
            with surely_held(lambda: self._renew(messages, lease), lease=lease) as holds:
                yield holds
        except BaseException:
            # The claim may not have been released; the next `claim` ends it.
            self._left_behind |= {message.claim for message in messages}
            raise

    def _renew(self, messages: Sequence[OutboxMessage], lease: timedelta) -> None:
        with self._database.writing() as connection:
            at = self._database.now(connection)
            connection.execute(
                update(outbox)
                .where(
                    outbox.c.id.in_([message.id for message in messages]),
                    outbox.c.claimed_by.in_({message.claim for message in messages}),
                    outbox.c.claimed_until > at,
                    is_pending(),
                )
                .values(claimed_until=at + lease)
            )

    def delivered(self, message: OutboxMessage) -> None:
        """Record the delivery of a message."""
        self._change([message], lambda at: {"delivered_at": at, "last_error": None})

    def failed(
        self, message: OutboxMessage, *, reason: str, retry_after: timedelta, refused: bool
    ) -> None:
        """Record a failed attempt and the time of the next; `refused` counts it as a refusal."""
        self._change(
            [message],
            lambda at: {
                "attempts": outbox.c.attempts + 1,
                "refusals": outbox.c.refusals + int(refused),
                "not_before": at + retry_after,
                "last_error": self._mask(reason),
            },
        )

    def set_aside(self, message: OutboxMessage, *, reason: str) -> None:
        """Stop trying a message until `take_up`; its lane goes on without it."""
        self._change(
            [message],
            lambda at: {
                "attempts": outbox.c.attempts + 1,
                "refusals": outbox.c.refusals + 1,
                "set_aside_at": at,
                "last_error": self._mask(reason),
            },
        )

    def release(self, messages: Sequence[OutboxMessage]) -> None:
        """Release claimed messages that were not attempted."""
        self._change(messages, lambda _: {})

    def take_up(self, destination: str) -> int:
        """Try all messages again at once; returns the number of those that were set aside."""
        of_destination = and_(outbox.c.destination == destination, outbox.c.delivered_at.is_(None))
        with self._database.writing() as connection:
            alone_with(connection, self._database, destination)
            taken_up = connection.execute(
                update(outbox)
                .where(of_destination, outbox.c.set_aside_at.is_not(None))
                .values(set_aside_at=None, refusals=0)
            ).rowcount
            connection.execute(update(outbox).where(of_destination).values(not_before=None))
        return taken_up

    def payloads(self, destination: str, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """Key to payload of the messages with these keys, delivered or not, sorted by key."""
        found: dict[str, Mapping[str, Any]] = {}
        asked = sorted(keys)
        with self._database.reading() as connection:
            # Databases limit the number of values in a statement.
            for start in range(0, len(asked), 500):
                query = select(outbox.c.key, outbox.c.payload).where(
                    outbox.c.destination == destination,
                    outbox.c.key.in_(asked[start : start + 500]),
                )
                found |= {row.key: row.payload for row in connection.execute(query)}
        return dict(sorted(found.items()))

    def kept(self, keys: Collection[str], *, to: str) -> tuple[Kept, ...]:
        """Messages with these keys, by destination; those that were deleted are left out.

        Parameters
        ----------
        keys : collection of str
        to : str
            Only destinations that begin with it.
        """
        own, asked = outbox.c, sorted(keys)
        found: list[Kept] = []
        with self._database.reading() as connection:
            names = select(own.destination).distinct().order_by(own.destination)
            for name in connection.scalars(names).all() if asked else ():
                # The index is by destination and key.
                for start in range(0, len(asked) if name.startswith(to) else 0, 500):
                    query = select(*(own[name] for name in field_names(Kept))).where(
                        own.destination == name, own.key.in_(asked[start : start + 500])
                    )
                    found += [record_of(Kept, row) for row in connection.execute(query)]
        return tuple(found)

    def forget_delivered(
        self, *, older_than: timedelta, keep: Collection[str] = (), limit: int = 500
    ) -> int:
        """Delete the oldest messages that were delivered longer ago; returns their number.

        Hashes of their keys stay, so that none of them is sent again.

        Parameters
        ----------
        older_than : timedelta
            By the database's clock.
        keep : collection of str
            Keys of messages that are still needed.
        limit : int
            Most messages per transaction, as other transactions wait for it.
        """
        with self._database.writing() as connection:
            before = self._database.now(connection) - older_than
            chosen = [outbox.c.delivered_at < before, ~_is_one_of(outbox.c.key, keep)]
            for destination in sorted(
                connection.scalars(select(outbox.c.destination).where(*chosen).distinct())
            ):
                # Other transactions must find a key either in the outbox or among sent keys.
                alone_with(connection, self._database, destination)
            rows = connection.execute(
                select(outbox.c.id, outbox.c.destination, outbox.c.key)
                .where(*chosen)
                .order_by(outbox.c.delivered_at)
                .limit(limit)
            ).all()
            if rows:
                connection.execute(
                    self._database.insert_if_absent(sent_keys),
                    [
                        {"destination": row.destination, "key_hash": key_hash(row.key)}
                        for row in rows
                    ],
                )
                connection.execute(delete(outbox).where(outbox.c.id.in_([row.id for row in rows])))
        return len(rows)

    def waiting(self) -> dict[str, Waiting]:
        """Destination to its undelivered messages; destinations without any are left out."""
        was_tried = and_(is_pending(), outbox.c.attempts > 0)
        with self._database.reading() as connection:
            at = self._database.now(connection)
            rows = connection.execute(
                select(
                    outbox.c.destination,
                    func.count().filter(is_pending()).label("messages"),
                    func.min(outbox.c.created).filter(is_pending()).label("oldest"),
                    func.count(outbox.c.set_aside_at).label("set_aside"),
                    func.count().filter(was_tried).label("failed"),
                    func.min(outbox.c.not_before).filter(was_tried).label("next_try"),
                    func.coalesce(
                        func.min(outbox.c.id).filter(was_tried),
                        func.max(outbox.c.id).filter(outbox.c.set_aside_at.is_not(None)),
                    ).label("error_id"),
                )
                .where(outbox.c.delivered_at.is_(None))
                .group_by(outbox.c.destination)
            ).all()
            holders = holders_of_messages(connection, at=at)
            error_ids = [row.error_id for row in rows if row.error_id is not None]
            errors = {
                row.destination: row.last_error
                for row in connection.execute(
                    select(outbox.c.destination, outbox.c.last_error).where(
                        outbox.c.id.in_(error_ids)
                    )
                )
            }
        return {
            row.destination: Waiting(
                messages=row.messages,
                oldest=timedelta() if row.oldest is None else max(at - row.oldest, timedelta()),
                set_aside=row.set_aside,
                last_error=errors.get(row.destination),
                failed=row.failed,
                next_try=row.next_try if row.next_try is not None and row.next_try > at else None,
                holders=holders.get(row.destination, ()),
            )
            for row in rows
        }

    def _change(
        self, messages: Sequence[OutboxMessage], values: Callable[[datetime], dict[str, Any]]
    ) -> None:
        """End the claim on messages and set these values, if the claim still holds."""
        if not messages:
            return
        with self._database.writing() as connection:
            alone_with(connection, self._database, messages[0].destination)
            at = self._database.now(connection)
            for message in messages:
                connection.execute(
                    update(outbox)
                    .where(
                        outbox.c.id == message.id,
                        outbox.c.claimed_by == message.claim,
                        outbox.c.claimed_until > at,
                        is_pending(),
                    )
                    .values(claimed_by=None, claimed_until=None, **values(at))
                )


def _is_one_of(column: Any, values: Collection[str]) -> Any:
    """A condition with many values, in parts, as databases limit the number of values."""
    asked = sorted(values)
    return or_(
        false(), *(column.in_(asked[start : start + 500]) for start in range(0, len(asked), 500))
    )


def _next_in_turn(destination: str, at: datetime) -> Any:
    """Select pending messages that can be sent now: no earlier one of their lane is held up."""
    before = outbox.alias("before")
    is_held_up = exists().where(
        before.c.destination == outbox.c.destination,
        before.c.lane == outbox.c.lane,
        before.c.id <= outbox.c.id,
        before.c.delivered_at.is_(None),
        before.c.set_aside_at.is_(None),
        or_(before.c.not_before > at, before.c.claimed_until > at),
    )
    return (
        select(outbox)
        .where(outbox.c.destination == destination, is_pending(), ~is_held_up)
        .order_by(outbox.c.id)
    )
