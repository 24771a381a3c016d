"""SQL of the rows of both tables in one shape, whatever types their columns have."""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._score_grid import ScoreGrid
from pumonitor._valued import MOST_VALUE, value_cell_sql
from pumonitor.sources.column_types.column_kinds import Column, Key, Relation, named_column
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.monitored_tables import Channel, LabelWords
from pumonitor.sources.column_types.time_columns import (
    EARLIEST,
    LATEST,
    TimeColumn,
    bounds_of,
    microseconds,
    to_utc,
)
from pumonitor.sources.windows.statement_values import Values

PREDICTION_PROBLEMS: Final = ("id", "time", "score", "infinite score", "score out of range")
LABEL_PROBLEMS: Final = ("id", "known_at", "label", "propensity")
"""What can be wrong with a row, numbered from 1 in this order."""

NUMBERS: Final = frozenset({"integer", "number", "single"})
"""Kinds of columns whose values are numbers; cells of a CSV file are text until they are read."""

QUEUE_COARSER: Final = 16
"""So many cells of a score are one where rows are counted by those of something else as well."""

_ALWAYS: Final = (EARLIEST, LATEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionTable:
    """The predictions with the columns that were named.

    Attributes
    ----------
    only_probabilities : bool
        Whether a score below 0 or above 1 is wrong.
    ranked_by : Column, optional
        Which of the segments is the score that filled a queue: in its place is its cell of `grid`
        as text, empty where it cannot be used.
    value : Column, optional
        Which of the segments is what a row is worth: in its place is its cell in the same way.
    features, group
        Read where rows are asked for; none where they are counted.
    """

    relation: Relation
    id: Column
    time: TimeColumn
    score: Column
    model_version: Column | None
    segments: tuple[Column, ...]
    only_probabilities: bool
    ranked_by: Column | None = None
    value: Column | None = None
    features: tuple[Column, ...] = ()
    group: Column | None = None

    @property
    def in_cells(self) -> tuple[Column, ...]:
        """Segments that are numbers, in whose place are their cells."""
        return tuple(column for column in (self.ranked_by, self.value) if column is not None)

    @property
    def grid(self) -> ScoreGrid:
        """Cells of the score; fewer where rows are counted by other cells as well."""
        return ScoreGrid(
            scale="probability" if self.only_probabilities else "unbounded",
            coarser=QUEUE_COARSER if self.in_cells else 1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStates:
    """What labels may say of a row at a moment, whole numbers from `least` on.

    Attributes
    ----------
    least, number : int
        The first of them, and how many there are; 0 is among them, and says nothing.
    positive : tuple of int
        Those of rows that are known to be positive.
    disputed : tuple of int
        Those of rows of which two reviewers say otherwise: nobody took anything back.
    """

    least: int = -1
    number: int = 3
    positive: tuple[int, ...] = (1,)
    disputed: tuple[int, ...] = ()

    def histories(self, moments: int) -> int:
        """How many histories there are over some moments: one digit for each."""
        return int(self.number**moments)

    def of_histories(self, histories: NDArray[np.int64], moment: int) -> NDArray[np.int64]:
        """The state at one of the moments."""
        return np.asarray((histories // self.number**moment) % self.number + self.least)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTable:
    """The labels with the columns that were named.

    Attributes
    ----------
    states : LabelStates
        What `label` may be.
    are_queued : bool
        Whether its rows are cases that were queued for review; every row counts then.
    are_verdicts : bool
        Whether `label` is 1 for a positive and 0 for a negative row, which is read as -1. A row
        without a verdict is passed over.
    details : tuple of Column
        Further columns that are read as text.
    channel : (Column, tuple of str), optional
        A column, and its words in the rows that count.
    label_words : LabelWords or None
        What `label` has in place of 1, 0 and -1.
    is_checked : bool
        Whether all its rows are known to be usable.
    has_each_once : bool
        Whether no id is known to stand in it more than once.
    """

    relation: Relation
    id: Column
    known_at: TimeColumn | None
    label: Column | None
    propensity: Column | None
    states: LabelStates = LabelStates()
    are_queued: bool = False
    are_verdicts: bool = False
    details: tuple[Column, ...] = ()
    channel: tuple[Column, tuple[str, ...]] | None = None
    label_words: LabelWords | None = None
    is_checked: bool = False
    has_each_once: bool = False


def prediction_rows(
    table: PredictionTable,
    *,
    key: Key,
    threshold: float,
    between: tuple[datetime, datetime] | None,
    values: Values,
    shown: Column | None = None,
    stretches: Sequence[tuple[datetime, datetime]] = (),
) -> str:
    """Rows made in a stretch of time, or all, and those whose time cannot be read.

    With `stretches`, which lie within it, rows between these are mostly passed over.

    They are id, made (microseconds), score, model_version if there is such a column, segment_0 and
    so on, those of `feature_columns` and, if asked for, the column `shown` as text.
    """
    dialect = values.dialect
    others = {"score": _score(table.score, dialect, threshold)}
    if table.model_version is not None:
        others["model_version"] = _category(table.model_version, dialect)
    others |= {
        f"segment_{place}": _segment(table, column, dialect)
        for place, column in enumerate(table.segments)
    }
    others |= feature_columns(table, dialect)
    if shown is not None:
        others["shown"] = dialect.shown(shown.sql)
    timed = timed_rows(
        {"id": dialect.key(table.id.sql, table.id.kind, key)} | others,
        table.relation,
        table.time,
        name="made",
        between=between,
        values=values,
        stretches=stretches,
    )
    return (
        f"SELECT id, made, {', '.join(others)} FROM {timed}"
        f"{_exactly(table.time, 'made', between, values)}"
    )


def prediction_problem(table: PredictionTable, dialect: Dialect) -> str:
    """What is wrong with a row: 0, or the number of one of `PREDICTION_PROBLEMS`.

    Most often nothing is: what is asked first is all that is asked of these.
    """
    within = " AND score >= 0e0 AND score <= 1e0" if table.only_probabilities else ""
    wrong = _first_of(
        "id IS NULL",
        "made IS NULL",
        "score IS NULL",
        dialect.not_finite("score"),
        "score < 0e0 OR score > 1e0" if table.only_probabilities else None,
    )
    return (
        "CASE WHEN id IS NOT NULL AND made IS NOT NULL "
        f"AND NOT ({dialect.not_finite('score')}){within} THEN 0 ELSE {wrong} END"
    )


def feature_sql(column: Column, dialect: Dialect) -> str:
    """A feature: a number as it is, all else as text."""
    if column.kind in NUMBERS:
        return dialect.number(column.sql, column.kind)
    return dialect.category(column.sql, column.kind)


def feature_columns(table: PredictionTable, dialect: Dialect) -> dict[str, str]:
    """SQL of feature_0 and so on, numbers as they are and all else as text, and of entity."""
    found = {
        f"feature_{place}": feature_sql(column, dialect)
        for place, column in enumerate(table.features)
    }
    if table.group is not None:
        found["entity"] = dialect.category(table.group.sql, table.group.kind)
    return found


def prediction_ids(
    table: PredictionTable,
    *,
    key: Key,
    between: tuple[datetime, datetime] | None,
    values: Values,
) -> str:
    """Ids alone, of a stretch of time or a little more, or of all predictions."""
    raw = values.dialect.key(table.id.sql, table.id.kind, key)
    _bind_query(table.relation, table.time, between or _ALWAYS, values)
    return (
        f"SELECT {raw} AS id FROM {table.relation.sql} AS source"
        f"{_roughly(table.time, between, values)}"
    )


def prediction_times(table: PredictionTable, *, key: Key, values: Values) -> str:
    """Ids and times (`made`) of all predictions."""
    raw = {"id": values.dialect.key(table.id.sql, table.id.kind, key)}
    timed = timed_rows(raw, table.relation, table.time, name="made", between=None, values=values)
    return f"SELECT id, made FROM {timed}"


def prediction_ends(table: PredictionTable, values: Values) -> str | None:
    """All predictions: rows, those with a time, first and last time; None where it is no short cut.

    Files and many engines know the ends of a bare column without reading it.
    """
    column, dialect = table.time.column, values.dialect
    if column.kind != "moment":
        return None
    ends = table.relation.ends.get(column.name)
    if ends is None:
        _bind_query(table.relation, table.time, _ALWAYS, values)
        ends = (
            f"(SELECT count(*) AS n, count({column.sql}) AS timed, min({column.sql}) AS least, "
            f"max({column.sql}) AS most FROM {table.relation.sql} AS source)"
        )
    first, last = (dialect.clock(f"ends.{one}", "moment") for one in ("least", "most"))
    return f"SELECT n, timed, {first} AS first_made, {last} AS last_made FROM {ends} AS ends"


def label_rows(
    table: LabelTable,
    *,
    key: Key,
    as_of: datetime,
    values: Values,
    shown: Column | None = None,
) -> str:
    """Rows known by a moment, and those of which that cannot be read.

    They are id, known (microseconds; 0 without such a column), label (1, 0, -1), propensity (null
    but for positives), problem (as in `LABEL_PROBLEMS`) and perhaps `shown`.
    """
    dialect = values.dialect
    chance = "CAST(NULL AS " + dialect.double + ")"
    if table.propensity is not None:
        chance = dialect.number(table.propensity.sql, table.propensity.kind)
    raw = {
        "id": dialect.key(table.id.sql, table.id.kind, key),
        "label": _label(table, values),
        "chance": chance,
    }
    raw |= {
        f"detail_{place}": _category(column, dialect) for place, column in enumerate(table.details)
    }
    if table.are_verdicts and table.label is not None:
        raw["verdict"] = _category(table.label, dialect)
    if table.channel is not None:
        raw["channel"] = _category(table.channel[0], dialect)
    if shown is not None:
        raw["shown"] = dialect.shown(shown.sql)
    if "as_of" in table.relation.parameters:
        column = table.known_at
        values.bind(as_of=as_of if column is None else _in_terms_of(column, (as_of, as_of))[1])
    until = (EARLIEST, as_of)
    timed = timed_rows(
        raw, table.relation, table.known_at, name="known", between=until, values=values
    )
    problem = _first_of(
        "id IS NULL",
        "known IS NULL",
        "label IS NULL",
        "label = 1 AND (chance IS NULL OR NOT (chance > 0e0 AND chance <= 1e0))"
        if table.propensity is not None and table.states == LabelStates()
        else None,
    )
    others = [name for name in raw if name.startswith("detail_") or name == "shown"]
    only: list[str] = []
    if table.channel is not None:
        listed = (_word(word, f"channel_{at}", values) for at, word in enumerate(table.channel[1]))
        only.append(f"channel IN ({', '.join(listed)})")
    # By then everything is known: what lies beyond is no row to pass over, but a mistake to tell.
    if as_of < LATEST:
        only.append(f"(known <= {values.write('known_by', microseconds(as_of))} OR known IS NULL)")
    if "verdict" in raw and "" not in (table.label_words or LabelWords(positive=())).labels:
        only.append("verdict NOT IN ('', 'nan', 'NaN')")
    within = f" WHERE {' AND '.join(only)}" if only else ""
    # With two channels it is the chance of a random review, whatever the verdict is.
    own = "CASE WHEN label = 1 THEN chance END" if table.states == LabelStates() else "chance"
    return (
        f"SELECT id, known, label, {own} AS propensity, "
        f"{', '.join([f'{problem} AS problem', *others])} FROM {timed}{within}"
    )


def channel_column(
    relation: Relation, channel: Channel | None
) -> tuple[Column, tuple[str, ...]] | None:
    """The column that says which way rows came, and the words of those that count."""
    if channel is None:
        return None
    return named_column(relation, channel.column, role="channel"), channel.words


def timed_rows(
    raw: dict[str, str],
    relation: Relation,
    time: TimeColumn | None,
    *,
    name: str,
    between: tuple[datetime, datetime] | None,
    values: Values,
    stretches: Sequence[tuple[datetime, datetime]] = (),
) -> str:
    """A subquery of raw columns and the time as UTC microseconds.

    In two layers: local times are compared with many of a zone's changes, and read once.
    """
    if time is None:
        chosen = ", ".join(f"{sql} AS {alias}" for alias, sql in raw.items())
        return f"(SELECT 0 AS {name}, {chosen} FROM {relation.sql} AS source) AS timed"
    clocks = time.clocks(values.dialect)
    chosen = ", ".join(f"{sql} AS {alias}" for alias, sql in (raw | clocks).items())
    readings = [
        to_utc(clock, time.zone or "UTC", between=between or _ALWAYS, ambiguous=time.ambiguous)
        if clock == "local_clock"
        else clock
        for clock in clocks
    ]
    read = readings[0] if len(readings) == 1 else f"coalesce({', '.join(readings)})"
    # Labels have no earliest time: only their query's own parameters bound them.
    filtered = ""
    if name == "made":
        _bind_query(relation, time, between or _ALWAYS, values)
        filtered = _roughly(time, between, values, stretches)
    return (
        f"(SELECT {', '.join(raw)}, {read} AS {name} FROM "
        f"(SELECT {chosen} FROM {relation.sql} AS source{filtered}) AS stored) AS timed"
    )


def _bind_query(
    relation: Relation, time: TimeColumn, between: tuple[datetime, datetime], values: Values
) -> None:
    if relation.parameters:
        start, end = _in_terms_of(time, between)
        values.bind(start=start, end=end)


def _in_terms_of(time: TimeColumn, between: tuple[datetime, datetime]) -> tuple[object, object]:
    """What a query's own parameters are: values that its column of times can be compared with."""
    zone = None if time.column.kind == "moment" else time.zone
    return bounds_of(*between, zone=zone, unit=time.unit)


def _roughly(
    time: TimeColumn,
    between: tuple[datetime, datetime] | None,
    values: Values,
    stretches: Sequence[tuple[datetime, datetime]] = (),
) -> str:
    """The filter on the bare column, which statistics of files and indexes can answer."""
    bounds = time.bounds(*between) if between is not None else None
    if bounds is None:
        return ""
    within = _within(time, bounds, values)
    if len(stretches) > 1:
        parts = [
            _within(time, time.bounds(*stretch) or bounds, values, f"_{place}")
            for place, stretch in enumerate(stretches)
        ]
        within = f"({within} AND ({' OR '.join(parts)}))"
    return f" WHERE {within} OR {time.column.sql} IS NULL"


def _within(
    time: TimeColumn, bounds: tuple[object, object], values: Values, number: str = ""
) -> str:
    column, kind = time.column.sql, time.column.kind
    low = values.write_bound(f"earliest{number}", bounds[0], kind)
    high = values.write_bound(f"latest{number}", bounds[1], kind, upper=True)
    return f"({column} >= {low} AND {column} < {high})"


def _exactly(
    time: TimeColumn, name: str, between: tuple[datetime, datetime] | None, values: Values
) -> str:
    if between is None or time.is_exact:
        return ""
    low = values.write("window_start", microseconds(between[0]))
    high = values.write("window_end", microseconds(between[1]))
    return f" WHERE ({name} >= {low} AND {name} < {high}) OR {name} IS NULL"


def _score(column: Column, dialect: Dialect, threshold: float) -> str:
    score = dialect.number(column.sql, column.kind)
    nearest = float(np.float32(threshold))
    if column.kind != "single" or nearest == threshold:
        return score
    # 0.7 in 32 bits is below 0.7 in 64: without this a score of 0.7 would miss a threshold of 0.7.
    # No other score changes place, as this one is the nearest to the threshold.
    written = dialect.double_constant
    return f"CASE WHEN {score} = {written(nearest)} THEN {written(threshold)} ELSE {score} END"


def _category(column: Column, dialect: Dialect) -> str:
    return f"coalesce({dialect.category(column.sql, column.kind)}, '')"


def _segment(table: PredictionTable, column: Column, dialect: Dialect) -> str:
    if column is table.ranked_by:
        return _queue_cell(table, column, dialect)
    return _value_cell(column, dialect) if column is table.value else _category(column, dialect)


def _value_cell(column: Column, dialect: Dialect) -> str:
    """The cell of what a row is worth, as text; empty where that cannot be used."""
    value = dialect.number(column.sql, column.kind)
    written = dialect.double_constant
    cell = value_cell_sql(value, floor=dialect.floor, constant=written)
    text = dialect.category(cell, "integer")
    beyond = f"{value} < {written(0.0)} OR {value} >= {written(MOST_VALUE)}"
    return f"CASE WHEN {dialect.not_finite(value)} OR {beyond} THEN '' ELSE {text} END"


def _queue_cell(table: PredictionTable, column: Column, dialect: Dialect) -> str:
    """The cell of the score that filled a queue, as text."""
    score = dialect.number(column.sql, column.kind)
    cell = table.grid.sql(score, floor=dialect.floor, constant=dialect.double_constant)
    beyond = f" OR {score} < 0e0 OR {score} > 1e0" if table.only_probabilities else ""
    text = dialect.category(cell, "integer")
    return f"CASE WHEN {dialect.not_finite(score)}{beyond} THEN '' ELSE {text} END"


def _label(table: LabelTable, values: Values) -> str:
    dialect, column, words = values.dialect, table.label, table.label_words
    if column is None:
        return "1"
    if table.states != LabelStates():
        return column.sql
    if words is not None:
        cases = " ".join(
            f"WHEN {_word(word, f'word_{index}', values)} THEN {label}"
            for index, (word, label) in enumerate(words.labels.items())
        )
        return f"CASE {_category(column, dialect)} {cases} END"
    # Which label the values 1, -1 and 0 are.
    labels = {1: 1, 0: -1} if table.are_verdicts else {1: 1, -1: -1, 0: 0}
    if column.kind == "boolean":
        return f"CASE WHEN {column.sql} THEN 1 WHEN NOT {column.sql} THEN {labels[0]} END"
    if table.are_verdicts and column.kind in {"text", "cell"}:
        word = f"lower({_category(column, dialect)})"
        spellings = {1: ("1", "1.0", "true"), -1: ("0", "0.0", "false"), 0: ("undecided",)}
        cases = " ".join(
            f"WHEN {word} IN ({', '.join(map(dialect.written, words_of_it))}) THEN {label}"
            for label, words_of_it in spellings.items()
        )
        return f"CASE {cases} END"
    value = dialect.number(column.sql, column.kind)
    spelled = ""
    if column.kind == "cell":
        spelled = (
            f"WHEN lower({column.sql}) = 'true' THEN 1 WHEN lower({column.sql}) = 'false' THEN 0 "
        )
    cases = " ".join(f"WHEN {value} = {given} THEN {label}" for given, label in labels.items())
    return f"CASE {spelled}{cases} END"


def _word(word: str, name: str, values: Values) -> str:
    """A word of a user: a parameter where the engine takes them."""
    dialect = values.dialect
    return values.write(name, word) if dialect.takes_parameters else dialect.written(word)


def _first_of(*conditions: str | None) -> str:
    cases = " ".join(
        f"WHEN {condition} THEN {number}"
        for number, condition in enumerate(conditions, start=1)
        if condition is not None
    )
    return f"CASE {cases} ELSE 0 END"
