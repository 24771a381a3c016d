"""Class priors as they were followed up to a window, so that the next one need not begin again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision: str | None = "0005"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "prior_states",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("known", sa.Text(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint(
            "monitor",
            "configuration",
            "segment",
            "model_version",
            "window_start",
            name="pk_prior_states",
        ),
    )
