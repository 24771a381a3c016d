"""Table of what people noted about monitors."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# A note is never changed or deleted; one that was withdrawn is no longer shown.
notes = sa.Table(
    "notes",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    # The time it is about: one moment, or until `ends`.
    sa.Column("at", Moment, nullable=False),
    sa.Column("ends", Moment),
    # The alert it is about, and its incident; NULL: none.
    sa.Column("rule_key", sa.String(64)),
    sa.Column("model_version", sa.Text),
    sa.Column("segment", sa.Text),
    sa.Column("incident", sa.Integer),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("withdrawn_at", Moment),
    sa.CheckConstraint("ends IS NULL OR at <= ends", name="ordered"),
)
sa.Index("ix_notes_of_monitor", notes.c.monitor, notes.c.at)
