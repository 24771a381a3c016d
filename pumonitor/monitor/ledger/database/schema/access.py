"""Tables of tokens and sessions of the pages, and of the count of writes."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

# Who may ask for pages and the API. Of a token itself only a hash is kept.
tokens = sa.Table(
    "tokens",
    metadata,
    # The part of the token by which it is found; it is no secret.
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    # read, acknowledge, admin
    sa.Column("token_right", sa.String(16), nullable=False),
    # Names; NULL: all.
    sa.Column("monitors", sa.JSON(none_as_null=True)),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Column("last_used_at", Moment),
    sa.Column("revoked_at", Moment),
)


# Browsers that have signed in with a token. Of what their cookie says only a hash is kept.
page_sessions = sa.Table(
    "page_sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("token", sa.ForeignKey(tokens.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
)


# One row: how many transactions have changed anything.
write_count = sa.Table(
    "write_count",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
)
