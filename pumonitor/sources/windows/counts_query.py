"""The one count query, in the SQL that all engines share."""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import floor
from typing import Final

from pumonitor.sources.column_types.column_kinds import Column, Key
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER, PLAUSIBLE_FROM, microseconds
from pumonitor.sources.windows.counts_rows import (
    LabelTable,
    PredictionTable,
    Values,
    double,
    feature_columns,
    label_rows,
    prediction_ids,
    prediction_rows,
    prediction_times,
)
from pumonitor.sources.windows.grid import ScoreGrid

__all__ = ["MOST_GROUPS", "CountQuery", "Statement"]

MOST_GROUPS: Final = 2_000_000

# What each named part reads; no table of a user is called like this.
_READS: Final[dict[str, tuple[str, ...]]] = {
    "pumonitor_window": (),
    "pumonitor_repeated": ("pumonitor_window",),
    "pumonitor_ranked": ("pumonitor_window", "pumonitor_repeated"),
    "pumonitor_first": ("pumonitor_window",),
    "pumonitor_said": (),
    "pumonitor_moments": ("pumonitor_said", "pumonitor_first"),
    "pumonitor_steps": ("pumonitor_moments",),
    "pumonitor_states": ("pumonitor_steps",),
    "pumonitor_unmatched": (),
    "pumonitor_made": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL and the values of its parameters."""

    sql: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """Statements that count one window.

    Attributes
    ----------
    between : tuple of datetime
        The window.
    as_of : tuple of datetime
        Ascending moments.
    delay_edges : tuple of float
        In seconds.
    repeats : bool
        Whether an id stands more than once in the window: nothing is spent on it otherwise.
    kept : frozenset of str
        Named parts that the engine holds as tables by now.

    Notes
    -----
    The state of an id at a moment T is what its latest row known by T says. The latest of several
    things is the largest of 4 * time + state + 1, so one grouping gives the states at all moments.
    """

    predictions: PredictionTable
    labels: LabelTable
    dialect: Dialect
    grid: ScoreGrid
    key: Key
    between: tuple[datetime, datetime]
    as_of: tuple[datetime, ...]
    threshold: float
    delay_edges: tuple[float, ...] = ()
    repeats: bool = False
    kept: frozenset[str] = frozenset()

    @property
    def segments(self) -> tuple[str, ...]:
        """Names of the segment columns in the answers."""
        return tuple(f"segment_{place}" for place in range(len(self.predictions.segments)))

    @property
    def unlabeled(self) -> int:
        """History of a row that no label was ever known of."""
        return sum(int(3**place) for place in range(len(self.as_of)))

    def rows(self) -> Statement:
        """How many rows the window has."""
        return self.stated("SELECT count(*) AS n FROM pumonitor_window", "pumonitor_window")

    def ids(self, *, part: int = 0, parts: int = 1) -> Statement:
        """How many different ids there are in one of several parts of the window."""
        same = self.dialect.grouped_id.format("id")
        only = f" WHERE {same} % {parts} = {part}" if parts > 1 else ""
        return self.stated(
            f"SELECT count(*) AS n FROM (SELECT {same} AS same FROM pumonitor_window{only} "
            f"GROUP BY {same}) AS grouped",
            "pumonitor_window",
        )

    def repeated(self) -> Statement:
        """Ids that stand more than once."""
        return self._part("pumonitor_repeated")

    def repeats_found(self) -> Statement:
        """Numbers of repeated rows: with the first row's score, with another, unusable."""
        return self.stated(
            "SELECT sum(CASE WHEN place > 1 AND score = standing THEN 1 ELSE 0 END) AS same, "
            "sum(CASE WHEN place > 1 AND score <> standing THEN 1 ELSE 0 END) AS other, "
            "max(problem) AS problem FROM pumonitor_ranked",
            "pumonitor_ranked",
        )

    def problems(self) -> Statement:
        """Numbers of the window's rows by what is wrong with them."""
        return self.stated(
            "SELECT problem, count(*) AS n FROM pumonitor_window GROUP BY problem",
            "pumonitor_window",
        )

    def label_problems(self) -> Statement:
        """Numbers of label rows by what is wrong with them."""
        return self.stated(
            "SELECT problem, count(*) AS n FROM pumonitor_said GROUP BY problem", "pumonitor_said"
        )

    def states(self) -> Statement:
        """Ids of the window that labels are known of, with all that was said about each."""
        return self._part("pumonitor_states")

    def groups(self) -> Statement:
        """Numbers of rows by all the keys; a cell below 0 is minus a problem."""
        keys = ", ".join(["model_version", *self.segments, "cell", "history", "propensity"])
        above = f"CASE WHEN score >= {double(self.threshold)} THEN 1 ELSE 0 END"
        index = self.grid.sql("score", floor=self.dialect.floor)
        cell = f"CASE WHEN problem > 0 THEN -problem ELSE 2 * {index} + {above} END"
        chosen = ", ".join(["model_version", *self.segments])
        return self.stated(
            f"SELECT {keys}, min(score) AS lower_score, max(score) AS upper_score, "
            f"count(*) AS n FROM (SELECT {chosen}, {cell} AS cell, score, "
            f"coalesce(history, {self.unlabeled}) AS history, propensity "
            "FROM pumonitor_first AS predicted LEFT JOIN pumonitor_states AS stated "
            f"ON predicted.id = stated.id) AS placed GROUP BY {keys} LIMIT {MOST_GROUPS + 1}",
            "pumonitor_first",
            "pumonitor_states",
        )

    def found(self) -> Statement:
        """Totals over the ids with labels, by first moment as a positive and by delay."""
        moment = " ".join(
            f"WHEN state_{place} = 1 THEN {place}" for place in range(len(self.as_of))
        )
        last = f"state_{len(self.as_of) - 1}"
        bucket = " ".join(
            f"WHEN confirmed - made <= {floor(edge * 1e6)} THEN {place}"
            for place, edge in enumerate(self.delay_edges)
        )
        bucket = f"CASE {bucket} ELSE {len(self.delay_edges)} END" if bucket else "0"
        sums = ", ".join(
            f"sum({name}) AS {name}"
            for name in ("label_rows", "duplicates", "conflicts", "retractions", "early", "refused")
        )
        return self.stated(
            f"SELECT moment, bucket, count(*) AS ids, {sums} FROM (SELECT *, "
            f"CASE WHEN {last} = 1 THEN CASE {moment} END ELSE -1 END AS moment, "
            f"{bucket} AS bucket FROM pumonitor_states) AS stated GROUP BY moment, bucket",
            "pumonitor_states",
        )

    def unmatched(self) -> Statement:
        """Ids, with numbers of rows, of labels known in the window: those to look for."""
        return self._part("pumonitor_unmatched")

    def unmatched_ids(self) -> Statement:
        """How many these are."""
        return self.stated("SELECT count(*) AS n FROM pumonitor_unmatched", "pumonitor_unmatched")

    def still_unmatched(self, between: tuple[datetime, datetime]) -> Statement:
        """Those of them that are in no prediction of a stretch of time."""
        return self._without_prediction("id, n", between)

    def orphans(self) -> Statement:
        """How many rows are in no prediction at all."""
        return self._without_prediction("coalesce(sum(n), 0) AS n", None)

    def _without_prediction(
        self, chosen: str, between: tuple[datetime, datetime] | None
    ) -> Statement:
        """Ids of predictions pass by the few that are looked for, never the other way round."""
        values = Values(self.dialect)
        ids = prediction_ids(self.predictions, key=self.key, between=between, values=values)
        return self.stated(
            f"SELECT {chosen} FROM pumonitor_unmatched WHERE id NOT IN (SELECT id FROM ({ids}) "
            "AS made WHERE id IN (SELECT id FROM pumonitor_unmatched))",
            "pumonitor_unmatched",
            values=values,
        )

    def examples(self, problem: int, shown: Column, *, of_all: bool = False) -> Statement:
        """Most frequent values of a column among the window's rows, or all, with a problem."""
        values = Values(self.dialect)
        rows = self._window_rows(values, shown, None if of_all else self.between)
        return self._examples(rows, problem, values)

    def label_examples(self, problem: int, shown: Column) -> Statement:
        """The same for labels."""
        values = Values(self.dialect)
        rows = label_rows(
            self.labels, key=self.key, as_of=self.as_of[-1], values=values, shown=shown
        )
        return self._examples(rows, problem, values)

    def labels_as_said(self) -> Statement:
        """All label rows known by the last moment, for an engine elsewhere."""
        return self.stated(
            "SELECT id, known, label, propensity, problem FROM pumonitor_said", "pumonitor_said"
        )

    def span(self, now: datetime) -> Statement:
        """Predictions: rows, first and last time, times that cannot be read, of old, after now."""
        values = Values(self.dialect)
        limit = values.write("now", microseconds(now))
        oldest = values.write("oldest", microseconds(PLAUSIBLE_FROM))
        return self.stated(
            "SELECT count(*) AS n, min(made) AS first_made, max(made) AS last_made, "
            "sum(CASE WHEN made IS NULL THEN 1 ELSE 0 END) AS unread, "
            f"sum(CASE WHEN made < {oldest} THEN 1 ELSE 0 END) AS earlier, "
            f"sum(CASE WHEN made > {limit} THEN 1 ELSE 0 END) AS later FROM pumonitor_made",
            "pumonitor_made",
            values=values,
        )

    def label_span(self, now: datetime) -> Statement:
        """Labels: rows, the last time, times after now."""
        values = Values(self.dialect)
        limit = values.write("now", microseconds(now))
        return self.stated(
            "SELECT count(*) AS n, max(known) AS last_known, "
            f"sum(CASE WHEN known > {limit} THEN 1 ELSE 0 END) AS later FROM pumonitor_said",
            "pumonitor_said",
            values=values,
        )

    def delays(self) -> Statement:
        """Numbers of confirmed predictions by whole seconds until they were known."""
        # Down to a whole second, below 0 as well; then the division leaves nothing over.
        whole = "(known - made - ((known - made) % 1000000 + 1000000) % 1000000)"
        seconds = self.dialect.divided(whole, 1_000_000)
        return self.stated(
            # Confirmed ones first: to group all predictions by id takes memory for each of them.
            f"SELECT {seconds} AS seconds, count(*) AS n FROM ("
            "SELECT confirmed.id, min(known) AS known, min(made) AS made FROM pumonitor_made "
            "AS predicted JOIN (SELECT id, min(known) AS known FROM pumonitor_said "
            "WHERE label = 1 GROUP BY id) AS confirmed ON predicted.id = confirmed.id "
            f"GROUP BY confirmed.id) AS pairs GROUP BY {seconds}",
            "pumonitor_made",
            "pumonitor_said",
        )

    def _examples(self, rows: str, problem: int, values: Values) -> Statement:
        return Statement(
            sql=f"SELECT shown, count(*) AS times FROM ({rows}) AS unusable "
            f"WHERE problem = {problem} GROUP BY shown ORDER BY times DESC, shown LIMIT 3",
            values=values.bound,
        )

    def _part(self, name: str) -> Statement:
        return self.stated(f"SELECT * FROM {name}", name)

    def stated(self, sql: str, *parts: str, values: Values | None = None) -> Statement:
        """Put the named parts a statement reads, and those they read, before it."""
        values = values or Values(self.dialect)
        wanted: set[str] = set()
        waiting = list(parts)
        while waiting:
            part = waiting.pop()
            if part not in wanted and part not in self.kept:
                wanted.add(part)
                waiting += _READS[part]
                if part == "pumonitor_first" and self.repeats:
                    waiting.append("pumonitor_ranked")
        bodies: dict[str, Callable[[Values], str]] = {
            "pumonitor_window": self._window,
            "pumonitor_repeated": self._repeated,
            "pumonitor_ranked": self._ranked,
            "pumonitor_first": self._first,
            "pumonitor_said": self._said,
            "pumonitor_moments": self._moments,
            "pumonitor_steps": self._steps,
            "pumonitor_states": self._states,
            "pumonitor_unmatched": self._unmatched,
            "pumonitor_made": self._made,
        }
        named = ", ".join(
            f"{name} AS ({body(values)})" for name, body in bodies.items() if name in wanted
        )
        return Statement(sql=f"WITH {named} {sql}" if named else sql, values=values.bound)

    def _window(self, values: Values) -> str:
        return self._window_rows(values, None, self.between)

    def _window_rows(
        self, values: Values, shown: Column | None, between: tuple[datetime, datetime] | None
    ) -> str:
        return prediction_rows(
            self.predictions,
            key=self.key,
            threshold=self.threshold,
            between=between,
            values=values,
            shown=shown,
        )

    def _made(self, values: Values) -> str:
        return prediction_times(self.predictions, key=self.key, values=values)

    def _repeated(self, _: Values) -> str:
        return "SELECT id FROM pumonitor_window GROUP BY id HAVING count(*) > 1"

    def _ranked(self, _: Values) -> str:
        order = ", ".join(["made", "score", "model_version", *self.segments])
        over = f"OVER (PARTITION BY seen.id ORDER BY {order})"
        return (
            f"SELECT seen.*, row_number() {over} AS place, "
            f"first_value(score) {over} AS standing FROM pumonitor_window AS seen "
            "JOIN pumonitor_repeated AS repeated ON seen.id = repeated.id"
        )

    def _first(self, _: Values) -> str:
        if not self.repeats:
            return "SELECT * FROM pumonitor_window"
        features = feature_columns(self.predictions, self.dialect)
        columns = ", ".join(
            ["id", "made", "score", "model_version", *self.segments, *features, "problem"]
        )
        return (
            f"SELECT {columns} FROM pumonitor_window AS seen WHERE NOT EXISTS "
            "(SELECT 1 FROM pumonitor_repeated AS repeated WHERE repeated.id = seen.id) "
            f"UNION ALL SELECT {columns} FROM pumonitor_ranked WHERE place = 1"
        )

    def _said(self, values: Values) -> str:
        return label_rows(self.labels, key=self.key, as_of=self.as_of[-1], values=values)

    def _moments(self, _: Values) -> str:
        """One row per id and time: rows of one moment that disagree say nothing.

        What was known long before a prediction is not about it.
        """
        too_early = CLOCKS_DIFFER // timedelta(microseconds=1)
        return (
            "SELECT said.id, made, known, count(*) AS said_rows, "
            "CASE WHEN min(label) = max(label) THEN min(label) ELSE 0 END AS state, "
            "CASE WHEN min(label) = max(label) THEN 0 ELSE 1 END AS disagrees, "
            "CASE WHEN min(label) = 1 THEN min(said.propensity) END AS propensity, "
            f"CASE WHEN {self._has_times} known < made - {too_early} THEN 1 ELSE 0 END AS refused "
            "FROM pumonitor_said AS said JOIN pumonitor_first AS predicted "
            "ON said.id = predicted.id GROUP BY said.id, made, known"
        )

    def _steps(self, _: Values) -> str:
        """With what was so before. The propensity is that of the first row that confirms.

        A later one could not be used at a moment before it.
        """
        return (
            "SELECT id, made, known, said_rows, state, disagrees, refused, "
            "lag(state) OVER (PARTITION BY id, refused ORDER BY known) AS earlier, "
            "first_value(propensity) OVER (PARTITION BY id, refused "
            "ORDER BY CASE WHEN propensity IS NULL THEN 1 ELSE 0 END, known) AS propensity "
            "FROM pumonitor_moments"
        )

    def _states(self, values: Values) -> str:
        states: list[str] = []
        digits: list[str] = []
        for place, moment in enumerate(self.as_of):
            until = values.write(f"as_of_{place}", microseconds(moment))
            counts = f"refused = 0 AND known <= {until}"
            latest = f"max(CASE WHEN {counts} THEN 4 * known + state + 1 END)"
            states.append(f"coalesce({latest} % 4 - 1, 0) AS state_{place}")
            digits.append(f"{3**place} * (1 + state_{place})")
        totals = (
            "min(CASE WHEN refused = 0 THEN propensity END) AS propensity, "
            "min(CASE WHEN refused = 0 AND state = 1 THEN known END) AS confirmed, "
            "sum(said_rows) AS label_rows, "
            "sum(CASE WHEN refused = 1 OR disagrees = 1 THEN 0 WHEN earlier = state THEN said_rows "
            "ELSE said_rows - 1 END) AS duplicates, "
            "sum(CASE WHEN refused = 0 AND disagrees = 1 THEN said_rows ELSE 0 END) AS conflicts, "
            "max(CASE WHEN refused = 0 AND earlier <> state THEN 1 ELSE 0 END) AS retractions, "
            f"sum(CASE WHEN {self._has_times} refused = 0 AND known < made THEN said_rows ELSE 0 "
            "END) AS early, "
            "sum(CASE WHEN refused = 1 THEN said_rows ELSE 0 END) AS refused"
        )
        history = " + ".join(digits)
        return (
            f"SELECT *, {history} AS history FROM (SELECT id, made, {', '.join(states)}, "
            f"{totals} FROM pumonitor_steps GROUP BY id, made) AS grouped"
        )

    @property
    def _has_times(self) -> str:
        # Without times of their own labels are known from 1970 on, and that is not early.
        return "" if self.labels.known_at is not None else "1 = 0 AND"

    def _unmatched(self, values: Values) -> str:
        within = ""
        if self.labels.known_at is not None:
            low = values.write("known_from", microseconds(self.between[0]))
            high = values.write("known_until", microseconds(self.between[1]))
            within = f"WHERE known >= {low} AND known < {high} "
        rows = label_rows(
            self.labels,
            key=self.key,
            as_of=max(self.as_of[-1], self.between[1]),
            values=values,
        )
        return f"SELECT id, count(*) AS n FROM ({rows}) AS said {within}GROUP BY id"
