"""Tables of panes: collected series, evaluations, results, followed class priors."""

from __future__ import annotations

import sqlalchemy as sa

from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata

series = sa.Table(
    "series",
    metadata,
    sa.Column("window_key", sa.Text, primary_key=True),
    sa.Column("pane", sa.Integer, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("table_bytes", sa.LargeBinary),
    sa.Column("class_prior", sa.JSON(none_as_null=True)),
    sa.Column("delays", sa.JSON(none_as_null=True)),
    sa.ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)


evaluations = sa.Table(
    "evaluations",
    metadata,
    sa.Column("window_key", sa.Text, primary_key=True),
    sa.Column("pane", sa.Integer, primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("evaluation", sa.JSON, nullable=False),
    sa.ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)


results = sa.Table(
    "results",
    metadata,
    sa.Column("window_key", sa.Text, primary_key=True),
    sa.Column("pane", sa.Integer, primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("value", sa.Double),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    sa.Column("se", sa.Double),
    sa.Column("n_labeled", sa.BigInteger),
    sa.Column("n_unlabeled", sa.BigInteger),
    sa.Column("undefined_reason", sa.Text),
    sa.Column("infeasible", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("impossible", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("infeasible_reason", sa.Text),
    sa.Column("unclipped_value", sa.Double),
    sa.Column("unclipped_low", sa.Double),
    sa.Column("unclipped_high", sa.Double),
    sa.Column("assumed", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)


# The numbers of newest panes that a page shows first, side by side in the order of time: reading
# them in `results` is a search for each. Of few metrics (`HEADLINES`); `point_to_newest` sets them.
headline_results = sa.Table(
    "headline_results",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("window_start", Moment, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("window_end", Moment, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("value", sa.Double),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    sa.Column("infeasible", sa.Boolean, nullable=False),
    sa.Column("impossible", sa.Boolean, nullable=False),
    sa.Column("assumed", sa.Boolean, nullable=False),
    sa.ForeignKeyConstraint(
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
prior_states = sa.Table(
    "prior_states",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("window_start", Moment, primary_key=True),
    # Digest of what was known of the windows up to it; the state is valid while it is the same.
    sa.Column("known", sa.Text, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)


# The auxiliary score of a monitor's features, trained once and frozen.
auxiliary_scores = sa.Table(
    "auxiliary_scores",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("configuration", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),
    # Trained on what was known then, from the first to the last of these windows.
    sa.Column("as_of", Moment, nullable=False),
    sa.Column("first_start", Moment, nullable=False),
    sa.Column("last_start", Moment, nullable=False),
    # Windows, rows, columns, versions, AUC.
    sa.Column("facts", sa.JSON, nullable=False),
    sa.Column("score", sa.LargeBinary, nullable=False),
)


# Auxiliary table of each series of a pane, or the reason why there is none.
auxiliary_series = sa.Table(
    "auxiliary_series",
    metadata,
    sa.Column("window_key", sa.Text, primary_key=True),
    sa.Column("pane", sa.Integer, primary_key=True),
    sa.Column("model_version", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, primary_key=True),
    sa.Column("hash", sa.String(64)),
    sa.Column("table_bytes", sa.LargeBinary),
    sa.Column("reason", sa.Text),
    sa.ForeignKeyConstraint(["window_key", "pane"], ["panes.window_key", "panes.number"]),
)
