"""Table of what people noted about monitors."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Identity, Index, Integer, String, Table, Text

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# A note is never changed or deleted; one that was withdrawn is no longer shown.
notes = Table(
    "notes",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("monitor", Text, nullable=False),
    # The time it is about: one moment, or until `ends`.
    Column("at", Moment, nullable=False),
    Column("ends", Moment),
    # The alert it is about, and its incident; NULL: none.
    Column("rule_key", String(64)),
    Column("model_version", Text),
    Column("segment", Text),
    Column("incident", Integer),
    Column("text", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("withdrawn_at", Moment),
    CheckConstraint("ends IS NULL OR at <= ends", name="ordered"),
)
Index("ix_notes_of_monitor", notes.c.monitor, notes.c.at)
