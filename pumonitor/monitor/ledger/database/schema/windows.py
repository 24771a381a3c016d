"""Tables of monitors, windows, panes, newest panes, standings and the audit log."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

monitors = Table(
    "monitors",
    metadata,
    Column("name", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("meaning", JSON, nullable=False),
    Column("registered_at", Moment, nullable=False),
    Column("is_current", Boolean, nullable=False),
    # When a window of this configuration was last evaluated with new results.
    Column("last_evaluated_at", Moment),
)


windows = Table(
    "windows",
    metadata,
    Column("window_key", String(64), primary_key=True),
    Column("monitor", Text, nullable=False),
    Column("configuration", String(64), nullable=False),
    Column("window_start", Moment, nullable=False),
    Column("window_end", Moment, nullable=False),
    Column("window_index", Integer, nullable=False),
    Column("collected_panes", Integer, nullable=False),
    Column("evaluated_panes", Integer, nullable=False),
    # Earliest as_of of the panes that are not collected; NULL if all are.
    Column("next_as_of", Moment),
    Column("lease_owner", Text),
    Column("lease_until", Moment),
    Column("fence", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("last_error", Text),
    Column("not_before", Moment),
    # What a later look found less of than was known, so that it was not taken; NULL: none.
    Column("refused_look", JSON(none_as_null=True)),
    # What somebody took all the same, who and why; later looks are held to it.
    Column("accepted_look", JSON(none_as_null=True)),
    ForeignKeyConstraint(["monitor", "configuration"], ["monitors.name", "monitors.configuration"]),
    CheckConstraint("window_start < window_end", name="ordered"),
)


Index("ix_windows_to_collect", windows.c.window_start)
Index(
    "ix_windows_to_evaluate",
    windows.c.window_start,
)
Index("ix_windows_refused", windows.c.window_start)
Index(
    "ix_windows_awaited",
    windows.c.monitor,
    windows.c.configuration,
    windows.c.next_as_of,
)
Index("ix_windows_in_time", windows.c.monitor, windows.c.configuration, windows.c.window_start)


panes = Table(
    "panes",
    metadata,
    Column("window_key", ForeignKey(windows.c.window_key), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("as_of", Moment, nullable=False),
    # planned, collected, evaluated
    Column("status", String(16), nullable=False),
    # Revision of the newest results; NULL without results.
    Column("revision", Integer),
    Column("digest", Text),
    Column("evaluated_digest", Text),
    Column("counts", JSON(none_as_null=True)),
    Column("collected_at", Moment),
    Column("evaluated_at", Moment),
    Column("library_version", Text),
    # Since when results are stored for it that later ones replaced: of its window or its own.
    Column("superseded_at", Moment),
    # When its results were deleted, and only its counts kept (`keep_evaluations`).
    Column("forgotten_at", Moment),
)
Index("ix_panes_in_time", panes.c.as_of)


Index("ix_panes_superseded", panes.c.superseded_at)


Index("ix_panes_not_evaluated", panes.c.as_of)


# The newest pane with results of each series of a window. It says where in `results` its numbers
# are, and holds none itself. Sorted so that one stretch of it is a series over windows.
newest_panes = Table(
    "newest_panes",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("window_start", Moment, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("window_end", Moment, nullable=False),
    Column("window_key", Text, nullable=False),
    Column("pane", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("as_of", Moment, nullable=False),
    ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
    sqlite_with_rowid=False,
)
Index("ix_newest_panes_of_window", newest_panes.c.window_key)


audit = Table(
    "audit",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("detail", JSON, nullable=False),
)


# What the last round found for each monitor; the next round skips what has not changed.
standings = Table(
    "standings",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), nullable=False),
    # Digest of its files; NULL for other tables.
    Column("files", String(64)),
    Column("first_prediction", Moment),
    Column("last_prediction", Moment),
    Column("planned_until", Moment),
    # What was left out of its tables, in a sentence each; NULL: nothing.
    Column("set_aside", JSON(none_as_null=True)),
    # Digest of the evaluated rules; nothing is due for them before quiet_until (NULL: unknown).
    Column("rules", String(64)),
    Column("quiet_until", Moment),
    # When a round last looked at it; what kept it from reading its tables then, and since when.
    Column("looked_at", Moment),
    Column("problem", Text),
    Column("problem_since", Moment),
)


# A view, kept out of `metadata` so that it is not created as a table.
latest = Table(
    "pumonitor_latest",
    MetaData(),
    Column("window_key", Text),
    Column("pane", Integer),
    Column("state", String(16)),
    Column("revision", Integer),
    Column("as_of", Moment),
)
