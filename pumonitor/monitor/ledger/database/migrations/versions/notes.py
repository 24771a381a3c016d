"""What people noted about monitors, windows and incidents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision: str | None = "0008"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "notes",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("ends", _MOMENT),
        sa.Column("rule_key", sa.String(64)),
        sa.Column("model_version", sa.Text()),
        sa.Column("segment", sa.Text()),
        sa.Column("incident", sa.Integer()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("withdrawn_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_notes"),
        sa.CheckConstraint("ends IS NULL OR at <= ends", name="ck_notes_ordered"),
    )
    op.create_index("ix_notes_of_monitor", "notes", ["monitor", "at"])
