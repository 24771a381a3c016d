"""What `check` shows of a table: its columns, their types, a few of its rows."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

from math import isfinite
from typing import Any, Final

import numpy as np

from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.counts_rows import (
    LabelTable,
    PredictionTable,
)
from pumonitor.sources.windows.statement_values import Values

_SAMPLE_ROWS: Final = 5


def named_columns(table: PredictionTable | LabelTable) -> list[str]:
    """Columns that the configuration names, each once."""
    if isinstance(table, PredictionTable):
        columns = [table.id, table.time.column, table.score, table.model_version, *table.segments]
        columns += [*table.features, table.group]
    else:
        known_at = None if table.known_at is None else table.known_at.column
        columns = [table.id, known_at, table.label, table.propensity, *table.details]
        columns += [] if table.channel is None else [table.channel[0]]
    # A segment may be a feature as well.
    return list(dict.fromkeys(column.name for column in columns if column is not None))


def types_of(table: PredictionTable | LabelTable) -> dict[str, str]:
    """The engine's type of each column of a table."""
    return {name: column.type for name, column in table.relation.columns.items()}


def sample_of(engine: Engine, table: PredictionTable | LabelTable) -> list[dict[str, Any]]:
    """A few rows of the named columns, as numbers, true, false and text."""
    columns = [table.relation.columns[name] for name in named_columns(table)]
    engine.load(table.relation, named_columns(table), limit=_SAMPLE_ROWS)
    numbers = {"integer", "number", "single", "boolean"}
    chosen = ", ".join(
        f"{column.sql if column.kind in numbers else engine.dialect.shown(column.sql)} AS c{place}"
        for place, column in enumerate(columns)
    )
    values = Values(engine.dialect)
    if table.relation.parameters:
        values.bind(**table.relation.parameters)
    statement = Statement(
        sql=f"SELECT {chosen} FROM {table.relation.sql} AS source LIMIT {_SAMPLE_ROWS}",
        values=values.bound,
    )
    return [
        {column.name: _finite(value) for column, value in zip(columns, row, strict=True)}
        for row in engine.rows(statement, about=table.relation.name)
    ]


def _finite(value: Any) -> Any:
    """A number as it may be written: neither infinite nor NaN, nor a decimal."""
    if value is None or isinstance(value, bool | int | str):
        return value
    number = float(value)
    return number if isfinite(number) else None


def plain_values(values: Any) -> list[Any]:
    """A column as Python values; null is None."""
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return list(values)
