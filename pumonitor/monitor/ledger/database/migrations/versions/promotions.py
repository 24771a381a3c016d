"""Which version of a model was deployed by whom, and why."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision: str | None = "0014"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_BEGUN = sa.text("state = 'begun'")


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "promotions",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("from_version", sa.Text()),
        sa.Column("to_version", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("begun_at", _MOMENT, nullable=False),
        sa.Column("ended_at", _MOMENT),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("lease_until", _MOMENT),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("evidence_hash", sa.String(64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_promotions"),
        sa.CheckConstraint("action IN ('promote', 'undo')", name="ck_promotions_action"),
        sa.CheckConstraint(
            "state IN ('begun', 'done', 'abandoned', 'refused')", name="ck_promotions_state"
        ),
    )
    op.create_index("ix_promotions_of_model", "promotions", ["model", "id"])
    op.create_index(
        "ix_promotions_begun",
        "promotions",
        ["model"],
        unique=True,
        sqlite_where=_BEGUN,
        postgresql_where=_BEGUN,
    )
