"""When a round of work last looked at each monitor, and what kept it from reading its tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision: str | None = "0017"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Add the columns; of monitors that nobody has looked at since they are not known."""
    op.add_column("standings", sa.Column("looked_at", _MOMENT))
    op.add_column("standings", sa.Column("problem", sa.Text()))
    op.add_column("standings", sa.Column("problem_since", _MOMENT))
