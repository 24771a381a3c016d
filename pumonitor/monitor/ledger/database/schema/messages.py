"""Tables of messages: the outbox, what was sent, keys of MLflow runs."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("destination", sa.Text, nullable=False),
    sa.Column("lane", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("payload", sa.JSON, nullable=False),
    sa.Column("created", Moment, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("refusals", sa.Integer, nullable=False),
    sa.Column("not_before", Moment),
    sa.Column("claimed_by", sa.Text),
    sa.Column("claimed_until", Moment),
    sa.Column("delivered_at", Moment),
    sa.Column("set_aside_at", Moment),
    sa.Column("last_error", sa.Text),
    sa.UniqueConstraint("destination", "key"),
)


sa.Index("ix_outbox_delivered", outbox.c.delivered_at)


sa.Index("ix_outbox_pending", outbox.c.destination, outbox.c.id)
sa.Index("ix_outbox_pending_in_lane", outbox.c.destination, outbox.c.lane, outbox.c.id)


# Key hashes of delivered and deleted messages, so that none is sent a second time.
sent_keys = sa.Table(
    "sent_keys",
    metadata,
    sa.Column("destination", sa.Text, primary_key=True),
    # 32 hexadecimal digits of the key's SHA-256.
    sa.Column("key_hash", sa.String(32), primary_key=True),
)


keys = sa.Table(
    "keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
