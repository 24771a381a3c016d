"""What rounds found of challengers and the deployed version, and differences at each window."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision: str | None = "0015"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Make the tables, and add the column; of windows that were scored before it is not known."""
    op.create_table(
        "noted_challengers",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("challenger", sa.Text(), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("scored_by", sa.Text()),
        sa.Column("trained_until", _MOMENT),
        sa.Column("is_deployed", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("noted_at", _MOMENT, nullable=False),
        sa.Column("verdict", sa.String(32)),
        sa.Column("gate", sa.String(64)),
        sa.Column("evidence", sa.String(64)),
        sa.Column("judged_at", _MOMENT),
        sa.PrimaryKeyConstraint("monitor", "challenger", name="pk_noted_challengers"),
    )
    op.create_table(
        "deployed_versions",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("seen_at", _MOMENT, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("is_first", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("monitor", "seen_at", name="pk_deployed_versions"),
    )
    op.add_column("challenger_windows", sa.Column("differences", sa.JSON()))
