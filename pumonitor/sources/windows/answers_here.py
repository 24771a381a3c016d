"""What an engine in this process is asked about rows, of all ids at once or slice by slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pumonitor.ports import Progress
from pumonitor.sources.windows.answers import Answers, Repeats
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import LABEL_TOTALS, CountQuery
from pumonitor.sources.windows.different_ids import SeenIds, all_different, seen_ids
from pumonitor.sources.windows.id_slices import IdSlice
from pumonitor.sources.windows.slices import added
from pumonitor.sources.windows.sorted_scores import groups_of_scores, scores_to_sort

STEP: Final = "Counting rows"
"""What users see while rows are counted."""

_Query = TypeVar("_Query", bound=CountQuery)


def answers_here(
    engine: Engine,
    query: CountQuery,
    seen: SeenIds,
    slices: Sequence[IdSlice],
    *,
    progress: Progress | None = None,
) -> Answers:
    """All but labels without prediction, slice by slice if there are slices."""
    if not slices:
        return _of_slice(engine, query, seen, progress=progress)
    parts = (replace(query, only=one) for one in slices)
    return reduce(
        partial(added, segments=query.segments),
        (_of_slice(engine, one, seen_ids(engine, one), progress=progress) for one in parts),
    )


def with_repeats(engine: Engine, query: _Query) -> _Query:
    """The query about rows of which ids stand more than once."""
    about = query.predictions.relation.name
    query = replace(query, repeats=True)
    if engine.keep("pumonitor_repeated", query.repeated(), about=about):
        query = replace(query, kept=query.kept | {"pumonitor_repeated"})
    return query


def _of_slice(
    engine: Engine, query: CountQuery, seen: SeenIds, *, progress: Progress | None
) -> Answers:
    repeats: Mapping[int, Repeats] = {}
    about = query.predictions.relation.name
    if not all_different(engine, query, seen):
        query = with_repeats(engine, query)
        told = engine.rows(query.repeats_found(), about=about)
        repeats = {_place(row, 3): _repeats(row[-3:]) for row in told}
    scores = scores_to_sort(engine, query, seen.rows, progress=progress, step=STEP)
    # All else is about rows with labels. Without one that is known only the score counts.
    if scores is not None and engine.keep("pumonitor_first", query.rows_with_labels(), about=about):
        query = replace(query, kept=query.kept | {"pumonitor_first"})
    # What comes now is read twice: where it can be held, it is.
    if engine.keep("pumonitor_states", query.states(), about=query.labels.relation.name):
        query = replace(query, kept=query.kept | {"pumonitor_states"})
    groups = (
        engine.columns(query.groups(), about=about, progress=progress, step=STEP)
        if scores is None
        else groups_of_scores(engine, query, scores)
    )
    found = engine.rows(query.found(), about=query.labels.relation.name)
    numbers = ("moment", "bucket", "ids", *LABEL_TOTALS)
    return Answers(
        groups=_with_place(groups),
        found=_totals(found, ("place", *numbers) if query.windows else numbers),
        repeats=repeats,
        orphans={},
    )


def _with_place(columns: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Columns as arrays, all of place 0 where one window was asked about."""
    found = {
        name: values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
        for name, values in columns.items()
    }
    found.setdefault("place", np.zeros(len(found["n"]), dtype=np.int64))
    return found


def _totals(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> dict[str, NDArray[np.int64]]:
    found = np.array([[int(value) for value in row] for row in rows], dtype=np.int64)
    found = found.reshape(len(rows), len(names))
    columns = {name: found[:, number] for number, name in enumerate(names)}
    columns.setdefault("place", np.zeros(len(rows), dtype=np.int64))
    return columns


def _place(row: tuple[Any, ...], numbers: int) -> int:
    return int(row[0]) if len(row) > numbers else 0


def _repeats(row: tuple[Any, ...]) -> Repeats:
    # Sums over no rows are null.
    return Repeats(*(int(value or 0) for value in row))
