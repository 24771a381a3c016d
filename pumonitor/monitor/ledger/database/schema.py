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
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

__all__ = [
    "Moment",
    "alert_progress",
    "alert_states",
    "alert_transitions",
    "audit",
    "auxiliary_scores",
    "auxiliary_series",
    "evaluations",
    "keys",
    "latest",
    "metadata",
    "monitors",
    "outbox",
    "panes",
    "prior_states",
    "results",
    "sent_keys",
    "series",
    "silences",
    "standings",
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
Index("ix_panes_in_time", panes.c.as_of)
_NOT_EVALUATED = text("status <> 'evaluated'")
Index(
    "ix_panes_not_evaluated",
    panes.c.as_of,
    sqlite_where=_NOT_EVALUATED,
    postgresql_where=_NOT_EVALUATED,
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
    Column("infeasible", Boolean, nullable=False, server_default=false()),
    Column("impossible", Boolean, nullable=False, server_default=false()),
    Column("infeasible_reason", Text),
    Column("unclipped_value", Double),
    Column("unclipped_low", Double),
    Column("unclipped_high", Double),
    Column("assumed", Boolean, nullable=False, server_default=false()),
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
_DELIVERED = text("delivered_at IS NOT NULL")
Index(
    "ix_outbox_delivered",
    outbox.c.delivered_at,
    sqlite_where=_DELIVERED,
    postgresql_where=_DELIVERED,
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

# Keys of messages that were delivered and are no longer kept: none is sent a second time.
sent_keys = Table(
    "sent_keys",
    metadata,
    Column("destination", Text, primary_key=True),
    # 32 hexadecimal digits of the key's SHA-256.
    Column("key_hash", String(32), primary_key=True),
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

# How far the windows of a monitor have been folded into the alerts of a rule.
alert_progress = Table(
    "alert_progress",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("rule_key", String(64), primary_key=True),
    # Of the last pane that was taken in; NULL before the first.
    Column("as_of", Moment),
    Column("window_start", Moment),
    # Grows when panes taken in before come to say something else.
    Column("generation", Integer, nullable=False),
    Column("last_error", Text),
)

# What each alert is now: by the windows so far, by what was emitted, and by what was told.
alert_states = Table(
    "alert_states",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("rule_key", String(64), primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("rule", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("severity", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("count", Integer, nullable=False),
    Column("evidence", String(16)),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    Column("limit_value", Double),
    Column("reference", Double),
    Column("reason", Text, nullable=False),
    # Of the last window.
    Column("window_start", Moment),
    Column("window_end", Moment),
    Column("as_of", Moment),
    # Emitted.
    Column("is_firing", Boolean, nullable=False),
    Column("incident", Integer, nullable=False),
    Column("firing_since", Moment),
    Column("emitted_as_of", Moment),
    Column("reminders", Integer, nullable=False),
    # Told.
    Column("told_incident", Integer, nullable=False),
    Column("told_firing", Boolean, nullable=False),
    Column("acknowledged_incident", Integer, nullable=False),
    # When its rule was edited or deleted.
    Column("closed_at", Moment),
)

# Every state change, once and for all.
alert_transitions = Table(
    "alert_transitions",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("monitor", Text, nullable=False),
    Column("rule_key", String(64), nullable=False),
    Column("model_version", Text, nullable=False),
    Column("segment", Text, nullable=False),
    Column("incident", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("reminder", Integer, nullable=False),
    Column("rule", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("severity", String(16), nullable=False),
    # Of a resolution: good, revised, configuration.
    Column("reason", String(16), nullable=False),
    Column("window_start", Moment, nullable=False),
    Column("window_end", Moment, nullable=False),
    Column("as_of", Moment, nullable=False),
    Column("firing_since", Moment),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    Column("limit_value", Double),
    Column("reference", Double),
    Column("sentence", Text, nullable=False),
    Column("cause", JSON, nullable=False),
    Column("recorded_at", Moment, nullable=False),
    # When messages about it were put into the outbox; NULL: nobody was told, and why not.
    Column("told_at", Moment),
    Column("withheld", String(16)),
    UniqueConstraint(
        "monitor",
        "rule_key",
        "model_version",
        "segment",
        "incident",
        "kind",
        "reminder",
        name="uq_alert_transitions_once",
    ),
)
Index("ix_alert_transitions_in_time", alert_transitions.c.monitor, alert_transitions.c.as_of)

# NULL stands for any.
silences = Table(
    "silences",
    metadata,
    Column("id", _Number, Identity(), primary_key=True),
    Column("monitor", Text),
    Column("rule", Text),
    Column("metric", Text),
    Column("model_version", Text),
    Column("segment", Text),
    Column("starts", Moment, nullable=False),
    Column("ends", Moment, nullable=False),
    Column("reason", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    CheckConstraint("starts <= ends", name="ordered"),
)

# What the last round found of each monitor: the next one looks only where something has moved.
standings = Table(
    "standings",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), nullable=False),
    # Of its files; NULL for other tables.
    Column("files", String(64)),
    Column("first_prediction", Moment),
    Column("last_prediction", Moment),
    Column("planned_until", Moment),
    # Of the rules judged; until when nothing is due for them, NULL once anything changed.
    Column("rules", String(64)),
    Column("quiet_until", Moment),
)

# Class priors as they were followed up to a window, so that the next one need not begin again.
# Only what is newest of each series is kept; all of it can be made again.
prior_states = Table(
    "prior_states",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("window_start", Moment, primary_key=True),
    # What was known of the windows up to it: the state holds as long as that is the same.
    Column("known", Text, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

# The auxiliary score of a monitor's features, trained once and frozen.
auxiliary_scores = Table(
    "auxiliary_scores",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("hash", String(64), nullable=False),
    # What it was trained on was known then; the starts of the first and the last window of it.
    Column("as_of", Moment, nullable=False),
    Column("first_start", Moment, nullable=False),
    Column("last_start", Moment, nullable=False),
    # Windows, rows, columns, versions, AUC.
    Column("facts", JSON, nullable=False),
    Column("score", LargeBinary, nullable=False),
)

# What is seen of each look at a window by that score; or why nothing is.
auxiliary_series = Table(
    "auxiliary_series",
    metadata,
    Column("window_key", Text, primary_key=True),
    Column("pane", Integer, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("hash", String(64)),
    Column("table_bytes", LargeBinary),
    Column("reason", Text),
    ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
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
