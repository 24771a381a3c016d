"""What the last round found of each monitor, so that the next need not look again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "standings",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("files", sa.String(64)),
        sa.Column("first_prediction", _MOMENT),
        sa.Column("last_prediction", _MOMENT),
        sa.Column("planned_until", _MOMENT),
        sa.Column("rules", sa.String(64)),
        sa.Column("quiet_until", _MOMENT),
        sa.PrimaryKeyConstraint("monitor", name="pk_standings"),
    )
