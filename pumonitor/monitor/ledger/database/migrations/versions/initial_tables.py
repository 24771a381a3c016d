"""The first tables and views."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

revision = "0001"
down_revision: str | None = None

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

_LATEST = """
CREATE VIEW pumonitor_latest AS
SELECT pane.window_key, pane.number AS pane, pane.state, pane.revision, pane.as_of
FROM panes AS pane
WHERE pane.revision IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM panes AS later
    WHERE later.window_key = pane.window_key
      AND later.number > pane.number
      AND later.revision IS NOT NULL
)
"""

_RESULTS = """
CREATE VIEW pumonitor_results AS
SELECT
    windows.monitor, results.model_version, results.segment,
    windows.window_start, windows.window_end,
    latest.state, latest.revision, latest.as_of,
    results.metric, results.value, results.low, results.high,
    results.n_labeled, results.n_unlabeled
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
    _monitors_and_windows()
    _panes()
    _outbox_audit_and_keys()
    op.execute(_LATEST)
    op.execute(_RESULTS)


def _monitors_and_windows() -> None:
    op.create_table(
        "monitors",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("meaning", sa.JSON(), nullable=False),
        sa.Column("registered_at", _MOMENT, nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", "configuration", name="pk_monitors"),
    )
    op.create_table(
        "windows",
        sa.Column("window_key", sa.String(64), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("window_end", _MOMENT, nullable=False),
        sa.Column("window_index", sa.Integer(), nullable=False),
        sa.Column("collected_panes", sa.Integer(), nullable=False),
        sa.Column("evaluated_panes", sa.Integer(), nullable=False),
        sa.Column("next_as_of", _MOMENT),
        sa.Column("lease_owner", sa.Text()),
        sa.Column("lease_until", _MOMENT),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text()),
        sa.Column("not_before", _MOMENT),
        sa.PrimaryKeyConstraint("window_key", name="pk_windows"),
        sa.ForeignKeyConstraint(
            ["monitor", "configuration"],
            ["monitors.name", "monitors.configuration"],
            name="fk_windows_monitor_configuration",
        ),
        sa.CheckConstraint("window_start < window_end", name=op.f("ck_windows_ordered")),
    )
    _index("ix_windows_to_collect", "windows", ["window_start"], where="next_as_of IS NOT NULL")
    _index(
        "ix_windows_to_evaluate",
        "windows",
        ["window_start"],
        where="evaluated_panes < collected_panes",
    )
    _index(
        "ix_windows_awaited",
        "windows",
        ["monitor", "configuration", "next_as_of"],
        where="next_as_of IS NOT NULL",
    )
    _index("ix_windows_in_time", "windows", ["monitor", "configuration", "window_start"])


def _panes() -> None:
    op.create_table(
        "panes",
        sa.Column("window_key", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("as_of", _MOMENT, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("revision", sa.Integer()),
        sa.Column("digest", sa.Text()),
        sa.Column("evaluated_digest", sa.Text()),
        sa.Column("counts", sa.JSON()),
        sa.Column("collected_at", _MOMENT),
        sa.Column("evaluated_at", _MOMENT),
        sa.Column("library_version", sa.Text()),
        sa.PrimaryKeyConstraint("window_key", "number", name="pk_panes"),
        sa.ForeignKeyConstraint(["window_key"], ["windows.window_key"], name="fk_panes_window_key"),
    )
    op.create_table(
        "series",
        *_part_of_a_pane("series"),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("table_bytes", sa.LargeBinary()),
        sa.Column("class_prior", sa.JSON()),
        sa.Column("delays", sa.JSON()),
        sa.PrimaryKeyConstraint("window_key", "pane", "model_version", "segment", name="pk_series"),
    )
    op.create_table(
        "evaluations",
        *_part_of_a_pane("evaluations"),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("evaluation", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint(
            "window_key", "pane", "revision", "model_version", "segment", name="pk_evaluations"
        ),
    )
    op.create_table(
        "results",
        *_part_of_a_pane("results"),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Double()) for name in ("value", "low", "high", "se")),
        sa.Column("n_labeled", sa.BigInteger()),
        sa.Column("n_unlabeled", sa.BigInteger()),
        sa.Column("undefined_reason", sa.Text()),
        sa.PrimaryKeyConstraint(
            "window_key",
            "pane",
            "revision",
            "model_version",
            "segment",
            "metric",
            name="pk_results",
        ),
    )


def _outbox_audit_and_keys() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("refusals", sa.Integer(), nullable=False),
        sa.Column("not_before", _MOMENT),
        sa.Column("claimed_by", sa.Text()),
        sa.Column("claimed_until", _MOMENT),
        sa.Column("delivered_at", _MOMENT),
        sa.Column("set_aside_at", _MOMENT),
        sa.Column("last_error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("destination", "key", name="uq_outbox_destination_key"),
    )
    pending = "delivered_at IS NULL AND set_aside_at IS NULL"
    _index("ix_outbox_pending", "outbox", ["destination", "id"], where=pending)
    _index("ix_outbox_pending_in_lane", "outbox", ["destination", "lane", "id"], where=pending)
    op.create_table(
        "audit",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_table(
        "keys",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_keys"),
    )


def _part_of_a_pane(table: str) -> tuple[SchemaItem, ...]:
    return (
        sa.Column("window_key", sa.Text(), nullable=False),
        sa.Column("pane", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["window_key", "pane"],
            ["panes.window_key", "panes.number"],
            name=f"fk_{table}_window_key_pane",
        ),
    )


def _index(name: str, table: str, columns: list[str], *, where: str | None = None) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
