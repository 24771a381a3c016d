"""Tables and views of the state database, as the newest migration leaves them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    TIMESTAMP,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeDecorator

__all__ = [
    "Moment",
    "audit",
    "evaluations",
    "keys",
    "latest",
    "metadata",
    "monitors",
    "outbox",
    "panes",
    "results",
    "series",
    "windows",
]


class Moment(TypeDecorator[datetime]):
    """A time with its zone: UTC, to the microsecond.

    SQLite has no such type; ISO 8601 of one length sorts as it should, and its date functions read
    it.
    """

    impl = TIMESTAMP(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Text in SQLite."""
        return dialect.type_descriptor(String(32) if dialect.name == "sqlite" else self.impl)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """From Python to the database."""
        if value is None:
            return None
        if value.tzinfo is None:
            msg = f"times must carry their zone, got {value}"
            raise ValueError(msg)
        utc = value.astimezone(UTC)
        return utc.isoformat(timespec="microseconds") if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From the database to Python."""
        if value is None:
            return None
        found: datetime = datetime.fromisoformat(value) if dialect.name == "sqlite" else value
        return found.astimezone(UTC)


# SQLite numbers rows by itself only where the type is INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

monitors = Table(
    "monitors",
    metadata,
    Column("name", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("meaning", JSON, nullable=False),
    Column("registered_at", Moment, nullable=False),
    Column("is_current", Boolean, nullable=False),
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
    # The earliest as_of of the panes not collected; NULL when all are.
    Column("next_as_of", Moment),
    Column("lease_owner", Text),
    Column("lease_until", Moment),
    Column("fence", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("last_error", Text),
    Column("not_before", Moment),
    ForeignKeyConstraint(["monitor", "configuration"], ["monitors.name", "monitors.configuration"]),
    CheckConstraint("window_start < window_end", name="ordered"),
)
_TO_COLLECT = text("next_as_of IS NOT NULL")
_TO_EVALUATE = text("evaluated_panes < collected_panes")
Index(
    "ix_windows_to_collect",
    windows.c.window_start,
    sqlite_where=_TO_COLLECT,
    postgresql_where=_TO_COLLECT,
)
Index(
    "ix_windows_to_evaluate",
    windows.c.window_start,
    sqlite_where=_TO_EVALUATE,
    postgresql_where=_TO_EVALUATE,
)
Index(
    "ix_windows_awaited",
    windows.c.monitor,
    windows.c.configuration,
    windows.c.next_as_of,
    sqlite_where=_TO_COLLECT,
    postgresql_where=_TO_COLLECT,
)
Index(
    "ix_windows_in_time",
    windows.c.monitor,
    windows.c.configuration,
    windows.c.window_start,
)

panes = Table(
    "panes",
    metadata,
    Column("window_key", ForeignKey(windows.c.window_key), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("as_of", Moment, nullable=False),
    # planned, collected, evaluated
    Column("status", String(16), nullable=False),
    # Of the newest results; NULL while there are none.
    Column("revision", Integer),
    Column("digest", Text),
    Column("evaluated_digest", Text),
    Column("counts", JSON(none_as_null=True)),
    Column("collected_at", Moment),
    Column("evaluated_at", Moment),
    Column("library_version", Text),
)

series = Table(
    "series",
    metadata,
    Column("window_key", Text, primary_key=True),
    Column("pane", Integer, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("table_bytes", LargeBinary),
    Column("class_prior", JSON(none_as_null=True)),
    Column("delays", JSON(none_as_null=True)),
    ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("window_key", Text, primary_key=True),
    Column("pane", Integer, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("evaluation", JSON, nullable=False),
    ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)

results = Table(
    "results",
    metadata,
    Column("window_key", Text, primary_key=True),
    Column("pane", Integer, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    Column("se", Double),
    Column("n_labeled", BigInteger),
    Column("n_unlabeled", BigInteger),
    Column("undefined_reason", Text),
    ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("destination", Text, nullable=False),
    Column("lane", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("payload", JSON, nullable=False),
    Column("created", Moment, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("refusals", Integer, nullable=False),
    Column("not_before", Moment),
    Column("claimed_by", Text),
    Column("claimed_until", Moment),
    Column("delivered_at", Moment),
    Column("set_aside_at", Moment),
    Column("last_error", Text),
    UniqueConstraint("destination", "key"),
)
_PENDING = text("delivered_at IS NULL AND set_aside_at IS NULL")
Index(
    "ix_outbox_pending",
    outbox.c.destination,
    outbox.c.id,
    sqlite_where=_PENDING,
    postgresql_where=_PENDING,
)
Index(
    "ix_outbox_pending_in_lane",
    outbox.c.destination,
    outbox.c.lane,
    outbox.c.id,
    sqlite_where=_PENDING,
    postgresql_where=_PENDING,
)

audit = Table(
    "audit",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("detail", JSON, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# A view, which `metadata` must not make as a table.
latest = Table(
    "pumonitor_latest",
    MetaData(),
    Column("window_key", Text),
    Column("pane", Integer),
    Column("state", String(16)),
    Column("revision", Integer),
    Column("as_of", Moment),
)
