"""Columns of some rows of a table, which are named by their ids."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.sources.column_types.column_kinds import Relation, named_column
from pumonitor.sources.found_columns import TimesRead, time_column
from pumonitor.sources.windows.counts_duckdb import DuckDBEngine
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.counts_rows import feature_sql, timed_rows
from pumonitor.sources.windows.sampling import feature_values
from pumonitor.sources.windows.statement_values import Values

_ROLE: Final = "features"
_ASKED: Final = "predictions"
_SHOWN: Final = 3


def column_names(place: str) -> tuple[str, ...]:
    """Columns of files or of a lake's table.

    Raises
    ------
    InputError
        If there are no such files.
    SourceError
        If they cannot be read.
    """
    with closing(DuckDBEngine({_ROLE: place})) as engine:
        relation = engine.relation(place, role=_ROLE, columns={}, parameters={})
        return tuple(relation.columns)


def read_rows_by_id(
    place: str,
    ids: NDArray[np.str_],
    *,
    id_column: str,
    columns: Sequence[str],
    known_at: str | None = None,
    made: NDArray[np.int64] | None = None,
    times: TimesRead | None = None,
) -> Mapping[str, NDArray[Any]]:
    """Read columns of the rows with these ids, in the order of the ids.

    Parameters
    ----------
    place : str
        Files, an address of files or a table of a lake.
    ids : ndarray of str
    id_column : str
    columns : sequence of str
    known_at : str, optional
        Column of when a row became known. With it an id may have several rows, of which the last
        counts that was known by then; without it, one.
    made : ndarray of int, optional
        With `known_at`: by when a row must have been known, in microseconds since 1970.
    times : TimesRead, optional
        How times of the column are read.

    Returns
    -------
    mapping of str to ndarray
        Floats, NaN where missing, or text and None, by column.

    Raises
    ------
    InputError
        If a column is missing or of a type that is no feature, an id is missing or stands in two
        rows.
    SourceError
        If the table cannot be read.
    """
    import pyarrow as pa

    roles = {id_column: "id"} | dict.fromkeys(columns, "feature")
    if known_at is not None:
        roles[known_at] = "known_at"
    by = np.zeros(len(ids), dtype=np.int64) if known_at is None else made
    asked = pa.table(
        {"wanted": pa.array(ids.tolist(), pa.string()), "place": np.arange(len(ids)), "made": by}
    )
    with closing(DuckDBEngine({_ROLE: place, _ASKED: asked})) as engine, engine.snapshot():
        relation = engine.relation(place, role=_ROLE, columns=roles, parameters={})
        wanted = engine.relation(
            asked,
            role=_ASKED,
            columns={"wanted": "id", "place": "shown", "made": "shown"},
            parameters={},
        )
        found_id = named_column(relation, id_column, role="id")
        features = [named_column(relation, one, role="feature") for one in columns]
        time = None
        if known_at is not None and times is not None:
            time = time_column(
                engine, relation, known_at, times, role="known_at", block="predictions"
            )
        engine.load(relation, list(roles))
        names = [f"feature_{at}" for at in range(len(features))]
        raw = {"row_id": f"CAST({found_id.sql} AS {engine.dialect.text})"} | {
            name: feature_sql(one, engine.dialect)
            for name, one in zip(names, features, strict=True)
        }
        values = Values(dialect=engine.dialect)
        timed = timed_rows(raw, relation, time, name="known", between=None, values=values)
        # Rows that became known in one moment stand beside each other, and are refused.
        statement = Statement(
            sql=f"SELECT {', '.join(['place', *names])} FROM (SELECT asked.place AS place, "
            f"{', '.join(names)}, rank() OVER (PARTITION BY asked.place ORDER BY known DESC) AS "
            f"standing FROM {timed} JOIN {wanted.sql} AS asked "
            f"ON row_id = asked.wanted AND known <= CAST(asked.made AS {engine.dialect.whole})) "
            "AS found "
            "WHERE standing = 1 ORDER BY place",
            values=values.bound,
        )
        answer = engine.columns(statement, about=relation.name)
        _check(np.asarray(answer["place"]), ids, relation, is_timed=time is not None)
        return {
            one.name: feature_values(one, answer[name])
            for name, one in zip(names, features, strict=True)
        }


def _check(
    places: NDArray[Any], ids: NDArray[np.str_], relation: Relation, *, is_timed: bool
) -> None:
    found = np.bincount(places.astype(np.int64), minlength=len(ids))
    by_then = " that was known by the time of the prediction" if is_timed else ""
    for wrong, what in ((found == 0, "have no row"), (found > 1, "have more than one row")):
        if wrong.any():
            shown = ", ".join(map(repr, ids[wrong][:_SHOWN].tolist()))
            msg = (
                f"{int(wrong.sum())} of {len(ids)} predictions {what} in {relation.name}{by_then}: "
                f"ids {shown}{' and others' if wrong.sum() > _SHOWN else ''}"
            )
            raise InputError(msg)
