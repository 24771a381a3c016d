"""Table of what was seen of challengers in each window."""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, String, Table, Text

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

__all__ = ["challenger_windows"]

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
)
