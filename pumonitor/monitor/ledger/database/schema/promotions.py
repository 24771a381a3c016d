"""Table of promotions: which version of a model was deployed by whom, and why."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# A row is written before the registry is touched, and never deleted.
promotions = sa.Table(
    "promotions",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    # Name in the registry, and the alias that is moved.
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("alias", sa.Text, nullable=False),
    sa.Column("action", sa.String(16), nullable=False),
    # NULL: the alias did not exist.
    sa.Column("from_version", sa.Text),
    sa.Column("to_version", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("begun_at", Moment, nullable=False),
    sa.Column("ended_at", Moment),
    sa.Column("actor", sa.Text, nullable=False),
    # The process that makes it, and until when nobody else may settle it; NULL once it has ended.
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("lease_until", Moment),
    # Of an undo: the id of the promotion that it takes back.
    sa.Column("evidence", sa.JSON, nullable=False),
    sa.Column("evidence_hash", sa.String(64), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.CheckConstraint("action IN ('promote', 'undo')", name="action"),
    sa.CheckConstraint("state IN ('begun', 'done', 'abandoned', 'refused')", name="state"),
)
sa.Index("ix_promotions_of_model", promotions.c.model, promotions.c.id)
# One at a time: also where somebody forgets the lock.
sa.Index("ix_promotions_begun", promotions.c.model, unique=True)
