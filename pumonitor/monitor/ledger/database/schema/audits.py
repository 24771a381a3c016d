"""Tables of audits: how they were drawn, their cases, verdicts, and what was read when."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    Text,
)

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# An audit as it was drawn. Only `planned` changes, when it is extended by more cases.
review_audits = Table(
    "review_audits",
    metadata,
    Column("audit", String(64), primary_key=True),
    Column("monitor", Text, nullable=False),
    Column("configuration", String(64), nullable=False),
    Column("model_version", Text, nullable=False),
    # First start and last end of its windows.
    Column("window_start", Moment, nullable=False),
    Column("window_end", Moment, nullable=False),
    # The last of the moments as of which its windows' labels were read.
    Column("as_of", Moment, nullable=False),
    Column("drawn_at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("threshold", Double, nullable=False),
    # check, assume
    Column("fair", String(16), nullable=False),
    Column("seed", Text, nullable=False),
    # Inner edges of the score bins; by bin N, L and m.
    Column("edges", JSON, nullable=False),
    Column("rows", JSON, nullable=False),
    Column("labeled", JSON, nullable=False),
    Column("planned", JSON, nullable=False),
    # One object a window: start, end, as_of, rows and labeled by bin.
    Column("windows", JSON, nullable=False),
)
Index(
    "ix_review_audits_of_monitor",
    review_audits.c.monitor,
    review_audits.c.configuration,
    review_audits.c.window_start,
)


review_cases = Table(
    "review_cases",
    metadata,
    Column("audit", ForeignKey(review_audits.c.audit), primary_key=True),
    # Place in the file for the reviewers, from 1.
    Column("number", Integer, primary_key=True),
    # Hash of the id and the audit's seed, by which verdicts find their case.
    Column("keyed", String(64), nullable=False),
    # NULL once it is deleted.
    Column("id", Text),
    Column("bin", Integer, nullable=False),
    # Probability with which it was drawn; NULL for a seed.
    Column("inclusion", Double),
    # case; seed: a known positive; again: a case given a second time
    Column("kind", String(8), nullable=False),
    Column("window_start", Moment, nullable=False),
    # Those it is of, each as column=value; NULL if it was drawn before they were kept.
    Column("segments", JSON(none_as_null=True)),
)
Index("ix_review_cases_keyed", review_cases.c.keyed)


# Never changed: a later verdict supersedes an earlier one of the same reviewer.
review_verdicts = Table(
    "review_verdicts",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("audit", String(64), nullable=False),
    Column("number", Integer, nullable=False),
    # 1, 0; NULL: undecided
    Column("verdict", SmallInteger),
    # "" if nobody is named.
    Column("reviewer", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("read_at", Moment, nullable=False),
    Column("supersedes", Number),
    ForeignKeyConstraint(["audit", "number"], ["review_cases.audit", "review_cases.number"]),
    ForeignKeyConstraint(["supersedes"], ["review_verdicts.id"]),
)
Index("ix_review_verdicts_of_case", review_verdicts.c.audit, review_verdicts.c.number)


# Every file or table of verdicts that was read and held something new.
review_readings = Table(
    "review_readings",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("monitor", Text, nullable=False),
    # NULL for what belongs to no audit of the monitor.
    Column("audit", ForeignKey(review_audits.c.audit)),
    Column("source", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("read_at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("added", Integer, nullable=False),
    # Reason to number of verdicts that could not be used.
    Column("refused", JSON, nullable=False),
)
Index("ix_review_readings_of_monitor", review_readings.c.monitor, review_readings.c.id)
