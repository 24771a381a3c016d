"""From a window's statements to its counts: what is asked in which order, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.ports import InputCounts, Progress, WindowCounts
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_problems import (
    Unusable,
    label_problems,
    nul_problem,
    prediction_problems,
    problem_column,
)
from pumonitor.sources.windows.counts_query import MOST_GROUPS, CountQuery

__all__ = [
    "check_labels",
    "check_predictions",
    "count_window",
    "distinct",
    "numbers_of",
    "texts_of",
]

_IDS_AT_ONCE: Final = 8_000_000
_MOST_SEGMENTS: Final = 1_000
_MOST_LENGTHS: Final = 64
"""Of windows that are searched at a time before all the rest is."""


def count_window(
    engine: Engine,
    query: CountQuery,
    *,
    load_ids: Callable[[tuple[datetime, datetime] | None], None] | None,
    progress: Progress | None = None,
) -> WindowCounts:
    """Count one window.

    Parameters
    ----------
    engine : Engine
        Within a snapshot.
    query : CountQuery
    load_ids : callable or None
        Gets ids of predictions ready, of a stretch of time or all; None if labels without
        prediction are not counted.
    progress : callable, optional

    Raises
    ------
    InputError
        If rows cannot be used.
    """
    name, label_name = query.predictions.relation.name, query.labels.relation.name
    check_labels(engine, query)
    rows, duplicates, conflicts, query = distinct(engine, query)
    # What comes now is read twice: where it can be held, it is.
    if engine.keep("pumonitor_states", query.states(), about=label_name):
        query = replace(query, kept=query.kept | {"pumonitor_states"})
    groups = engine.columns(query.groups(), about=name, progress=progress, step="Counting rows")
    _check_groups(engine, query, groups)
    found = engine.rows(query.found(), about=label_name)
    orphans = 0 if load_ids is None else _orphans(engine, query, load_ids)
    sums = [sum(int(row[place]) for row in found) for place in range(3, 9)]
    return _window_counts(
        query,
        groups,
        delays=_delays(query, found),
        found=InputCounts(
            predictions=rows - duplicates - conflicts,
            duplicate_predictions=duplicates,
            conflicting_predictions=conflicts,
            label_rows=sums[0],
            duplicate_labels=sums[1],
            conflicting_labels=sums[2],
            retracted_labels=sums[3],
            early_labels=sums[4],
            refused_labels=sums[5],
            orphan_labels=orphans,
        ),
    )


def check_labels(engine: Engine, query: CountQuery) -> None:
    """Refuse labels that cannot be used, among all that were known by the last moment."""
    about = query.labels.relation.name
    counted = {int(row[0]): int(row[1]) for row in engine.rows(query.label_problems(), about=about)}
    problems = sorted(one for one in counted if one)
    if problems:
        unusable = [
            Unusable(
                problem=one,
                found=counted[one],
                examples=engine.rows(
                    query.label_examples(one, problem_column(query.labels, one)), about=about
                ),
            )
            for one in problems
        ]
        raise label_problems(query.labels, unusable, key=query.key, rows=sum(counted.values()))


def check_predictions(engine: Engine, query: CountQuery) -> None:
    """Refuse predictions that cannot be used, among all there are."""
    counted = _problems(engine, query)
    if any(counted):
        raise _unusable(engine, query, counted, between=None)


def _problems(engine: Engine, query: CountQuery) -> dict[int, int]:
    """Numbers of rows by what is wrong with them, 0 for nothing."""
    about = query.predictions.relation.name
    return {int(row[0]): int(row[1]) for row in engine.rows(query.problems(), about=about)}


def distinct(engine: Engine, query: CountQuery) -> tuple[int, int, int, CountQuery]:
    """Rows, repeated rows with the same score and with another, and the query for the first ones.

    Ids are only compared one by one if there are fewer of them than rows.
    """
    about = query.predictions.relation.name
    ((rows,),) = engine.rows(query.rows(), about=about)
    if _all_different(engine, query, int(rows)):
        return int(rows), 0, 0, query
    query = replace(query, repeats=True)
    if engine.keep("pumonitor_repeated", query.repeated(), about=about):
        query = replace(query, kept=query.kept | {"pumonitor_repeated"})
    ((same, other, problem),) = engine.rows(query.repeats_found(), about=about)
    if problem:
        raise _unusable(engine, query, _problems(engine, query), between=query.between)
    # Missing ids are no repetitions: nothing is found of them here.
    return int(rows), int(same or 0), int(other or 0), query


def _all_different(engine: Engine, query: CountQuery, rows: int) -> bool:
    """Whether no id stands more than once.

    Where ids have a hash of 64 bits, these are sorted here, which takes a fifth of the time of
    grouping them there. Should two ids share one, the exact way is taken.
    """
    about = query.predictions.relation.name
    if query.dialect.hashed_id is None:
        return rows == 0 or int(engine.rows(query.ids(), about=about)[0][0]) == rows
    parts = 1 + rows // _IDS_AT_ONCE
    for part in range(parts):
        found = engine.columns(query.id_hashes(part=part, parts=parts), about=about)
        hashes = np.asarray(found["hashed"])
        hashes.sort()
        if np.any(hashes[1:] == hashes[:-1]):
            return False
    return True


def _unusable(
    engine: Engine,
    query: CountQuery,
    counted: Mapping[int, int],
    *,
    between: tuple[datetime, datetime] | None,
) -> InputError:
    """The error about all that is wrong with rows."""
    about = query.predictions.relation.name
    unusable = [
        Unusable(
            problem=one,
            found=counted[one],
            examples=engine.rows(
                query.examples(one, problem_column(query.predictions, one)), about=about
            ),
        )
        for one in sorted(one for one in counted if one)
    ]
    return prediction_problems(
        query.predictions, unusable, key=query.key, rows=sum(counted.values()), between=between
    )


def _orphans(
    engine: Engine,
    query: CountQuery,
    load_ids: Callable[[tuple[datetime, datetime] | None], None],
) -> int:
    """Rows of labels known in the window whose id is nowhere.

    Where looking means reading, files without any of these numbers in their range are passed over.
    Text is mostly random and in every range; but most predictions of such labels were made not long
    before, so it is looked for in ever longer stretches back in time, and everywhere only at last.
    """
    about = query.predictions.relation.name
    if not query.dialect.has_indexes:
        engine.keep("pumonitor_unmatched", query.unmatched(), about=query.labels.relation.name)
        query = replace(query, kept=query.kept | {"pumonitor_unmatched"})
        start, end = query.between
        length, reach = end - start, 1
        in_steps = query.key == "text" and query.predictions.time.bounds(start, end) is not None
        while engine.rows(query.unmatched_ids(), about=about)[0][0]:
            if not in_steps or reach > _MOST_LENGTHS:
                break
            stretch = (start - reach * length, end)
            load_ids(stretch)
            engine.keep("pumonitor_unmatched", query.still_unmatched(stretch), about=about)
            start, end, reach = stretch[0], start, 2 * reach
        else:
            return 0
    load_ids(None)
    return int(engine.rows(query.orphans(), about=about)[0][0])


def _window_counts(
    query: CountQuery,
    groups: Mapping[str, Any],
    *,
    delays: NDArray[np.int64],
    found: InputCounts,
) -> WindowCounts:
    version = texts_of(groups["model_version"])
    segments = [texts_of(groups[name]) for name in query.segments]
    cell = numbers_of(groups["cell"], np.int64)
    history = numbers_of(groups["history"], np.int64)
    propensity = numbers_of(groups["propensity"], np.float64)
    # Sorted here, since engines order text by languages of their own.
    order = np.lexsort([propensity, history, cell, *segments[::-1], version])
    columns = query.predictions.segments
    return WindowCounts(
        model_version=version[order],
        segments={
            column.name: values[order] for column, values in zip(columns, segments, strict=True)
        },
        cell=cell[order],
        # Adding 0 makes -0.0 plain: engines differ in which of the two is the least.
        lower=numbers_of(groups["lower_score"], np.float64)[order] + 0.0,
        upper=numbers_of(groups["upper_score"], np.float64)[order] + 0.0,
        history=history[order],
        propensity=propensity[order],
        rows=numbers_of(groups["n"], np.int64)[order],
        delays=delays,
        found=found,
    )


def _delays(query: CountQuery, found: list[tuple[Any, ...]]) -> NDArray[np.int64]:
    counted = np.zeros((len(query.as_of), len(query.delay_edges) + 1), dtype=np.int64)
    if query.labels.known_at is not None:
        for moment, bucket, ids, *_ in found:
            if int(moment) >= 0:
                counted[int(moment), int(bucket)] += int(ids)
    return counted


def _check_groups(engine: Engine, query: CountQuery, groups: Mapping[str, Any]) -> None:
    cells = numbers_of(groups["cell"], np.int64)
    if np.any(cells < 0):
        raise _unusable(engine, query, _problems(engine, query), between=query.between)
    _refuse_nul(query, groups)
    name = query.predictions.relation.name
    for answer, column in zip(query.segments, query.predictions.segments, strict=True):
        values = len(np.unique(texts_of(groups[answer])))
        if values > _MOST_SEGMENTS:
            msg = (
                f"segment column '{column.name}' of {name} has {values} values in one window, and "
                f"{_MOST_SEGMENTS} are counted at most: name a column of categories"
            )
            raise InputError(msg)
    if len(cells) > MOST_GROUPS:
        msg = (
            f"the window of {name} has more than {MOST_GROUPS} groups of model version, segments, "
            "score and label state: name fewer segments"
        )
        raise InputError(msg)


def _refuse_nul(query: CountQuery, groups: Mapping[str, Any]) -> None:
    """Text with a NUL character: some databases cannot store it, and numpy drops it at the end."""
    columns = dict(zip(query.segments, query.predictions.segments, strict=True))
    if query.predictions.model_version is not None:
        columns["model_version"] = query.predictions.model_version
    for answer, column in columns.items():
        if not any("\0" in value for value in set(groups[answer])):
            continue
        rows = numbers_of(groups["n"], np.int64)
        held: Counter[str] = Counter()
        for value, number in zip(groups[answer], rows.tolist(), strict=True):
            if "\0" in value:
                held[value] += number
        raise nul_problem(
            query.predictions,
            column,
            found=held.total(),
            rows=int(rows.sum()),
            between=query.between,
            examples=held.most_common(3),
        )


def numbers_of(values: Any, kind: Any) -> NDArray[Any]:
    """A column of an answer; null is NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(kind), np.nan))
    if not isinstance(values, np.ndarray):
        values = [np.nan if value is None else value for value in values]
    return np.asarray(values, dtype=kind)


def texts_of(values: Any) -> NDArray[np.str_]:
    """A column of an answer that has no null in it."""
    found = np.asarray(values, dtype=np.str_)
    return found if found.size else found.astype("<U1")
