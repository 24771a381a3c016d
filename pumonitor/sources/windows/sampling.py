"""Some rows of a window with their features, the same ones whenever they are asked for."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.ports import SampledRows, SampleRequest
from pumonitor.sources.column_types.column_kinds import Column
from pumonitor.sources.windows.answers import numbers_of, texts_of
from pumonitor.sources.windows.asking import distinct
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.counts_rows import NUMBERS, feature_columns
from pumonitor.sources.windows.label_parts import of_each_part


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuery(CountQuery):
    """Statements that give rows of one window.

    Notes
    -----
    The rows of least hash are a sample drawn at random: exactly as many as are asked for, whatever
    becomes known of labels later, and the same in every engine.
    """

    def sampled(self, most: int) -> Statement:
        """Rows of all kinds, with what was said of them."""
        hashed = self.dialect.hashed("id")
        return self.stated(
            f"SELECT {self._chosen} FROM (SELECT * FROM pumonitor_first WHERE problem = 0 "
            f"ORDER BY {hashed}, id LIMIT {most}) AS predicted "
            "LEFT JOIN pumonitor_states AS stated ON predicted.id = stated.id",
            "pumonitor_first",
            "pumonitor_states",
        )

    def labeled(self, most: int) -> Statement:
        """Rows that something was said of."""
        hashed = self.dialect.hashed("predicted.id")
        return self.stated(
            f"SELECT {self._chosen} FROM pumonitor_first AS predicted "
            "JOIN pumonitor_states AS stated ON predicted.id = stated.id WHERE problem = 0 "
            f"ORDER BY {hashed}, predicted.id LIMIT {most}",
            "pumonitor_first",
            "pumonitor_states",
        )

    @property
    def _chosen(self) -> str:
        features = feature_columns(self.predictions, self.dialect)
        return ", ".join(
            [
                f"CAST(predicted.id AS {self.dialect.text}) AS id",
                "predicted.made AS made",
                "model_version",
                *self.segments,
                *features,
                "score",
                f"coalesce(history, {self.unlabeled}) AS history",
                "propensity",
            ]
        )


def sample_window(engine: Engine, query: SampleQuery, request: SampleRequest) -> SampledRows:
    """Draw rows of one window.

    Parameters
    ----------
    engine : Engine
        Within a snapshot.
    query : SampleQuery
    request : SampleRequest
    """
    prepared = [_prepared(engine, one) for one in of_each_part(query)]
    parts = [
        _least(engine, prepared, SampleQuery.sampled, request.rows),
        _least(engine, prepared, SampleQuery.labeled, request.labels),
    ]
    sizes = [len(part["id"]) for part in parts]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    is_sampled = np.arange(sum(sizes)) < sizes[0]
    # Sorted here, since engines answer in orders of their own.
    order = np.lexsort([columns["id"], ~is_sampled])
    columns = {name: values[order] for name, values in columns.items()}
    of = query.predictions
    return SampledRows(
        id=columns["id"],
        key=columns["entity"] if of.group is not None else columns["id"],
        made=columns["made"],
        model_version=columns["model_version"],
        segments={
            column.name: columns[name]
            for column, name in zip(of.segments, query.segments, strict=True)
        },
        score=columns["score"],
        history=columns["history"],
        propensity=columns["propensity"],
        is_sampled=is_sampled[order],
        features={
            column.name: columns[f"feature_{place}"] for place, column in enumerate(of.features)
        },
    )


def _prepared(engine: Engine, query: SampleQuery) -> SampleQuery:
    """The query about the first row of each id, with states that are computed once."""
    found = distinct(engine, query)
    # It is read twice: where it can be held, it is.
    if engine.keep("pumonitor_states", found.states(), about=query.labels.relation.name):
        found = replace(found, kept=found.kept | {"pumonitor_states"})
    return found


def _least(
    engine: Engine,
    parts: Sequence[SampleQuery],
    asked: Callable[[SampleQuery, int], Statement],
    most: int,
) -> dict[str, NDArray[Any]]:
    """The rows of least hash, so many at most; parts are in the order of hashes."""
    found: list[dict[str, NDArray[Any]]] = []
    for part in parts:
        left = most - sum(len(one["id"]) for one in found)
        if left or not found:
            about = part.predictions.relation.name
            found.append(_plain(part, engine.columns(asked(part, left), about=about)))
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


def _plain(query: SampleQuery, answer: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The columns of an answer as arrays."""
    names = ["id", "model_version", *query.segments]
    found: dict[str, NDArray[Any]] = {name: texts_of(answer[name]) for name in names}
    found["made"] = numbers_of(answer["made"], np.int64)
    found["history"] = numbers_of(answer["history"], np.int64)
    found["score"] = numbers_of(answer["score"], np.float64)
    found["propensity"] = numbers_of(answer["propensity"], np.float64)
    for place, column in enumerate(query.predictions.features):
        name = f"feature_{place}"
        found[name] = feature_values(column, answer[name])
    if query.predictions.group is not None:
        entity = _objects(answer["entity"])
        is_missing = np.array([name is None or name == "" for name in entity], dtype=np.bool_)
        # A row of nobody known is an entity of its own.
        own = np.char.add("row ", found["id"])
        found["entity"] = np.where(is_missing, own, np.where(is_missing, "", entity).astype("U"))
    return found


def feature_values(column: Column, values: Any) -> NDArray[Any]:
    """Floats, NaN where missing, or text and None."""
    return numbers_of(values, np.float64) if column.kind in NUMBERS else _objects(values)


def _objects(values: Any) -> NDArray[Any]:
    """Text, and None where it is missing."""
    if isinstance(values, np.ma.MaskedArray):
        found = np.asarray(values.filled(None) if values.dtype == object else values, dtype=object)
        found = found.copy()
        found[np.ma.getmaskarray(values)] = None
        return found
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    return found
