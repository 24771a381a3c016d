"""Tables of audits: how they were drawn, their cases, verdicts, and what was read when."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# An audit as it was drawn. Only `planned` changes, when it is extended by more cases.
review_audits = sa.Table(
    "review_audits",
    metadata,
    sa.Column("audit", sa.String(64), primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("configuration", sa.String(64), nullable=False),
    sa.Column("model_version", sa.Text, nullable=False),
    # First start and last end of its windows.
    sa.Column("window_start", Moment, nullable=False),
    sa.Column("window_end", Moment, nullable=False),
    # The last of the moments as of which its windows' labels were read.
    sa.Column("as_of", Moment, nullable=False),
    sa.Column("drawn_at", Moment, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("threshold", sa.Double, nullable=False),
    # check, assume
    sa.Column("fair", sa.String(16), nullable=False),
    sa.Column("seed", sa.Text, nullable=False),
    # Inner edges of the score bins; by bin N, L and m.
    sa.Column("edges", sa.JSON, nullable=False),
    sa.Column("rows", sa.JSON, nullable=False),
    sa.Column("labeled", sa.JSON, nullable=False),
    sa.Column("planned", sa.JSON, nullable=False),
    # One object a window: start, end, as_of, rows and labeled by bin.
    sa.Column("windows", sa.JSON, nullable=False),
)
sa.Index(
    "ix_review_audits_of_monitor",
    review_audits.c.monitor,
    review_audits.c.configuration,
    review_audits.c.window_start,
)


review_cases = sa.Table(
    "review_cases",
    metadata,
    sa.Column("audit", sa.ForeignKey(review_audits.c.audit), primary_key=True),
    # Place in the file for the reviewers, from 1.
    sa.Column("number", sa.Integer, primary_key=True),
    # Hash of the id and the audit's seed, by which verdicts find their case.
    sa.Column("keyed", sa.String(64), nullable=False),
    # NULL once it is deleted.
    sa.Column("id", sa.Text),
    sa.Column("bin", sa.Integer, nullable=False),
    # Probability with which it was drawn; NULL for a seed.
    sa.Column("inclusion", sa.Double),
    # case; seed: a known positive; again: a case given a second time
    sa.Column("kind", sa.String(8), nullable=False),
    sa.Column("window_start", Moment, nullable=False),
    # Those it is of, each as column=value; NULL if it was drawn before they were kept.
    sa.Column("segments", sa.JSON(none_as_null=True)),
)
sa.Index("ix_review_cases_keyed", review_cases.c.keyed)


# Never changed: a later verdict supersedes an earlier one of the same reviewer.
review_verdicts = sa.Table(
    "review_verdicts",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("audit", sa.String(64), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    # 1, 0; NULL: undecided
    sa.Column("verdict", sa.SmallInteger),
    # "" if nobody is named.
    sa.Column("reviewer", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("read_at", Moment, nullable=False),
    sa.Column("supersedes", Number),
    sa.ForeignKeyConstraint(["audit", "number"], ["review_cases.audit", "review_cases.number"]),
    sa.ForeignKeyConstraint(["supersedes"], ["review_verdicts.id"]),
)
sa.Index("ix_review_verdicts_of_case", review_verdicts.c.audit, review_verdicts.c.number)


# Every file or table of verdicts that was read and held something new.
review_readings = sa.Table(
    "review_readings",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    # NULL for what belongs to no audit of the monitor.
    sa.Column("audit", sa.ForeignKey(review_audits.c.audit)),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("read_at", Moment, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("added", sa.Integer, nullable=False),
    # Reason to number of verdicts that could not be used.
    sa.Column("refused", sa.JSON, nullable=False),
)
sa.Index("ix_review_readings_of_monitor", review_readings.c.monitor, review_readings.c.id)
