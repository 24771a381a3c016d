"""Of each window the later look that was not taken, and the one that somebody took all the same.

Of each monitor what was left out of its tables.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision: str | None = "0016"


def upgrade() -> None:
    """Add the columns and the index."""
    op.add_column("windows", sa.Column("refused_look", sa.JSON(none_as_null=True)))
    op.add_column("windows", sa.Column("accepted_look", sa.JSON(none_as_null=True)))
    op.add_column("standings", sa.Column("set_aside", sa.JSON(none_as_null=True)))
    where = sa.text("refused_look IS NOT NULL")
    op.create_index(
        "ix_windows_refused",
        "windows",
        ["window_start"],
        sqlite_where=where,
        postgresql_where=where,
    )
