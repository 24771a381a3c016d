"""Find the columns that the roles of both tables name, and check that they can be used."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, Protocol

from pumonitor.errors import InputError
from pumonitor.sources.column_types.column_kinds import Relation, named_column
from pumonitor.sources.column_types.monitored_tables import (
    Ambiguous,
    LabelColumns,
    PredictionColumns,
    ReviewColumns,
    TimeUnit,
)
from pumonitor.sources.column_types.time_columns import (
    EARLIEST,
    LATEST,
    TimeColumn,
    bounds_of,
    check_unit,
    read_zone,
)
from pumonitor.sources.windows.both_channels import ReviewTable
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.counts_rows import LabelTable, PredictionTable, channel_column

_SAMPLE_ROWS: Final = 1000


class TimesRead(Protocol):
    """How times of a table are read, as its section of the configuration says."""

    @property
    def time_zone(self) -> str | None:
        """Of times that bear none."""

    @property
    def time_unit(self) -> TimeUnit | None:
        """Of whole numbers."""

    @property
    def ambiguous(self) -> Ambiguous | None:
        """Of two moments that a local time may mean, which one."""


def prediction_table(
    engine: Engine,
    table: object,
    columns: PredictionColumns,
    *,
    has_features: bool = False,
    role: Literal["feature", "shown"] = "feature",
) -> PredictionTable:
    """The predictions with the columns that their roles name.

    Raises
    ------
    InputError
        If a column is not there or cannot be used.
    """
    start, end = _always(columns, "predictions")
    features = columns.features if has_features else ()
    group = columns.group if has_features else None
    # What is shown may have another role as well, and the score is asked for beside features.
    elsewhere = {*columns.segments, columns.score, columns.value}
    if role == "shown":
        elsewhere |= {columns.id, columns.time, columns.model_version or ""}
    relation = _relation(
        engine,
        table,
        "predictions",
        named=[
            ("id", columns.id),
            ("time", columns.time),
            ("score", columns.score),
            ("model_version", columns.model_version),
            *(("segment", name) for name in columns.segments),
            ("ranked_by", columns.ranked_by),
            ("value", columns.value),
            *((role, name) for name in features if name not in elsewhere),
            ("group", None if group in elsewhere else group),
        ],
        parameters={"start": start, "end": end},
    )
    version = columns.model_version
    segments = [named_column(relation, name, role="segment") for name in columns.segments]
    ranked_by = None
    if columns.ranked_by is not None:
        ranked_by = named_column(relation, columns.ranked_by, role="ranked_by")
        segments.append(ranked_by)
    value = None
    if columns.value is not None:
        value = named_column(relation, columns.value, role="value")
        segments.append(value)
    return PredictionTable(
        relation=relation,
        id=named_column(relation, columns.id, role="id"),
        time=time_column(engine, relation, columns.time, columns, role="time", block="predictions"),
        score=named_column(relation, columns.score, role="score"),
        model_version=None
        if version is None
        else named_column(relation, version, role="model_version"),
        segments=tuple(segments),
        ranked_by=ranked_by,
        value=value,
        only_probabilities=True,
        features=tuple(named_column(relation, name, role=role) for name in features),
        group=None if group is None else named_column(relation, group, role="group"),
    )


def with_features(
    engine: Engine,
    table: object,
    columns: PredictionColumns,
    score_scale: Literal["probability", "unbounded"],
) -> PredictionTable:
    """The predictions with the columns of features: looked for only where they are asked for."""
    if not columns.features and columns.group is None:
        msg = "predictions name no features: list their columns under features"
        raise InputError(msg)
    found = prediction_table(engine, table, columns, has_features=True)
    return replace(found, only_probabilities=score_scale == "probability")


def with_shown(
    engine: Engine,
    table: object,
    columns: PredictionColumns,
    score_scale: Literal["probability", "unbounded"],
    shown: Sequence[str],
) -> PredictionTable:
    """The predictions with columns that are shown as text, whatever their type is."""
    plain = replace(columns, features=tuple(shown), group=None)
    found = prediction_table(engine, table, plain, has_features=True, role="shown")
    return replace(
        found,
        only_probabilities=score_scale == "probability",
        features=tuple(
            one if one.kind == "boolean" else replace(one, kind="text") for one in found.features
        ),
    )


def label_table(engine: Engine, table: object, columns: LabelColumns) -> LabelTable:
    """What became known, with the columns that its roles name.

    Raises
    ------
    InputError
        If a column is not there or cannot be used.
    """
    _, as_of = _always(columns, "positives")
    relation = _relation(
        engine,
        table,
        "positives",
        named=[
            ("id", columns.id),
            ("known_at", columns.known_at),
            (_label_role(columns), columns.label),
            ("propensity", columns.propensity),
            ("channel", None if columns.channel is None else columns.channel.column),
        ],
        parameters={"as_of": as_of},
    )
    return LabelTable(
        relation=relation,
        id=named_column(relation, columns.id, role="id"),
        known_at=None
        if columns.known_at is None
        else time_column(
            engine, relation, columns.known_at, columns, role="known_at", block="positives"
        ),
        label=None
        if columns.label is None
        else named_column(relation, columns.label, role=_label_role(columns)),
        label_words=columns.label_words,
        propensity=None
        if columns.propensity is None
        else named_column(relation, columns.propensity, role="propensity"),
        channel=channel_column(relation, columns.channel),
    )


def review_table(
    engine: Engine, table: object, columns: ReviewColumns, *, role: str
) -> ReviewTable:
    """The reviews of a queue, with the columns that their roles name.

    Raises
    ------
    InputError
        If a column is not there or cannot be used.
    """
    _, as_of = _always(columns, role)
    relation = _relation(
        engine,
        table,
        role,
        named=[
            ("id", columns.id),
            ("decided_at", columns.decided_at),
            ("queued_at", columns.queued_at),
            ("verdict", columns.verdict),
            ("reviewer", columns.reviewer),
            ("chosen_by", columns.chosen_by),
            ("probability", columns.probability),
            ("channel", None if columns.channel is None else columns.channel.column),
        ],
        parameters={"as_of": as_of},
    )
    details = {
        "reviewer": columns.reviewer,
        "chosen_by": columns.chosen_by,
        "probability": columns.probability,
    }
    labels = LabelTable(
        relation=relation,
        id=named_column(relation, columns.id, role="id"),
        known_at=None
        if columns.decided_at is None
        else time_column(
            engine, relation, columns.decided_at, columns, role="decided_at", block=role
        ),
        label=named_column(relation, columns.verdict, role="verdict"),
        label_words=columns.verdict_words,
        propensity=None,
        are_verdicts=True,
        details=tuple(
            named_column(relation, name, role=meaning)
            for meaning, name in details.items()
            if name is not None
        ),
        channel=channel_column(relation, columns.channel),
    )
    queued = None
    if columns.queued_at is not None:
        at = time_column(engine, relation, columns.queued_at, columns, role="queued_at", block=role)
        queued = replace(
            labels, known_at=at, label=None, label_words=None, are_verdicts=False, are_queued=True
        )
    return ReviewTable(
        labels=labels,
        queued=queued,
        has_reviewers=columns.reviewer is not None,
        has_chances=columns.probability is not None,
        reasons=None if columns.chosen_by is None else columns.reasons,
        always=columns.always,
    )


def _label_role(columns: LabelColumns) -> str:
    return "label" if columns.label_words is None else "outcome"


def _relation(
    engine: Engine,
    table: object,
    role: str,
    *,
    named: Sequence[tuple[str, str | None]],
    parameters: Mapping[str, object],
) -> Relation:
    roles: dict[str, str] = {}
    for meaning, name in named:
        if name in roles:
            msg = f"{role} name the column '{name}' twice: each must be another column"
            raise InputError(msg)
        if name is not None:
            roles[name] = meaning
    return engine.relation(table, role=role, columns=roles, parameters=parameters)


def _always(
    columns: PredictionColumns | LabelColumns | ReviewColumns, block: str
) -> tuple[object, object]:
    """Parameters of a query that let every row through."""
    if columns.time_zone is not None:
        read_zone(columns.time_zone, where=block)
    return bounds_of(EARLIEST, LATEST, zone=columns.time_zone, unit=columns.time_unit)


def time_column(
    engine: Engine,
    relation: Relation,
    name: str,
    columns: TimesRead,
    *,
    role: str,
    block: str,
) -> TimeColumn:
    """The column of times, with a first look at whole numbers.

    Raises
    ------
    InputError
        If its values mean no moment: times without a zone, numbers without a unit or with another.
    """
    column = named_column(relation, name, role=role)
    where = f"time column '{name}' of {relation.name}"
    if column.kind in {"naive", "date"} and columns.time_zone is None:
        msg = (
            f"{where} is stored as {column.type}, times without a zone: say the time_zone of "
            f"{block}, for example time_zone: UTC"
        )
        raise InputError(msg)
    if column.kind == "integer" or (columns.time_unit is not None and column.kind == "cell"):
        count = engine.dialect.key(column.sql, column.kind, "integer")
        # Not filtered: an engine would look through a whole table for the first such row.
        statement = Statement(
            sql=f"SELECT {count} AS count_since FROM {relation.sql} AS source LIMIT {_SAMPLE_ROWS}",
            values={
                key: engine.dialect.parameter(value) for key, value in relation.parameters.items()
            },
        )
        with engine.snapshot():
            rows = engine.rows(statement, about=relation.name)
        values = [int(row[0]) for row in rows if row[0] is not None]
        if values:
            check_unit(values, unit=columns.time_unit, column=name, where=relation.name)
    elif columns.time_unit is not None and column.kind != "empty":
        msg = (
            f"{where} is stored as {column.type}, and a time_unit is for whole numbers: drop it, "
            "or cast the column to whole numbers"
        )
        raise InputError(msg)
    return TimeColumn(
        column=column,
        zone=columns.time_zone,
        unit=columns.time_unit,
        ambiguous=columns.ambiguous,
    )
