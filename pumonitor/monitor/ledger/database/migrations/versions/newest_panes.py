"""The newest pane of each series of a window, its first numbers, when a monitor was last evaluated.

All are filled from what is stored.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision: str | None = "0007"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_NEWEST_PANES = """
INSERT INTO newest_panes (
    monitor, configuration, segment, window_start, model_version, window_end,
    window_key, pane, revision, state, as_of
)
SELECT
    windows.monitor, windows.configuration, evaluations.segment, windows.window_start,
    evaluations.model_version, windows.window_end,
    latest.window_key, latest.pane, latest.revision, latest.state, latest.as_of
FROM windows
JOIN pumonitor_latest AS latest ON latest.window_key = windows.window_key
JOIN evaluations
  ON evaluations.window_key = latest.window_key
 AND evaluations.pane = latest.pane
 AND evaluations.revision = latest.revision
ORDER BY 1, 2, 3, 4, 5
"""
_HEADLINES = """
INSERT INTO headline_results (
    monitor, configuration, segment, window_start, model_version, metric, window_end, state,
    value, low, high, infeasible, impossible, assumed
)
SELECT
    newest.monitor, newest.configuration, newest.segment, newest.window_start,
    newest.model_version, results.metric, newest.window_end, newest.state,
    results.value, results.low, results.high, results.infeasible, results.impossible,
    results.assumed
FROM newest_panes AS newest
JOIN results
  ON results.window_key = newest.window_key
 AND results.pane = newest.pane
 AND results.revision = newest.revision
 AND results.model_version = newest.model_version
 AND results.segment = newest.segment
WHERE results.metric IN (
    'predictions', 'labeled_positives', 'label_maturity',
    'class_prior', 'aul', 'auc', 'precision', 'recall', 'f1'
)
"""
_LAST_EVALUATED = """
UPDATE monitors SET last_evaluated_at = (
    SELECT max(panes.evaluated_at)
    FROM panes JOIN windows ON windows.window_key = panes.window_key
    WHERE windows.monitor = monitors.name AND windows.configuration = monitors.configuration
)
"""


def upgrade() -> None:
    """Make tables and column, and fill them."""
    _newest_panes()
    _headline_results()
    op.add_column("monitors", sa.Column("last_evaluated_at", _MOMENT))
    op.execute(_NEWEST_PANES)
    op.execute(_HEADLINES)
    op.execute(_LAST_EVALUATED)


def _newest_panes() -> None:
    op.create_table(
        "newest_panes",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("window_end", _MOMENT, nullable=False),
        sa.Column("window_key", sa.Text(), nullable=False),
        sa.Column("pane", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("as_of", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint(
            "monitor",
            "configuration",
            "segment",
            "window_start",
            "model_version",
            name="pk_newest_panes",
        ),
        sa.ForeignKeyConstraint(
            ["window_key", "pane"],
            ["panes.window_key", "panes.number"],
            name="fk_newest_panes_window_key_pane",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_newest_panes_of_window", "newest_panes", ["window_key"])


def _headline_results() -> None:
    of_pane = ["monitor", "configuration", "segment", "window_start", "model_version"]
    op.create_table(
        "headline_results",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("window_end", _MOMENT, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("value", sa.Double()),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("infeasible", sa.Boolean(), nullable=False),
        sa.Column("impossible", sa.Boolean(), nullable=False),
        sa.Column("assumed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint(*of_pane, "metric", name="pk_headline_results"),
        sa.ForeignKeyConstraint(
            of_pane,
            [f"newest_panes.{name}" for name in of_pane],
            name="fk_headline_results_newest_panes",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
