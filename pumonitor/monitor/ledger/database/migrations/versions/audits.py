"""Audits of monitors: how they were drawn, their cases and verdicts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision: str | None = "0010"

_MOMENT = sa.TIMESTAMP(timezone=True).with_variant(sa.String(32), "sqlite")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make them."""
    _audits()
    _cases()
    _verdicts()
    _readings()


def _audits() -> None:
    op.create_table(
        "review_audits",
        sa.Column("audit", sa.String(64), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("configuration", sa.String(64), nullable=False),
        sa.Column("model_version", sa.Text(), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.Column("window_end", _MOMENT, nullable=False),
        sa.Column("as_of", _MOMENT, nullable=False),
        sa.Column("drawn_at", _MOMENT, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("fair", sa.String(16), nullable=False),
        sa.Column("seed", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.JSON(), nullable=False)
            for name in ("edges", "rows", "labeled", "planned", "windows")
        ),
        sa.PrimaryKeyConstraint("audit", name="pk_review_audits"),
    )
    op.create_index(
        "ix_review_audits_of_monitor", "review_audits", ["monitor", "configuration", "window_start"]
    )


def _cases() -> None:
    op.create_table(
        "review_cases",
        sa.Column("audit", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("keyed", sa.String(64), nullable=False),
        sa.Column("id", sa.Text()),
        sa.Column("bin", sa.Integer(), nullable=False),
        sa.Column("inclusion", sa.Double()),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("window_start", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("audit", "number", name="pk_review_cases"),
        sa.ForeignKeyConstraint(["audit"], ["review_audits.audit"], name="fk_review_cases_audit"),
    )
    op.create_index("ix_review_cases_keyed", "review_cases", ["keyed"])


def _verdicts() -> None:
    op.create_table(
        "review_verdicts",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("audit", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.SmallInteger()),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("read_at", _MOMENT, nullable=False),
        sa.Column("supersedes", _NUMBER),
        sa.PrimaryKeyConstraint("id", name="pk_review_verdicts"),
        sa.ForeignKeyConstraint(
            ["audit", "number"],
            ["review_cases.audit", "review_cases.number"],
            name="fk_review_verdicts_audit_number",
        ),
        sa.ForeignKeyConstraint(
            ["supersedes"], ["review_verdicts.id"], name="fk_review_verdicts_supersedes"
        ),
    )
    op.create_index("ix_review_verdicts_of_case", "review_verdicts", ["audit", "number"])


def _readings() -> None:
    op.create_table(
        "review_readings",
        sa.Column("id", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("monitor", sa.Text(), nullable=False),
        sa.Column("audit", sa.String(64)),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("read_at", _MOMENT, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("refused", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_review_readings"),
        sa.ForeignKeyConstraint(
            ["audit"], ["review_audits.audit"], name="fk_review_readings_audit"
        ),
    )
    op.create_index("ix_review_readings_of_monitor", "review_readings", ["monitor", "id"])
