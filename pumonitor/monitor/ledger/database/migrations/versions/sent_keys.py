"""Keys of messages that are no longer kept; why a result is undefined, in the view of results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"

_RESULTS = """
CREATE {or_replace} VIEW pumonitor_results AS
SELECT
    windows.monitor, results.model_version, results.segment,
    windows.window_start, windows.window_end,
    latest.state, latest.revision, latest.as_of,
    results.metric, results.value, results.low, results.high,
    results.n_labeled, results.n_unlabeled, results.undefined_reason
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


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "sent_keys",
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("key_hash", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("destination", "key_hash", name="pk_sent_keys"),
    )
    delivered = sa.text("delivered_at IS NOT NULL")
    op.create_index(
        "ix_outbox_delivered",
        "outbox",
        ["delivered_at"],
        sqlite_where=delivered,
        postgresql_where=delivered,
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP VIEW pumonitor_results")
        op.execute(_RESULTS.format(or_replace=""))
    else:
        # Replaced and not dropped: whoever was allowed to read it still is.
        op.execute(_RESULTS.format(or_replace="OR REPLACE"))
