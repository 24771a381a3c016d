"""Alerts: their progress, states, transitions and silences."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_index("ix_panes_in_time", "panes", ["as_of"])
    not_evaluated = sa.text("status <> 'evaluated'")
    op.create_index(
        "ix_panes_not_evaluated",
        "panes",
        ["as_of"],
        sqlite_where=not_evaluated,
        postgresql_where=not_evaluated,
    )
    _progress_and_states()
    _transitions()
    op.create_table(
        "silences",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        *(
            sa.Column(name, sa.Text())
            for name in ("monitor", "rule", "metric", "model_version", "segment")
        ),
        sa.Column("starts", _MOMENT, nullable=False),
        sa.Column("ends", _MOMENT, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_silences"),
        sa.CheckConstraint("starts <= ends", name=op.f("ck_silences_ordered")),
    )


def _progress_and_states() -> None:
    op.create_table(
        "alert_progress",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("rule_key", sa.String(64), nullable=False),
        sa.Column("as_of", _MOMENT),
        sa.Column("window_start", _MOMENT),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text()),
        sa.PrimaryKeyConstraint("monitor", "rule_key", name="pk_alert_progress"),
    )
    op.create_table(
        "alert_states",
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("rule_key", sa.String(64), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("evidence", sa.String(16)),
        *(
            sa.Column(name, sa.Double())
            for name in ("value", "low", "high", "limit_value", "reference")
        ),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("window_start", _MOMENT),
        sa.Column("window_end", _MOMENT),
        sa.Column("as_of", _MOMENT),
        sa.Column("is_firing", sa.Boolean(), nullable=False),
        sa.Column("incident", sa.Integer(), nullable=False),
        sa.Column("firing_since", _MOMENT),
        sa.Column("emitted_as_of", _MOMENT),
        sa.Column("reminders", sa.Integer(), nullable=False),
        sa.Column("told_incident", sa.Integer(), nullable=False),
        sa.Column("told_firing", sa.Boolean(), nullable=False),
        sa.Column("acknowledged_incident", sa.Integer(), nullable=False),
        sa.Column("closed_at", _MOMENT),
        sa.PrimaryKeyConstraint(
            "monitor", "rule_key", "model_version", "segment", name="pk_alert_states"
        ),
    )


def _transitions() -> None:
    op.create_table(
        "alert_transitions",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("rule_key", sa.String(64), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("segment", sa.Text(), nullable=False),
        sa.Column("incident", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("reminder", sa.Integer(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("window_end", _MOMENT, nullable=False),
        sa.Column("as_of", _MOMENT, nullable=False),
        sa.Column("firing_since", _MOMENT),
        *(
            sa.Column(name, sa.Double())
            for name in ("value", "low", "high", "limit_value", "reference")
        ),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("cause", sa.JSON(), nullable=False),
        sa.Column("recorded_at", _MOMENT, nullable=False),
        sa.Column("told_at", _MOMENT),
        sa.Column("withheld", sa.String(16)),
        sa.PrimaryKeyConstraint("id", name="pk_alert_transitions"),
        sa.UniqueConstraint(
            "monitor",
            "rule_key",
            "model_version",
            "segment",
            "incident",
            "kind",
            "reminder",
            name="uq_alert_transitions_once",
        ),
    )
    op.create_index("ix_alert_transitions_in_time", "alert_transitions", ["monitor", "as_of"])
