"""Tokens and sessions of the pages, and a count of transactions that changed anything."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision: str | None = "0009"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "write_count",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_write_count"),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("token_right", sa.String(16), nullable=False),
        sa.Column("monitors", sa.JSON(none_as_null=True)),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires_at", _MOMENT),
        sa.Column("last_used_at", _MOMENT),
        sa.Column("revoked_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
    )
    op.create_table(
        "page_sessions",
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("token", sa.String(16), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_page_sessions"),
        sa.ForeignKeyConstraint(
            ["token"], ["tokens.id"], name="fk_page_sessions_token", ondelete="CASCADE"
        ),
    )
