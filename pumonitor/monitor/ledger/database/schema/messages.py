"""Tables of messages: the outbox, what was sent, keys of MLflow runs."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Column,
    Identity,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

outbox = Table(
    "outbox",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("destination", Text, nullable=False),
    Column("lane", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("payload", JSON, nullable=False),
    Column("created", Moment, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("refusals", Integer, nullable=False),
    Column("not_before", Moment),
    Column("claimed_by", Text),
    Column("claimed_until", Moment),
    Column("delivered_at", Moment),
    Column("set_aside_at", Moment),
    Column("last_error", Text),
    UniqueConstraint("destination", "key"),
)


Index("ix_outbox_delivered", outbox.c.delivered_at)


Index("ix_outbox_pending", outbox.c.destination, outbox.c.id)
Index(
    "ix_outbox_pending_in_lane",
    outbox.c.destination,
    outbox.c.lane,
    outbox.c.id,
)


# Key hashes of delivered and deleted messages, so that none is sent a second time.
sent_keys = Table(
    "sent_keys",
    metadata,
    Column("destination", Text, primary_key=True),
    # 32 hexadecimal digits of the key's SHA-256.
    Column("key_hash", String(32), primary_key=True),
)


keys = Table(
    "keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
