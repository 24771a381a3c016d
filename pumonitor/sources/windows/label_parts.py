"""Labels of which a statement takes only a part: the same question about each part of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from pumonitor.ports import Progress
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.id_slices import IdSlice

_Query = TypeVar("_Query", bound=CountQuery)


def of_each_part(query: _Query) -> list[_Query]:
    """The query itself, or one for each part of its labels, about the predictions of these ids.

    All rows of an id, and all that was said of it, are in one part: what these come to adds up.
    Predictions without an id cannot be used, which the first part says.
    """
    labels = query.labels
    found = []
    for place, part in enumerate(labels.relation.parts):
        rows = f"({part.ids} OR {{0}} IS NULL)" if place == 0 else part.ids
        found.append(
            replace(
                query,
                # Its labels are no others than those.
                only=IdSlice(rows=rows, labels="1 = 1"),
                labels=replace(labels, relation=replace(labels.relation, sql=part.sql, parts=())),
            )
        )
    return found or [query]


def rows_of_all(
    engine: Engine, query: _Query, asked: Callable[[_Query], Statement], *, about: str
) -> list[tuple[Any, ...]]:
    """The answers about all parts, one after another."""
    return [row for one in of_each_part(query) for row in engine.rows(asked(one), about=about)]


def progress_of_part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of the whole, told by one of its parts."""
    if progress is None:
        return None
    return lambda step, share: progress(step, (place + share) / parts)
