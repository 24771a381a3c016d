"""The one count query, in the SQL that all engines share."""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from datetime import datetime
from math import floor
from typing import Final

from pumonitor.sources.column_types.column_kinds import Column
from pumonitor.sources.column_types.time_columns import PLAUSIBLE_FROM, microseconds
from pumonitor.sources.windows.counts_parts import QueryParts, Statement
from pumonitor.sources.windows.counts_rows import (
    Values,
    label_rows,
    prediction_ids,
)

__all__ = ["MOST_GROUPS", "CountQuery", "Statement"]

MOST_GROUPS: Final = 2_000_000


class CountQuery(QueryParts):
    """Statements that count one window; the attributes are those of its parts."""

    __slots__ = ()

    def rows(self) -> Statement:
        """How many rows the window has."""
        return self.stated("SELECT count(*) AS n FROM pumonitor_window", "pumonitor_window")

    def ids(self) -> Statement:
        """How many different ids there are in the window."""
        return self.stated(
            "SELECT count(*) AS n FROM (SELECT id FROM pumonitor_window GROUP BY id) AS grouped",
            "pumonitor_window",
        )

    def id_hashes(self, *, part: int = 0, parts: int = 1) -> Statement:
        """A hash of each row's id, in one of several parts of the window."""
        hashed = (self.dialect.hashed_id or "{}").format("id")
        only = f" WHERE {hashed} % {parts} = {part}" if parts > 1 else ""
        return self.stated(
            f"SELECT {hashed} AS hashed FROM pumonitor_window{only}", "pumonitor_window"
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
        above = (
            f"CASE WHEN score >= {self.dialect.double_constant(self.threshold)} THEN 1 ELSE 0 END"
        )
        index = self.grid.sql("score", floor=self.dialect.floor, constant=double)
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
        over = self.dialect.remainder("(known - made)", 1_000_000)
        over = self.dialect.remainder(f"({over} + 1000000)", 1_000_000)
        whole = f"(known - made - {over})"
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
