"""The auxiliary score of a monitor's features, and what is seen of each window by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision: str | None = "0006"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "auxiliary_scores",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("as_of", _MOMENT, nullable=False),
        sa.Column("first_start", _MOMENT, nullable=False),
        sa.Column("last_start", _MOMENT, nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("score", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("monitor", "configuration", name="pk_auxiliary_scores"),
    )
    op.create_table(
        "auxiliary_series",
        sa.Column("window_key", sa.Text(), nullable=False),
        sa.Column("pane", sa.Integer(), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64)),
        sa.Column("table_bytes", sa.LargeBinary()),
        sa.Column("reason", sa.Text()),
        sa.PrimaryKeyConstraint(
            "window_key", "pane", "model_version", "segment", name="pk_auxiliary_series"
        ),
        sa.ForeignKeyConstraint(
            ["window_key", "pane"],
            ["panes.window_key", "panes.number"],
            name="fk_auxiliary_series_window_key_pane",
        ),
    )
