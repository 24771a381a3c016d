"""Tables of challengers: what was found of them and of the deployed version, and windows."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

challenger_windows = sa.Table(
    "challenger_windows",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), primary_key=True),
    # Its name in the configuration.
    sa.Column("challenger", sa.Text, primary_key=True),
    # What gave its scores: a version of the registry, or a column.
    sa.Column("scored_by", sa.Text, primary_key=True),
    # Hash of what the differences depend on beside the rows.
    sa.Column("gate", sa.String(64), primary_key=True),
    sa.Column("window_start", Moment, primary_key=True),
    sa.Column("window_end", Moment, nullable=False),
    # Moment of the mature pane, as of which labels were read.
    sa.Column("as_of", Moment, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    # When it may be tried, again; a worker that begins moves it on. NULL once there is a result.
    sa.Column("due_at", Moment),
    # Of the last attempt, if it failed.
    sa.Column("error", sa.Text),
    # Labeled rows, and their paired differences; NULL before there is a result.
    sa.Column("labels", sa.Integer),
    sa.Column("found", sa.LargeBinary),
    # Of all windows up to this one, with bounds; NULL without a result.
    sa.Column("differences", sa.JSON(none_as_null=True)),
)

# Versions that somebody deployed without a promotion, as rounds found them.
deployed_versions = sa.Table(
    "deployed_versions",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("seen_at", Moment, primary_key=True),
    sa.Column("version", sa.Text, nullable=False),
    # Whether it is the one that was there when it was first looked for.
    sa.Column("is_first", sa.Boolean, nullable=False),
)

# What the last round found of each challenger of the configuration: pages ask no registry.
noted_challengers = sa.Table(
    "noted_challengers",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("challenger", sa.Text, primary_key=True),
    # As the configuration has it: a link of the registry, or a column.
    sa.Column("link", sa.Text, nullable=False),
    # What it led to; NULL if that was never found.
    sa.Column("scored_by", sa.Text),
    sa.Column("trained_until", Moment),
    sa.Column("is_deployed", sa.Boolean, nullable=False),
    # Why the last attempt did not find it, or why it is not judged.
    sa.Column("problem", sa.Text),
    # When any of this last changed.
    sa.Column("noted_at", Moment, nullable=False),
    # What the gate said last; hashes of what it was asked, and of what it was asked on.
    sa.Column("verdict", sa.String(32)),
    sa.Column("gate", sa.String(64)),
    sa.Column("evidence", sa.String(64)),
    sa.Column("judged_at", Moment),
)
