"""What is refused: rows of either table that cannot be used, and too many groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import numpy as np

from pumonitor.errors import InputError
from pumonitor.sources.windows.answers import numbers_of, texts_of
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_problems import (
    Unusable,
    label_problems,
    nul_problem,
    prediction_problems,
    problem_column,
)
from pumonitor.sources.windows.counts_query import MOST_GROUPS, CountQuery
from pumonitor.sources.windows.described import named_columns

_MOST_SEGMENTS: Final = 1_000


def check_labels(engine: Engine, query: CountQuery) -> int:
    """Refuse labels that cannot be used, among all that were known by the last moment.

    Gives the number of their rows.
    """
    about = query.labels.relation.name
    counted = {int(row[0]): int(row[1]) for row in engine.rows(query.label_problems(), about=about)}
    refuse_labels(engine, query, counted)
    return sum(counted.values())


def refuse_labels(engine: Engine, query: CountQuery, counted: Mapping[int, int]) -> None:
    """Refuse labels if any of those counted by what is wrong with them, 0 for nothing, is wrong."""
    about = query.labels.relation.name
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
    counted = problems_of(engine, query)
    if any(counted):
        raise unusable_rows(engine, query, counted, between=None)


def problems_of(engine: Engine, query: CountQuery) -> dict[int, int]:
    """Numbers of rows by what is wrong with them, 0 for nothing."""
    about = query.predictions.relation.name
    return {int(row[0]): int(row[1]) for row in engine.rows(query.problems(), about=about)}


def unusable_rows(
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


def unusable_window(engine: Engine, query: CountQuery) -> InputError:
    """The error about all that is wrong with rows of a window."""
    table, between = query.predictions, query.between
    # Whoever looked for labels without prediction has left nothing but ids ready.
    engine.load(
        table.relation,
        named_columns(table),
        time=table.time.column.name,
        bounds=table.time.bounds(*between),
    )
    return unusable_rows(engine, query, problems_of(engine, query), between=between)


def check_groups(engine: Engine, query: CountQuery, groups: Mapping[str, Any]) -> None:
    """Refuse rows that cannot be used, and more groups or segments than are counted."""
    cells = numbers_of(groups["cell"], np.int64)
    if np.any(cells < 0):
        raise unusable_window(engine, query)
    _refuse_nul(query, groups)
    name = query.predictions.relation.name
    for answer, column in zip(query.segments, query.predictions.segments, strict=True):
        values = len(np.unique(texts_of(groups[answer])))
        if values > _MOST_SEGMENTS and column not in query.predictions.in_cells:
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
