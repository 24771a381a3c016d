"""Tables of what people do: tokens, sessions of pages, the count of writes, notes, promotions."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# Who may ask for pages and the API. Of a token itself only a hash is kept.
tokens = Table(
    "tokens",
    metadata,
    # The part of the token by which it is found; it is no secret.
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    # read, acknowledge, admin
    Column("token_right", String(16), nullable=False),
    # Names; NULL: all.
    Column("monitors", JSON(none_as_null=True)),
    Column("created_at", Moment, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_at", Moment),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
)


# Browsers that have signed in with a token. Of what their cookie says only a hash is kept.
page_sessions = Table(
    "page_sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("token", ForeignKey(tokens.c.id, ondelete="CASCADE"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)


# One row: how many transactions have changed anything.
write_count = Table(
    "write_count",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("number", BigInteger, nullable=False),
)


# A note is never changed or deleted; one that was withdrawn is no longer shown.
notes = Table(
    "notes",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("monitor", Text, nullable=False),
    # The time it is about: one moment, or until `ends`.
    Column("at", Moment, nullable=False),
    Column("ends", Moment),
    # The alert it is about, and its incident; NULL: none.
    Column("rule_key", String(64)),
    Column("model_version", Text),
    Column("segment", Text),
    Column("incident", Integer),
    Column("text", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("withdrawn_at", Moment),
    CheckConstraint("ends IS NULL OR at <= ends", name="ordered"),
)
Index("ix_notes_of_monitor", notes.c.monitor, notes.c.at)


# A row is written before the registry is touched, and never deleted.
promotions = Table(
    "promotions",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("monitor", Text, nullable=False),
    # Name in the registry, and the alias that is moved.
    Column("model", Text, nullable=False),
    Column("alias", Text, nullable=False),
    Column("action", String(16), nullable=False),
    # NULL: the alias did not exist.
    Column("from_version", Text),
    Column("to_version", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("begun_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("actor", Text, nullable=False),
    # The process that makes it, and until when nobody else may settle it; NULL once it has ended.
    Column("owner", Text, nullable=False),
    Column("lease_until", Moment),
    # Of an undo: the id of the promotion that it takes back.
    Column("evidence", JSON, nullable=False),
    Column("evidence_hash", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    CheckConstraint("action IN ('promote', 'undo')", name="action"),
    CheckConstraint("state IN ('begun', 'done', 'abandoned', 'refused')", name="state"),
)
Index("ix_promotions_of_model", promotions.c.model, promotions.c.id)
# One at a time: also where somebody forgets the lock.
Index("ix_promotions_begun", promotions.c.model, unique=True)
