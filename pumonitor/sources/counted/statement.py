"""One SELECT that counts a window and gives a set of the table of counts, for any engine.

It is the statement that a source asks, with its answer brought into the shape of the table: so a
team can run it where nothing else may run, and no row leaves.
"""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect, values as constants)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final, Literal

from pumonitor._score_grid import ScoreGrid
from pumonitor.errors import InputError
from pumonitor.ports import CountRequest
from pumonitor.sources.column_types.column_kinds import (
    Column,
    Kind,
    Relation,
    key_of,
    named_column,
)
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.column_types.time_columns import TimeColumn, microseconds
from pumonitor.sources.counted.schema import (
    DELAY,
    FOUND,
    GROUP,
    PROBLEM,
    RULE,
    TOTALS,
    VERSION,
    CountedSettings,
    fields_of,
    moments_text,
)
from pumonitor.sources.windows.counts_parts import Statement
from pumonitor.sources.windows.counts_query import CountQuery
from pumonitor.sources.windows.counts_rows import LabelTable, PredictionTable, channel_column
from pumonitor.sources.windows.statement_values import Values

_KINDS: Final[Mapping[str, Kind]] = {
    "id": "text",
    "score": "number",
    "model_version": "text",
    "segment": "text",
    "label": "integer",
    "propensity": "number",
    "channel": "text",
}
"""What columns hold where nothing is said; times are as their zone or unit tells."""

# Which part of the answer each total is added up from, and how.
_OF_LABELS: Final = {
    "label_rows": "label_rows",
    "duplicate_labels": "duplicates",
    "conflicting_labels": "conflicts",
    "retracted_labels": "retractions",
    "early_labels": "early",
    "refused_labels": "refused",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTables:
    """Two tables that nobody looks at before the statement is run.

    Attributes
    ----------
    predictions, positives : str
        Their names, with dots between their parts.
    prediction_columns : PredictionColumns
    label_columns : LabelColumns
    kinds : mapping of str to str
        What columns hold that hold something else than is usual: as `Column.kind`, by name.
    """

    predictions: str
    prediction_columns: PredictionColumns
    positives: str
    label_columns: LabelColumns
    kinds: Mapping[str, Kind]


def counting_statement(
    tables: DeclaredTables,
    request: CountRequest,
    *,
    dialect: Dialect,
    score_scale: Literal["probability", "unbounded"],
    counted_at: datetime,
) -> str:
    """The SELECT of one window at all its moments.

    Raises
    ------
    InputError
        If a column cannot mean what it is named for, or if the engine cannot read times of this
        kind by SQL alone.
    """
    written = _writing_values(dialect)
    predictions, labels = _predictions(tables, written, score_scale), _labels(tables, written)
    query = CountQuery(
        predictions=predictions,
        labels=labels,
        dialect=written,
        grid=ScoreGrid(scale=score_scale),
        key=key_of(predictions.relation, predictions.id, labels.relation, labels.id),
        between=(request.window.start, request.window.end),
        as_of=request.as_of,
        threshold=request.threshold,
        delay_edges=request.delay_edges,
        # Whether ids are repeated is not known before: both questions are asked.
        repeats=True,
    )
    settings = CountedSettings.of(
        request, score_scale=score_scale, segments=tables.prediction_columns.segments
    )
    sql = set_statement(query, request, settings, counted_at=counted_at).sql
    if "pumonitor_clock" in sql:
        msg = (
            f"{dialect.name} reads text as times only through this program: store times as whole "
            "numbers, with their time_unit, or run the monitor beside the database"
        )
        raise InputError(msg)
    return sql


def set_statement(
    query: CountQuery,
    request: CountRequest,
    settings: CountedSettings,
    *,
    counted_at: datetime,
    rules: Sequence[str] = (),
) -> Statement:
    """The SELECT of a window's set, from the query that counts it.

    With reviews `rules` are reasons that were taken for rules.
    """
    written = query.dialect.written
    constants = {
        "format": str(VERSION),
        "settings": written(settings.text),
        "counted_at": str(microseconds(counted_at)),
        "window_start": str(microseconds(request.window.start)),
        "window_end": str(microseconds(request.window.end)),
        "moments": written(moments_text(request.as_of)),
    }
    given = {field.name: getattr(query, field.name) for field in fields(query)}
    asked = _SetQuery(**given, constants=constants, rules=tuple(rules))
    return asked.everything(with_orphans=True)


def table_definition(table: str, *, segments: int, dialect: Dialect) -> str:
    """The statement that makes a table of counts."""
    types = {"bigint": dialect.whole, "double": dialect.double, "text": dialect.text}
    path = ".".join(map(dialect.named, table.split(".")))
    columns = ",\n  ".join(
        f"{dialect.named(field.name)} {types[field.type]}" for field in fields_of(segments)
    )
    return f"CREATE TABLE IF NOT EXISTS {path} (\n  {columns}\n)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _SetQuery(CountQuery):
    """The count query, with its answer as rows of the table of counts."""

    constants: Mapping[str, str]
    rules: tuple[str, ...] = ()

    def stated(self, sql: str, *parts: str, values: Values | None = None) -> Statement:
        """Each row of the answer is joined with numbers, and gives a row for each that concerns it.

        0 is itself: a group, a delay or a problem. The others are the totals it adds to.
        """
        numbers = " UNION ALL ".join(
            f"SELECT {place} AS number" for place in range(1 + len(TOTALS))
        )
        keys = ("kind", "name", "model_version", "cell", "history", "propensity")
        segments = self.segments
        grouped = ", ".join((*keys, *segments))
        columns = {field.name: field.name for field in fields_of(len(segments))}
        columns |= {"lower_score": "min(lower_score)", "upper_score": "max(upper_score)"}
        columns["n"] = f"CAST(sum(n) AS {self.dialect.whole})"
        columns |= {one: self.dialect.plain(one) for one in ("model_version", *segments)}
        columns |= dict(self.constants)
        chosen = ", ".join(f"{sql} AS {self.dialect.named(name)}" for name, sql in columns.items())
        return CountQuery.stated(
            self,
            f"SELECT {chosen} FROM (SELECT {self._rows_of_set} FROM ({sql}) AS answered "
            # Groups, the most by far, add to the first total alone.
            f"JOIN ({numbers}) AS numbers ON part > 0 OR number < 2) AS told WHERE n IS NOT NULL "
            f"GROUP BY {grouped}{self._rows_of_rules}",
            *parts,
            values=values,
        )

    @property
    def _rows_of_rules(self) -> str:
        """A row for each reason that was taken for a rule."""
        nothing = {
            "bigint": "0",
            "double": f"CAST(NULL AS {self.dialect.double})",
            "text": "''",
        }
        columns = {field.name: nothing[field.type] for field in fields_of(len(self.segments))}
        columns |= {"kind": f"'{RULE}'", "n": f"CAST(1 AS {self.dialect.whole})"}
        columns |= dict(self.constants)
        return "".join(
            " UNION ALL SELECT "
            + ", ".join((columns | {"name": self.dialect.written(word)}).values())
            for word in self.rules
        )

    @property
    def _rows_of_set(self) -> str:
        has_delays = "history >= 0" if self.labels.known_at is not None else "1 = 0"
        # Of repeated rows only the worst problem is told: the first of them may have none.
        is_problem = (
            "((part = 0 AND cell < 0) OR (part = 2 AND cell > 0) OR (part = 4 AND history > 0))"
        )
        kind = (
            f"CASE WHEN number > 0 THEN '{FOUND}' WHEN {is_problem} THEN '{PROBLEM}' "
            f"WHEN part = 0 THEN '{GROUP}' ELSE '{DELAY}' END"
        )
        names = " ".join(
            f"WHEN {place} THEN '{name}'" for place, name in enumerate(TOTALS, start=1)
        )
        about = "CASE WHEN part = 2 THEN 'positives' ELSE 'predictions' END"
        name = f"CASE number {names} ELSE CASE WHEN {is_problem} THEN {about} ELSE '' END END"
        own = (
            f"CASE WHEN part = 0 THEN n WHEN part = 1 AND {has_delays} THEN n "
            "WHEN part = 2 AND cell > 0 THEN n WHEN part = 4 AND history > 0 THEN 1 END"
        )
        totals = " ".join(
            f"WHEN {place} THEN {self._added(name)}" for place, name in enumerate(TOTALS, start=1)
        )
        itself = {one: f"CASE WHEN number = 0 THEN {one} ELSE '' END" for one in self._texts}
        cell = "CASE WHEN part = 4 THEN history ELSE cell END"
        itself |= {
            one: f"CASE WHEN number = 0 THEN {sql} ELSE 0 END"
            for one, sql in {"cell": cell, "history": "history"}.items()
        }
        itself |= {
            one: f"CASE WHEN number = 0 THEN {one} END"
            for one in ("lower_score", "upper_score", "propensity")
        }
        told = {"kind": kind, "name": name, **itself}
        told["n"] = f"CASE number {totals} ELSE {own} END"
        return ", ".join(f"{sql} AS {one}" for one, sql in told.items())

    @property
    def _texts(self) -> tuple[str, ...]:
        return ("model_version", *self.segments)

    @property
    def _different(self) -> str:
        """Where no id is repeated one row gives all totals their 0."""
        return "SELECT 0 AS n"

    def _added(self, name: str) -> str:
        """What a row of the answer adds to a total; every total gets at least a 0."""
        if name == "predictions":
            return "CASE WHEN part = 0 THEN n WHEN part IN (3, 4) THEN 0 END"
        if name == "duplicate_predictions":
            return "CASE WHEN part IN (3, 4) THEN n END"
        if name == "conflicting_predictions":
            return "CASE WHEN part IN (3, 4) THEN cell END"
        if name == "orphan_labels":
            return "CASE WHEN part = 5 THEN n END"
        return f"CASE WHEN part = 1 THEN {_OF_LABELS[name]} WHEN part IN (3, 4) THEN 0 END"


def _predictions(
    tables: DeclaredTables, dialect: Dialect, score_scale: Literal["probability", "unbounded"]
) -> PredictionTable:
    columns = tables.prediction_columns
    roles = {columns.id: "id", columns.time: "time", columns.score: "score"}
    roles |= dict.fromkeys(columns.segments, "segment")
    if columns.model_version is not None:
        roles[columns.model_version] = "model_version"
    relation = _declared(
        f"predictions {tables.predictions}",
        tables.predictions,
        roles,
        tables.kinds,
        dialect,
        columns,
    )
    version = columns.model_version
    return PredictionTable(
        relation=relation,
        id=named_column(relation, columns.id, role="id"),
        time=_time(relation, columns.time, columns, role="time"),
        score=named_column(relation, columns.score, role="score"),
        model_version=None
        if version is None
        else named_column(relation, version, role="model_version"),
        segments=tuple(named_column(relation, one, role="segment") for one in columns.segments),
        only_probabilities=score_scale == "probability",
    )


def _labels(tables: DeclaredTables, dialect: Dialect) -> LabelTable:
    columns = tables.label_columns
    label_role = "label" if columns.label_words is None else "outcome"
    given = {
        "known_at": columns.known_at,
        label_role: columns.label,
        "propensity": columns.propensity,
        "channel": None if columns.channel is None else columns.channel.column,
    }
    roles = {columns.id: "id"} | {name: role for role, name in given.items() if name is not None}
    relation = _declared(
        f"positives {tables.positives}", tables.positives, roles, tables.kinds, dialect, columns
    )
    found = {
        role: None if name is None else named_column(relation, name, role=role)
        for role, name in given.items()
        if role != "known_at"
    }
    return LabelTable(
        relation=relation,
        id=named_column(relation, columns.id, role="id"),
        known_at=None
        if columns.known_at is None
        else _time(relation, columns.known_at, columns, role="known_at"),
        label=found[label_role],
        label_words=columns.label_words,
        propensity=found["propensity"],
        channel=channel_column(relation, columns.channel),
    )


def _declared(
    name: str,
    table: str,
    roles: Mapping[str, str],
    kinds: Mapping[str, Kind],
    dialect: Dialect,
    columns: PredictionColumns | LabelColumns,
) -> Relation:
    """A relation whose columns are what they are said to be."""
    times: Kind = "moment"
    if columns.time_unit is not None:
        times = "integer"
    elif columns.time_zone is not None:
        times = "naive"
    usual = {**_KINDS, "time": times, "known_at": times}
    held = {column: kinds.get(column, usual[role]) for column, role in roles.items()}
    return Relation(
        name=name,
        sql=".".join(map(dialect.named, table.split("."))),
        columns={
            column: Column(name=column, type=kind, kind=kind, sql=f"source.{dialect.named(column)}")
            for column, kind in held.items()
        },
    )


def _time(
    relation: Relation,
    name: str,
    columns: PredictionColumns | LabelColumns,
    *,
    role: str,
) -> TimeColumn:
    column = named_column(relation, name, role=role)
    if column.kind in {"naive", "date"} and columns.time_zone is None:
        msg = (
            f"time column '{name}' of {relation.name} holds times without a zone: say their "
            "time_zone in the configuration, for example time_zone: UTC"
        )
        raise InputError(msg)
    if column.kind == "integer" and columns.time_unit is None:
        msg = (
            f"time column '{name}' of {relation.name} holds whole numbers: say their time_unit in "
            "the configuration, s, ms, us or ns since 1970"
        )
        raise InputError(msg)
    return TimeColumn(
        column=column,
        zone=columns.time_zone,
        unit=columns.time_unit,
        ambiguous=columns.ambiguous,
    )


def _writing_values(dialect: Dialect) -> Dialect:
    """The dialect, with values written into statements instead of bound to them."""
    if not dialect.takes_parameters:
        return dialect
    kind = type(dialect)
    made = type(kind.__name__, (kind,), {"__slots__": (), "takes_parameters": False})
    found: Dialect = made()
    return found
