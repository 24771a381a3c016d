"""Tables of monitors, windows, panes, newest panes, standings and the audit log."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

monitors = sa.Table(
    "monitors",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), primary_key=True),
    sa.Column("meaning", sa.JSON, nullable=False),
    sa.Column("registered_at", Moment, nullable=False),
    sa.Column("is_current", sa.Boolean, nullable=False),
    # When a window of this configuration was last evaluated with new results.
    sa.Column("last_evaluated_at", Moment),
)


windows = sa.Table(
    "windows",
    metadata,
    sa.Column("window_key", sa.String(64), primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("configuration", sa.String(64), nullable=False),
    sa.Column("window_start", Moment, nullable=False),
    sa.Column("window_end", Moment, nullable=False),
    sa.Column("window_index", sa.Integer, nullable=False),
    sa.Column("collected_panes", sa.Integer, nullable=False),
    sa.Column("evaluated_panes", sa.Integer, nullable=False),
    # Earliest as_of of the panes that are not collected; NULL if all are.
    sa.Column("next_as_of", Moment),
    sa.Column("lease_owner", sa.Text),
    sa.Column("lease_until", Moment),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("last_error", sa.Text),
    sa.Column("not_before", Moment),
    # What a later look found less of than was known, so that it was not taken; NULL: none.
    sa.Column("refused_look", sa.JSON(none_as_null=True)),
    # What somebody took all the same, who and why; later looks are held to it.
    sa.Column("accepted_look", sa.JSON(none_as_null=True)),
    sa.ForeignKeyConstraint(
        ["monitor", "configuration"], ["monitors.name", "monitors.configuration"]
    ),
    sa.CheckConstraint("window_start < window_end", name="ordered"),
)


sa.Index("ix_windows_to_collect", windows.c.window_start)
sa.Index("ix_windows_to_evaluate", windows.c.window_start)
sa.Index("ix_windows_refused", windows.c.window_start)
sa.Index("ix_windows_awaited", windows.c.monitor, windows.c.configuration, windows.c.next_as_of)
sa.Index("ix_windows_in_time", windows.c.monitor, windows.c.configuration, windows.c.window_start)


panes = sa.Table(
    "panes",
    metadata,
    sa.Column("window_key", sa.ForeignKey(windows.c.window_key), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("as_of", Moment, nullable=False),
    # planned, collected, evaluated
    sa.Column("status", sa.String(16), nullable=False),
    # Revision of the newest results; NULL without results.
    sa.Column("revision", sa.Integer),
    sa.Column("digest", sa.Text),
    sa.Column("evaluated_digest", sa.Text),
    sa.Column("counts", sa.JSON(none_as_null=True)),
    sa.Column("collected_at", Moment),
    sa.Column("evaluated_at", Moment),
    sa.Column("library_version", sa.Text),
    # Since when results are stored for it that later ones replaced: of its window or its own.
    sa.Column("superseded_at", Moment),
    # When its results were deleted, and only its counts kept (`keep_evaluations`).
    sa.Column("forgotten_at", Moment),
)
sa.Index("ix_panes_in_time", panes.c.as_of)


sa.Index("ix_panes_superseded", panes.c.superseded_at)


sa.Index("ix_panes_not_evaluated", panes.c.as_of)


# The newest pane with results of each series of a window. It says where in `results` its numbers
# are, and holds none itself. Sorted so that one stretch of it is a series over windows.
newest_panes = sa.Table(
    "newest_panes",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("window_start", Moment, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("window_end", Moment, nullable=False),
    sa.Column("window_key", sa.Text, nullable=False),
    sa.Column("pane", sa.Integer, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("as_of", Moment, nullable=False),
    sa.ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
    sqlite_with_rowid=False,
)
sa.Index("ix_newest_panes_of_window", newest_panes.c.window_key)


audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("at", Moment, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("detail", sa.JSON, nullable=False),
)


# What the last round found for each monitor; the next round skips what has not changed.
standings = sa.Table(
    "standings",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), nullable=False),
    # Digest of its files; NULL for other tables.
    sa.Column("files", sa.String(64)),
    sa.Column("first_prediction", Moment),
    sa.Column("last_prediction", Moment),
    sa.Column("planned_until", Moment),
    # What was left out of its tables, in a sentence each; NULL: nothing.
    sa.Column("set_aside", sa.JSON(none_as_null=True)),
    # Digest of the evaluated rules; nothing is due for them before quiet_until (NULL: unknown).
    sa.Column("rules", sa.String(64)),
    sa.Column("quiet_until", Moment),
    # When a round last looked at it; what kept it from reading its tables then, and since when.
    sa.Column("looked_at", Moment),
    sa.Column("problem", sa.Text),
    sa.Column("problem_since", Moment),
)


# A view, kept out of `metadata` so that it is not created as a table.
latest = sa.Table(
    "pumonitor_latest",
    sa.MetaData(),
    sa.Column("window_key", sa.Text),
    sa.Column("pane", sa.Integer),
    sa.Column("state", sa.String(16)),
    sa.Column("revision", sa.Integer),
    sa.Column("as_of", Moment),
)
