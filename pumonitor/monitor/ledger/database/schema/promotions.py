"""Table of promotions: which version of a model was deployed by whom, and why."""

from __future__ import annotations

from sqlalchemy import JSON, CheckConstraint, Column, Identity, Index, String, Table, Text

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# A row is written before the registry is touched, and never deleted.
promotions = Table(
    "promotions",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("monitor", Text, nullable=False),
    # Name in the registry, and the alias that is moved.
    Column("model", Text, nullable=False),
    Column("alias", Text, nullable=False),
    Column("action", String(16), nullable=False),
    # NULL: the alias did not exist.
    Column("from_version", Text),
    Column("to_version", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("begun_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("actor", Text, nullable=False),
    # The process that makes it, and until when nobody else may settle it; NULL once it has ended.
    Column("owner", Text, nullable=False),
    Column("lease_until", Moment),
    # Of an undo: the id of the promotion that it takes back.
    Column("evidence", JSON, nullable=False),
    Column("evidence_hash", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    CheckConstraint("action IN ('promote', 'undo')", name="action"),
    CheckConstraint("state IN ('begun', 'done', 'abandoned', 'refused')", name="state"),
)
Index("ix_promotions_of_model", promotions.c.model, promotions.c.id)
# One at a time: also where somebody forgets the lock.
Index("ix_promotions_begun", promotions.c.model, unique=True)
