"""Which incident an alert has joined, and when at the earliest its cause began."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision: str | None = "0018"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    """Add the columns; what fired before is an incident by itself."""
    for table in ("alert_states", "alert_transitions"):
        joined = sa.Column("joined", sa.Text(), nullable=False, server_default="")
        op.add_column(table, joined)
    op.add_column("alert_transitions", sa.Column("onset", _MOMENT))
