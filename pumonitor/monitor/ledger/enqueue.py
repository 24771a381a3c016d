"""Put messages into the outbox, each key once, in the transaction that stores their cause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, select, tuple_

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.plain_json import plain_json
from pumonitor.monitor.ledger.database.schema import outbox, sent_keys
from pumonitor.monitor.ledger.records.results import NewMessage


def enqueue(
    connection: Connection, database: Database, messages: Sequence[NewMessage], *, at: datetime
) -> None:
    """Add messages to the outbox, in the transaction that stores what they are about.

    A message whose key is already in the outbox, or was sent to the destination, is left out.
    """
    for destination in sorted({message.destination for message in messages}):
        # With the lock, ids are in the order of commits, so no later message is sent first.
        alone_with(connection, database, destination)
    sent = _sent_before(connection, messages)
    for message in messages:
        if (message.destination, message.key) in sent:
            continue
        what = f"payload of {message.key!r} for {message.destination}"
        connection.execute(
            database.insert_if_absent(outbox).values(
                destination=message.destination,
                lane=message.lane,
                key=message.key,
                payload=plain_json(message.payload, what),
                created=at,
                attempts=0,
                refusals=0,
            )
        )


def _sent_before(connection: Connection, messages: Sequence[NewMessage]) -> set[tuple[str, str]]:
    """Destination and key of the messages that were delivered and then deleted."""
    by_hash = {(one.destination, key_hash(one.key)): one.key for one in messages}
    asked = sorted(by_hash)
    found: set[tuple[str, str]] = set()
    for start in range(0, len(asked), 500):
        query = select(sent_keys.c.destination, sent_keys.c.key_hash).where(
            tuple_(sent_keys.c.destination, sent_keys.c.key_hash).in_(asked[start : start + 500])
        )
        for destination, hashed in connection.execute(query):
            found.add((destination, by_hash[destination, hashed]))
    return found


def key_hash(key: str) -> str:
    """Hash that is stored for the key of a delivered and deleted message."""
    return sha256(key.encode()).hexdigest()[:32]


def alone_with(connection: Connection, database: Database, destination: str) -> None:
    """Lock the destination's outbox until the transaction ends; keeps the order within lanes."""
    database.alone(connection, f"outbox {destination}")
