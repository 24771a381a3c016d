"""Tables of alerts: progress of the fold, states, transitions and silences."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# How far the windows of a monitor have been folded into the alerts of a rule.
alert_progress = Table(
    "alert_progress",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("rule_key", String(64), primary_key=True),
    # Of the last folded pane; NULL before the first.
    Column("as_of", Moment),
    Column("window_start", Moment),
    # Incremented when a folded pane has been revised.
    Column("generation", Integer, nullable=False),
    Column("last_error", Text),
)


# Present state of each alert: after the last window, after its last transition, as notified.
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
    # State after the last window.
    Column("window_start", Moment),
    Column("window_end", Moment),
    Column("as_of", Moment),
    # State after the last transition.
    Column("is_firing", Boolean, nullable=False),
    Column("incident", Integer, nullable=False),
    Column("firing_since", Moment),
    Column("emitted_as_of", Moment),
    Column("reminders", Integer, nullable=False),
    # State that was last sent in a notification.
    Column("told_incident", Integer, nullable=False),
    Column("told_firing", Boolean, nullable=False),
    Column("acknowledged_incident", Integer, nullable=False),
    # When its rule was edited or deleted.
    Column("closed_at", Moment),
    # Key of the incident of several alerts that it has joined; "" if it is the first.
    Column("joined", Text, nullable=False, server_default=""),
)


# Every state change; rows are never changed but for told_at.
alert_transitions = Table(
    "alert_transitions",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
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
    # Reason of a resolution: good, revised or configuration.
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
    # When messages about it were put into the outbox; NULL: none, for the reason in `withheld`.
    Column("told_at", Moment),
    Column("withheld", String(16)),
    Column("joined", Text, nullable=False, server_default=""),
    # What changed did so after this.
    Column("onset", Moment),
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


# NULL matches any value.
silences = Table(
    "silences",
    metadata,
    Column("id", Number, Identity(), primary_key=True),
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
