"""Tables of tokens and sessions of the pages, and of the count of writes."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Integer, String, Table, Text

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

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
