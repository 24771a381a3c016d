"""Segments of the cases of audits; of those drawn before they are not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision: str | None = "0011"


def upgrade() -> None:
    """Add the column."""
    op.add_column("review_cases", sa.Column("segments", sa.JSON()))
