"""What was seen of challengers in each window."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision: str | None = "0013"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "challenger_windows",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("challenger", sa.Text(), nullable=False),
        sa.Column("scored_by", sa.Text(), nullable=False),
        sa.Column("gate", sa.String(64), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("window_end", _MOMENT, nullable=False),
        sa.Column("as_of", _MOMENT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", _MOMENT),
        sa.Column("error", sa.Text()),
        sa.Column("labels", sa.Integer()),
        sa.Column("found", sa.LargeBinary()),
        sa.PrimaryKeyConstraint(
            "monitor",
            "configuration",
            "challenger",
            "scored_by",
            "gate",
            "window_start",
            name="pk_challenger_windows",
        ),
    )
