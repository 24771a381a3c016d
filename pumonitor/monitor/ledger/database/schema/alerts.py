"""Tables of alerts: progress of the fold, states, transitions and silences."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, Number, metadata

# How far the windows of a monitor have been folded into the alerts of a rule.
alert_progress = sa.Table(
    "alert_progress",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("rule_key", sa.String(64), primary_key=True),
    # Of the last folded pane; NULL before the first.
    sa.Column("as_of", Moment),
    sa.Column("window_start", Moment),
    # Incremented when a folded pane has been revised.
    sa.Column("generation", sa.Integer, nullable=False),
    sa.Column("last_error", sa.Text),
)


# Present state of each alert: after the last window, after its last transition, as notified.
alert_states = sa.Table(
    "alert_states",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("rule_key", sa.String(64), primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("rule", sa.Text, nullable=False),
    sa.Column("metric", sa.Text, nullable=False),
    sa.Column("severity", sa.String(16), nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("count", sa.Integer, nullable=False),
    sa.Column("evidence", sa.String(16)),
    sa.Column("value", sa.Double),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    sa.Column("limit_value", sa.Double),
    sa.Column("reference", sa.Double),
    sa.Column("reason", sa.Text, nullable=False),
    # State after the last window.
    sa.Column("window_start", Moment),
    sa.Column("window_end", Moment),
    sa.Column("as_of", Moment),
    # State after the last transition.
    sa.Column("is_firing", sa.Boolean, nullable=False),
    sa.Column("incident", sa.Integer, nullable=False),
    sa.Column("firing_since", Moment),
    sa.Column("emitted_as_of", Moment),
    sa.Column("reminders", sa.Integer, nullable=False),
    # State that was last sent in a notification.
    sa.Column("told_incident", sa.Integer, nullable=False),
    sa.Column("told_firing", sa.Boolean, nullable=False),
    sa.Column("acknowledged_incident", sa.Integer, nullable=False),
    # When its rule was edited or deleted.
    sa.Column("closed_at", Moment),
    # Key of the incident of several alerts that it has joined; "" if it is the first.
    sa.Column("joined", sa.Text, nullable=False, server_default=""),
)


# Every state change; rows are never changed but for told_at.
alert_transitions = sa.Table(
    "alert_transitions",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("rule_key", sa.String(64), nullable=False),
    sa.Column("model_version", sa.Text, nullable=False),
    sa.Column("segment", sa.Text, nullable=False),
    sa.Column("incident", sa.Integer, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("reminder", sa.Integer, nullable=False),
    sa.Column("rule", sa.Text, nullable=False),
    sa.Column("metric", sa.Text, nullable=False),
    sa.Column("severity", sa.String(16), nullable=False),
    # Reason of a resolution: good, revised or configuration.
    sa.Column("reason", sa.String(16), nullable=False),
    sa.Column("window_start", Moment, nullable=False),
    sa.Column("window_end", Moment, nullable=False),
    sa.Column("as_of", Moment, nullable=False),
    sa.Column("firing_since", Moment),
    sa.Column("value", sa.Double),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    sa.Column("limit_value", sa.Double),
    sa.Column("reference", sa.Double),
    sa.Column("sentence", sa.Text, nullable=False),
    sa.Column("cause", sa.JSON, nullable=False),
    sa.Column("recorded_at", Moment, nullable=False),
    # When messages about it were put into the outbox; NULL: none, for the reason in `withheld`.
    sa.Column("told_at", Moment),
    sa.Column("withheld", sa.String(16)),
    sa.Column("joined", sa.Text, nullable=False, server_default=""),
    # What changed did so after this.
    sa.Column("onset", Moment),
    sa.UniqueConstraint(
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
sa.Index("ix_alert_transitions_in_time", alert_transitions.c.monitor, alert_transitions.c.as_of)


# NULL matches any value.
silences = sa.Table(
    "silences",
    metadata,
    sa.Column("id", Number, sa.Identity(), primary_key=True),
    sa.Column("monitor", sa.Text),
    sa.Column("rule", sa.Text),
    sa.Column("metric", sa.Text),
    sa.Column("model_version", sa.Text),
    sa.Column("segment", sa.Text),
    sa.Column("starts", Moment, nullable=False),
    sa.Column("ends", Moment, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.CheckConstraint("starts <= ends", name="ordered"),
)
