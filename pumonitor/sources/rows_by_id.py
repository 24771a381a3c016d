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
from pumonitor.sources.windows.counts_duckdb import DuckDBEngine
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.counts_rows import feature_sql
from pumonitor.sources.windows.sampling import feature_values

__all__ = ["column_names", "read_rows_by_id"]

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
    place: str, ids: NDArray[np.str_], *, id_column: str, columns: Sequence[str]
) -> Mapping[str, NDArray[Any]]:
    """Read columns of the rows with these ids, in the order of the ids.

    Parameters
    ----------
    place : str
        Files, an address of files or a table of a lake.
    ids : ndarray of str
    id_column : str
    columns : sequence of str

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
    asked = pa.table({"wanted": pa.array(ids.tolist(), pa.string()), "place": np.arange(len(ids))})
    with closing(DuckDBEngine({_ROLE: place, _ASKED: asked})) as engine, engine.snapshot():
        relation = engine.relation(place, role=_ROLE, columns=roles, parameters={})
        wanted = engine.relation(
            asked, role=_ASKED, columns={"wanted": "id", "place": "shown"}, parameters={}
        )
        found_id = named_column(relation, id_column, role="id")
        features = [named_column(relation, one, role="feature") for one in columns]
        engine.load(relation, [id_column, *columns])
        chosen = ", ".join(
            f"{feature_sql(one, engine.dialect)} AS feature_{at}" for at, one in enumerate(features)
        )
        statement = Statement(
            sql=f"SELECT asked.place AS place, {chosen} FROM {relation.sql} AS source "
            f"JOIN {wanted.sql} AS asked "
            f"ON CAST({found_id.sql} AS {engine.dialect.text}) = asked.wanted ORDER BY asked.place"
        )
        answer = engine.columns(statement, about=relation.name)
        _check(np.asarray(answer["place"]), ids, relation)
        return {
            one.name: feature_values(one, answer[f"feature_{at}"])
            for at, one in enumerate(features)
        }


def _check(places: NDArray[Any], ids: NDArray[np.str_], relation: Relation) -> None:
    found = np.bincount(places.astype(np.int64), minlength=len(ids))
    for wrong, what in ((found == 0, "have no row"), (found > 1, "have more than one row")):
        if wrong.any():
            shown = ", ".join(map(repr, ids[wrong][:_SHOWN].tolist()))
            msg = (
                f"{int(wrong.sum())} of {len(ids)} predictions {what} in {relation.name}: ids "
                f"{shown}{' and others' if wrong.sum() > _SHOWN else ''}"
            )
            raise InputError(msg)
