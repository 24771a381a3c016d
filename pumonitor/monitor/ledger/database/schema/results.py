"""Tables of panes: collected series, evaluations, results, followed class priors."""

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


# The numbers of newest panes that a page shows first, side by side in the order of time: reading
# them in `results` is a search for each. Of few metrics (`HEADLINES`); `point_to_newest` sets them.
headline_results = Table(
    "headline_results",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("window_start", Moment, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("window_end", Moment, nullable=False),
    Column("state", String(16), nullable=False),
    Column("value", Double),
    Column("low", Double),
    Column("high", Double),
    Column("infeasible", Boolean, nullable=False),
    Column("impossible", Boolean, nullable=False),
    Column("assumed", Boolean, nullable=False),
    ForeignKeyConstraint(
        ["monitor", "configuration", "segment", "window_start", "model_version"],
        [
            f"newest_panes.{name}"
            for name in ("monitor", "configuration", "segment", "window_start", "model_version")
        ],
        name="fk_headline_results_newest_panes",
        ondelete="CASCADE",
    ),
    sqlite_with_rowid=False,
)


# State of the class prior's filter after a window, from which the next window goes on.
# Only the newest states of each series are kept; they can be recomputed.
prior_states = Table(
    "prior_states",
    metadata,
    Column("monitor", Text, primary_key=True),
    Column("configuration", String(64), primary_key=True),
    Column("segment", Text, primary_key=True),
    Column("model_version", Text, primary_key=True),
    Column("window_start", Moment, primary_key=True),
    # Digest of what was known of the windows up to it; the state is valid while it is the same.
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
    # Trained on what was known then, from the first to the last of these windows.
    Column("as_of", Moment, nullable=False),
    Column("first_start", Moment, nullable=False),
    Column("last_start", Moment, nullable=False),
    # Windows, rows, columns, versions, AUC.
    Column("facts", JSON, nullable=False),
    Column("score", LargeBinary, nullable=False),
)


# Auxiliary table of each series of a pane, or the reason why there is none.
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
