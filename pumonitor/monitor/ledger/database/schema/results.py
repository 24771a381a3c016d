"""Tables of what panes came to: collected series, evaluations, results, followed class priors."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    false,
)

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

__all__ = [
    "auxiliary_scores",
    "auxiliary_series",
    "evaluations",
    "prior_states",
    "results",
    "series",
]

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
