"""Tables of challengers: what was found of them and of the deployed version, and windows."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Integer, LargeBinary, String, Table, Text

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

challenger_windows = Table(
    "challenger_windows",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    # Its name in the configuration.
    Column("challenger", Text, primary_key=True),
    # What gave its scores: a version of the registry, or a column.
    Column("scored_by", Text, primary_key=True),
    # Hash of what the differences depend on beside the rows.
    Column("gate", String(64), primary_key=True),
    Column("window_start", Moment, primary_key=True),
    Column("window_end", Moment, nullable=False),
    # Moment of the mature pane, as of which labels were read.
    Column("as_of", Moment, nullable=False),
    Column("attempts", Integer, nullable=False),
    # When it may be tried, again; a worker that begins moves it on. NULL once there is a result.
    Column("due_at", Moment),
    # Of the last attempt, if it failed.
    Column("error", Text),
    # Labeled rows, and their paired differences; NULL before there is a result.
    Column("labels", Integer),
    Column("found", LargeBinary),
    # Of all windows up to this one, with bounds; NULL without a result.
    Column("differences", JSON(none_as_null=True)),
)

# Versions that somebody deployed without a promotion, as rounds found them.
deployed_versions = Table(
    "deployed_versions",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("seen_at", Moment, primary_key=True),
    Column("version", Text, nullable=False),
    # Whether it is the one that was there when it was first looked for.
    Column("is_first", Boolean, nullable=False),
)

# What the last round found of each challenger of the configuration: pages ask no registry.
noted_challengers = Table(
    "noted_challengers",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("challenger", Text, primary_key=True),
    # As the configuration has it: a link of the registry, or a column.
    Column("link", Text, nullable=False),
    # What it led to; NULL if that was never found.
    Column("scored_by", Text),
    Column("trained_until", Moment),
    Column("is_deployed", Boolean, nullable=False),
    # Why the last attempt did not find it, or why it is not judged.
    Column("problem", Text),
    # When any of this last changed.
    Column("noted_at", Moment, nullable=False),
    # What the gate said last; hashes of what it was asked, and of what it was asked on.
    Column("verdict", String(32)),
    Column("gate", String(64)),
    Column("evidence", String(64)),
    Column("judged_at", Moment),
)
