"""Of each pane since when its results are superseded, and when they were deleted.

Results that are there are superseded as of the evaluation of those that replaced them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision: str | None = "0012"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_HAS_RESULTS = "status = 'evaluated' AND revision IS NOT NULL"
_LATER = f"""
SELECT max(later.evaluated_at) FROM panes AS later
WHERE later.window_key = panes.window_key AND later.number > panes.number
  AND later.state <> 'provisional' AND later.{_HAS_RESULTS.replace("AND ", "AND later.")}
"""  # noqa: S608 (text of this file)
_REPLACED_BY_LATER = f"""
UPDATE panes SET superseded_at = ({_LATER}) WHERE state = 'provisional' AND {_HAS_RESULTS}
"""  # noqa: S608
# A first revision may have a larger number than its pane too; then nothing is found to delete.
_REVISED = f"""
UPDATE panes SET superseded_at = evaluated_at
WHERE superseded_at IS NULL AND {_HAS_RESULTS} AND revision > number
"""  # noqa: S608


def upgrade() -> None:
    """Add the columns and the index, and say what is superseded."""
    op.add_column("panes", sa.Column("superseded_at", _MOMENT))
    op.add_column("panes", sa.Column("forgotten_at", _MOMENT))
    op.execute(_REPLACED_BY_LATER)
    op.execute(_REVISED)
    where = sa.text("superseded_at IS NOT NULL")
    op.create_index(
        "ix_panes_superseded",
        "panes",
        ["superseded_at"],
        sqlite_where=where,
        postgresql_where=where,
    )
