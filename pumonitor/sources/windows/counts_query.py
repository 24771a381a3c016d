"""The one count query, in the SQL that all engines share."""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import floor
from typing import Final

from pumonitor.sources.column_types.column_kinds import Column
from pumonitor.sources.column_types.time_columns import PLAUSIBLE_FROM, microseconds
from pumonitor.sources.windows.counts_parts import QueryParts, Statement
from pumonitor.sources.windows.counts_rows import (
    label_rows,
    prediction_ends,
    prediction_ids,
    prediction_problem,
)
from pumonitor.sources.windows.statement_values import Values

__all__ = ["LABEL_TOTALS", "MOST_GROUPS", "CountQuery", "Statement"]

MOST_GROUPS: Final = 2_000_000
LABEL_TOTALS: Final = (
    "label_rows",
    "duplicates",
    "conflicts",
    "retractions",
    "early",
    "refused",
)
"""What is added up over the ids with labels."""

_SHORT: Final = 2**30
"""Twice what is said of a row that no label was ever known of is the most that is said of any."""
_NUMBERS: Final = frozenset(("part", "place", "cell", "history", "n", *LABEL_TOTALS))
_LABEL_PROBLEMS: Final = "SELECT problem, count(*) AS n FROM pumonitor_said GROUP BY problem"


class CountQuery(QueryParts):
    """Statements that count one window; the attributes are those of its parts."""

    __slots__ = ()

    def rows(self) -> Statement:
        """How many rows there are; of ids that are numbers the least and the largest."""
        ends = ", min(id) AS least, max(id) AS largest" if self.key == "integer" else ""
        return self.stated(f"SELECT count(*) AS n{ends} FROM pumonitor_rows", "pumonitor_rows")

    def ids(self) -> Statement:
        """How many different ids there are, by window."""
        return self.stated(self._different, "pumonitor_window")

    @property
    def _different(self) -> str:
        key, number = self.dialect.different("id", self.key)
        each = (
            f"(SELECT {self.by}{number} AS ids FROM pumonitor_window GROUP BY {self.by}{key}) "
            "AS grouped"
        )
        return self._by_window("coalesce(sum(ids), 0) AS n", each)

    def id_hashes(self, *, part: int = 0, parts: int = 1) -> Statement:
        """A hash of each row's id and window, in one of several parts."""
        hashed = (self.dialect.hashed_id or "{}").format(f"{self.by}id")
        only = f" WHERE {hashed} % {parts} = {part}" if parts > 1 else ""
        return self.stated(f"SELECT {hashed} AS hashed FROM pumonitor_rows{only}", "pumonitor_rows")

    def ids_from(self, least: int, largest: int, *, most: int) -> Statement:
        """Ids from one whole number to another, so many at most."""
        return self.stated(
            f"SELECT id FROM pumonitor_rows WHERE id >= {least} AND id <= {largest} LIMIT {most}",
            "pumonitor_rows",
        )

    def some_rows(self, most: int) -> Statement:
        """How many rows there are, so many at most; columns that do not matter are not read."""
        return self.stated(
            f"SELECT count(*) AS n FROM (SELECT made FROM pumonitor_rows LIMIT {most}) AS few",
            "pumonitor_rows",
        )

    def held(self, most: int) -> Statement:
        """The rows themselves, so many at most, for an engine that can hold them."""
        return self.stated(f"SELECT * FROM pumonitor_rows LIMIT {most}", "pumonitor_rows")

    def repeated(self) -> Statement:
        """Ids that stand more than once."""
        return self._part("pumonitor_repeated")

    def repeats_found(self) -> Statement:
        """Numbers of repeated rows: with the first row's score, with another, unusable."""
        return self.stated(self._repeats, "pumonitor_ranked")

    @property
    def _repeats(self) -> str:
        return self._by_window(
            "sum(CASE WHEN standing_at > 1 AND score = standing THEN 1 ELSE 0 END) AS same, "
            "sum(CASE WHEN standing_at > 1 AND score <> standing THEN 1 ELSE 0 END) AS other, "
            "max(problem) AS problem",
            "pumonitor_ranked",
        )

    def _by_window(self, chosen: str, rows: str) -> str:
        """What is chosen of all rows, by window where there are several."""
        grouped = " GROUP BY place" if self.windows else ""
        return f"SELECT {self.by}{chosen} FROM {rows}{grouped}"

    def problems(self) -> Statement:
        """Numbers of the window's rows by what is wrong with them."""
        return self.stated(
            "SELECT problem, count(*) AS n FROM pumonitor_window GROUP BY problem",
            "pumonitor_window",
        )

    def label_problems(self) -> Statement:
        """Numbers of label rows by what is wrong with them."""
        return self.stated(_LABEL_PROBLEMS, "pumonitor_said")

    def rows_with_labels(self) -> Statement:
        """Those of `pumonitor_first` that labels are known of; kept in its place they are all."""
        within = f" WHERE {' AND '.join(self.said_within)}" if self.said_within else ""
        return self.stated(
            "SELECT * FROM pumonitor_first WHERE id IN "
            f"(SELECT said.id FROM pumonitor_said AS said{within})",
            "pumonitor_first",
            "pumonitor_said",
        )

    def states(self) -> Statement:
        """Ids of the window that labels are known of, with all that was said about each."""
        return self._part("pumonitor_states")

    def groups(self) -> Statement:
        """Numbers of rows by all the keys; a cell below 0 is minus a problem."""
        return self.stated(self._groups, "pumonitor_first", "pumonitor_states")

    @property
    def _groups(self) -> str:
        # What is the same in all rows is no key: text and doubles cost most of the grouping.
        has_version = self.predictions.model_version is not None
        has_propensity = self.labels.propensity is not None
        version = ["model_version"] if has_version else []
        propensity = ["propensity"] if has_propensity else []
        keys = ", ".join([*version, *self.segments, "cell", "history", *propensity])
        same = "" if has_version else "'' AS model_version, "
        same += "" if has_propensity else f"CAST(NULL AS {self.dialect.double}) AS propensity, "
        cell = self.cell
        history = f"coalesce(history, {self.unlabeled})"
        if self.dialect.short is not None:
            cell = f"CAST({cell} AS {self.dialect.short})"
            if self.unlabeled < _SHORT:
                history = f"CAST({history} AS {self.dialect.short})"
        chosen = "".join(f"{one}, " for one in [*version, *self.segments])
        place = "predicted.place AS place, " if self.windows else ""
        return (
            f"SELECT {self.by}{same}{keys}, min(score) AS lower_score, max(score) AS upper_score, "
            f"count(*) AS n FROM (SELECT {self.dialect.broadcast('stated')}{place}{chosen}"
            f"{cell} AS cell, score, "
            f"{history} AS history, propensity "
            "FROM pumonitor_first AS predicted LEFT JOIN pumonitor_states AS stated "
            f"ON {self.same('predicted', 'stated')}) AS placed "
            f"GROUP BY {self.by}{keys} LIMIT {MOST_GROUPS + 1}"
        )

    def scores(self) -> Statement:
        """Scores of all rows, null where a row cannot be used."""
        return self.stated(
            "SELECT CASE WHEN problem = 0 THEN score END AS score FROM pumonitor_first",
            "pumonitor_first",
        )

    def told(self) -> Statement:
        """Rows whose labels say anything at any moment, with what they say."""
        return self.stated(
            "SELECT score, history, propensity FROM pumonitor_first AS predicted JOIN "
            f"pumonitor_states AS stated ON {self.same('predicted', 'stated')} "
            f"WHERE history <> {self.unlabeled} OR propensity IS NOT NULL",
            "pumonitor_first",
            "pumonitor_states",
        )

    @property
    def cell(self) -> str:
        """SQL of the cell of a row, twice that of its score and 1 from the threshold on."""
        double = self.dialect.double_constant
        above = f"CASE WHEN score >= {double(self.threshold)} THEN 1 ELSE 0 END"
        index = self.grid.sql("score", floor=self.dialect.floor, constant=double)
        return f"CASE WHEN problem > 0 THEN -problem ELSE 2 * {index} + {above} END"

    def found(self) -> Statement:
        """Totals over the ids with labels, by first moment as a positive and by delay."""
        return self.stated(self._found, "pumonitor_states")

    @property
    def _found(self) -> str:
        positive = [self.was_positive(place) for place in range(self.moments)]
        moment = " ".join(f"WHEN {one} THEN {place}" for place, one in enumerate(positive))
        bucket = " ".join(
            f"WHEN confirmed - made <= {floor(edge * 1e6)} THEN {place}"
            for place, edge in enumerate(self.delay_edges)
        )
        bucket = f"CASE {bucket} ELSE {len(self.delay_edges)} END" if bucket else "0"
        sums = ", ".join(f"sum({name}) AS {name}" for name in LABEL_TOTALS)
        return (
            f"SELECT {self.by}moment, bucket, count(*) AS ids, {sums} FROM (SELECT *, "
            f"CASE WHEN {positive[-1]} THEN CASE {moment} END ELSE -1 END AS moment, "
            f"{bucket} AS bucket FROM pumonitor_states) AS stated "
            f"GROUP BY {self.by}moment, bucket"
        )

    def was_positive(self, place: int) -> str:
        """Whether the digit of a history for one of the moments is that of a positive."""
        states = self.labels.states
        digits = self.dialect.divided("history", states.histories(place)) if place else "history"
        digit = self.dialect.remainder(digits, states.number)
        return " OR ".join(f"{digit} = {state - states.least}" for state in states.positive)

    def everything(self, *, with_orphans: bool) -> Statement:
        """All that is asked of a window or of several, in one statement.

        What a row is about says `part`, from 0: groups, totals over labels (moment in
        `history`, bucket in `cell`), problems of labels (`cell`), different ids or what is found of
        repeated ones, and labels without prediction.
        """
        by = "place" if self.windows else "0"
        groups = ("model_version", *self.segments, "cell", "history", "propensity")
        scores = ("lower_score", "upper_score", "n")
        parts = [
            self._answer(0, by, f"({self._groups})", {one: one for one in (*groups, *scores)}),
            self._answer(
                1,
                by,
                f"({self._found})",
                {"history": "moment", "cell": "bucket", "n": "ids"}
                | {one: one for one in LABEL_TOTALS},
            ),
            self._answer(2, "0", f"({_LABEL_PROBLEMS})", {"cell": "problem", "n": "n"}),
        ]
        reads = ["pumonitor_first", "pumonitor_states", "pumonitor_said", "pumonitor_window"]
        if self.repeats:
            reads.append("pumonitor_ranked")
            told = {"n": "coalesce(same, 0)", "cell": "coalesce(other, 0)"}
            told["history"] = "coalesce(problem, 0)"
            parts.append(self._answer(4, by, f"({self._repeats})", told))
        else:
            parts.append(self._answer(3, by, f"({self._different})", {"n": "n"}))
        values = Values(self.dialect)
        if with_orphans:
            reads.append("pumonitor_unmatched")
            by = by if self.by_known else "0"
            sql = self._orphans(values)
            parts.append(self._answer(5, by, f"({sql})", {"n": "n"}))
        return self.stated(" UNION ALL ".join(parts), *reads, values=values)

    def _answer(self, part: int, place: str, rows: str, given: Mapping[str, str]) -> str:
        """Rows in the one shape of `everything`."""
        nothing = dict.fromkeys(("model_version", *self.segments), "''")
        nothing |= dict.fromkeys(("cell", "history"), "0")
        empty = f"CAST(NULL AS {self.dialect.double})"
        nothing |= dict.fromkeys(("propensity", "lower_score", "upper_score"), empty)
        nothing |= dict.fromkeys(("n", *LABEL_TOTALS), "0")
        whole = self.dialect.whole
        chosen = ", ".join(
            f"CAST({sql} AS {whole}) AS {name}" if name in _NUMBERS else f"{sql} AS {name}"
            for name, sql in ({"part": str(part), "place": place} | nothing | dict(given)).items()
        )
        return f"SELECT {chosen} FROM {rows} AS part_{part}"

    def unmatched(self) -> Statement:
        """Ids, with numbers of rows, of labels known in the window: those to look for."""
        return self._part("pumonitor_unmatched")

    def unmatched_ids(self) -> Statement:
        """How many these are."""
        return self.stated("SELECT count(*) AS n FROM pumonitor_unmatched", "pumonitor_unmatched")

    def still_unmatched(self, between: tuple[datetime, datetime]) -> Statement:
        """Those of them that are in no prediction of a stretch of time."""
        values = Values(self.dialect)
        chosen = "id, place, n" if self.by_known else "id, n"
        sql = f"SELECT {chosen} FROM {self._without_prediction(between, values)}"
        return self.stated(sql, "pumonitor_unmatched", values=values)

    def orphans(self) -> Statement:
        """How many rows are in no prediction at all, by window where that tells them apart."""
        values = Values(self.dialect)
        return self.stated(self._orphans(values), "pumonitor_unmatched", values=values)

    def _orphans(self, values: Values) -> str:
        place, grouped = ("place, ", " GROUP BY place") if self.by_known else ("", "")
        rows = self._without_prediction(None, values)
        return f"SELECT {place}coalesce(sum(n), 0) AS n FROM {rows}{grouped}"

    def _without_prediction(self, between: tuple[datetime, datetime] | None, values: Values) -> str:
        """Ids of predictions pass by the few that are looked for, never the other way round."""
        ids = prediction_ids(self.predictions, key=self.key, between=between, values=values)
        sliced = "" if self.only is None else f" AND {self.only.labels.format('id')}"
        return (
            f"pumonitor_unmatched WHERE id NOT IN (SELECT id FROM ({ids}) "
            f"AS made WHERE id IN (SELECT id FROM pumonitor_unmatched){sliced})"
        )

    def examples(self, problem: int, shown: Column, *, of_all: bool = False) -> Statement:
        """Most frequent values of a column among the window's rows, or all, with a problem."""
        values = Values(self.dialect)
        rows = self._window_rows(values, shown, None if of_all else self.between)
        wrong = prediction_problem(self.predictions, self.dialect)
        told = f"SELECT shown, {wrong} AS problem FROM ({rows}) AS found"
        return self._examples(told, problem, values)

    def label_examples(self, problem: int, shown: Column) -> Statement:
        """The same for labels."""
        values = Values(self.dialect)
        rows = label_rows(
            self.labels, key=self.key, as_of=self.as_of[-1], values=values, shown=shown
        )
        return self._examples(rows, problem, values)

    def labels_as_said(self, *, most: int | None = None) -> Statement:
        """All label rows known by the last moment, or so many, for an engine elsewhere."""
        limit = "" if most is None else f" LIMIT {most}"
        return self.stated(
            f"SELECT * FROM pumonitor_said{limit}",
            "pumonitor_said",
        )

    def ends(self) -> Statement | None:
        """Predictions: rows, rows with a time, first and last time; None where that is no less."""
        values = Values(self.dialect)
        sql = prediction_ends(self.predictions, values)
        return None if sql is None else self.stated(sql, values=values)

    def span(self, now: datetime) -> Statement:
        """Predictions: rows, first and last time until now, numbers of times that are wrong.

        Wrong are those that cannot be read, are of old, or are after now; the last one of all ends
        the answer.
        """
        values = Values(self.dialect)
        limit = values.write("now", microseconds(now))
        oldest = values.write("oldest", microseconds(PLAUSIBLE_FROM))
        return self.stated(
            "SELECT count(*) AS n, min(made) AS first_made, "
            f"max(CASE WHEN made <= {limit} THEN made END) AS last_made, "
            "sum(CASE WHEN made IS NULL THEN 1 ELSE 0 END) AS unread, "
            f"sum(CASE WHEN made < {oldest} THEN 1 ELSE 0 END) AS earlier, "
            f"sum(CASE WHEN made > {limit} THEN 1 ELSE 0 END) AS later, max(made) AS latest "
            "FROM pumonitor_made",
            "pumonitor_made",
            values=values,
        )

    def rows_of_day(self, start: datetime) -> Statement:
        """Predictions of the day after a moment."""
        values = Values(self.dialect)
        first = values.write("day", microseconds(start))
        last = values.write("day_end", microseconds(start) + 86_400_000_000)
        return self.stated(
            f"SELECT count(*) AS n FROM pumonitor_made WHERE made > {first} AND made <= {last}",
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
