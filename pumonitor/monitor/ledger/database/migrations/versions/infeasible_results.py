"""Of each result whether it is impossible or assumed, in the table and in the view of results.

Results stored before are read as they were; class priors given by their configuration are assumed.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"

_RESULTS = """
CREATE {or_replace} VIEW pumonitor_results AS
SELECT
    windows.monitor, results.model_version, results.segment,
    windows.window_start, windows.window_end,
    latest.state, latest.revision, latest.as_of,
    results.metric, results.value, results.low, results.high,
    results.n_labeled, results.n_unlabeled, results.undefined_reason,
    results.infeasible, results.impossible, results.infeasible_reason,
    results.unclipped_value, results.unclipped_low, results.unclipped_high, results.assumed
FROM pumonitor_latest AS latest
JOIN windows ON windows.window_key = latest.window_key
JOIN monitors
  ON monitors.name = windows.monitor AND monitors.configuration = windows.configuration
JOIN results
  ON results.window_key = latest.window_key
 AND results.pane = latest.pane
 AND results.revision = latest.revision
WHERE monitors.is_current
"""
_ASSUMED = """
UPDATE results SET assumed = :yes
WHERE metric = 'class_prior' AND value IS NOT NULL AND window_key IN (
    SELECT window_key FROM windows WHERE monitor = :name AND configuration = :configuration
)
"""


def upgrade() -> None:
    """Add columns; the view ends with them."""
    for name in ("infeasible", "impossible", "assumed"):
        op.add_column(
            "results", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
        )
    op.add_column("results", sa.Column("infeasible_reason", sa.Text()))
    for name in ("unclipped_value", "unclipped_low", "unclipped_high"):
        op.add_column("results", sa.Column(name, sa.Double()))
    connection = op.get_bind()
    for row in connection.execute(sa.text("SELECT name, configuration, meaning FROM monitors")):
        if _is_given(row.meaning):
            connection.execute(
                sa.text(_ASSUMED),
                {"yes": True, "name": row.name, "configuration": row.configuration},
            )
    if connection.dialect.name == "sqlite":
        op.execute("DROP VIEW pumonitor_results")
        op.execute(_RESULTS.format(or_replace=""))
    else:
        # Replaced and not dropped: whoever was allowed to read it still is.
        op.execute(_RESULTS.format(or_replace="OR REPLACE"))


def _is_given(meaning: Any) -> bool:
    read = json.loads(meaning) if isinstance(meaning, str) else meaning
    return not isinstance(read.get("class_prior", "auto"), str)
