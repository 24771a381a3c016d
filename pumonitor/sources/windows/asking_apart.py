"""Windows of an engine elsewhere, counted without a label going through its statements.

Labels come here, and their ids go to the predictions. The few rows that have one of these ids come
back and are counted here; all others are counted there. Both are the same query.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pumonitor.ports import Progress
from pumonitor.sources.column_types.time_columns import microseconds
from pumonitor.sources.windows.answers import Answers
from pumonitor.sources.windows.answers_here import STEP
from pumonitor.sources.windows.apart_query import (
    LABELED,
    SOUGHT,
    ids_anywhere,
    rows_apart,
    rows_told_apart,
)
from pumonitor.sources.windows.counts_engine import Engine, TakesTables
from pumonitor.sources.windows.counts_query import MOST_GROUPS, CountQuery
from pumonitor.sources.windows.few_rows import FewRows
from pumonitor.sources.windows.labels_in_arrow import arrow_column, labels_in_arrow
from pumonitor.sources.windows.refusing import refuse_labels
from pumonitor.sources.windows.slices import added

if TYPE_CHECKING:
    import pyarrow as pa


class IdsRepeatError(Exception):
    """Ids stand more than once in a window."""


def ask_apart(
    engine: Engine, query: CountQuery, *, with_orphans: bool, progress: Progress | None = None
) -> Answers | None:
    """The answers; None where the engine takes no tables, or labels are too many.

    Raises
    ------
    InputError
        If labels cannot be used.
    IdsRepeatError
        If an id stands more than once in a window: only its first row counts.
    """
    if not isinstance(engine, TakesTables):
        return None
    labels = _labels(engine, query, most=engine.most_labels)
    if labels is None:
        return None
    import pyarrow as pa

    about = query.predictions.relation.name
    ids = labels["id"].unique().drop_null()
    engine.send(LABELED, pa.table({"id": ids, "number": np.arange(len(ids))}))
    answer = engine.columns(
        rows_apart(query, ids=len(ids)), about=about, progress=progress, step=STEP
    )
    apart = rows_told_apart(query, answer, ids)
    if len(apart.groups["n"]) > MOST_GROUPS:
        # It is refused as it is, or counted again, window by window.
        return Answers(groups=apart.groups, found={}, repeats={}, orphans={})
    different = sum(int(row[-1]) for row in engine.rows(query.ids(), about=about))
    if apart.is_cut or different != apart.rows:
        raise IdsRepeatError
    with closing(
        FewRows(
            query,
            rows=apart.labeled,
            labels=labels,
            has_each_once=len(ids) == labels.num_rows,
        )
    ) as few:
        answers = few.answers()
        orphans = _orphans(engine, query, few) if with_orphans else {}
    others = Answers(
        groups=apart.groups,
        found={name: values[:0] for name, values in answers.found.items()},
        repeats={},
        orphans=orphans,
    )
    return added(others, answers, segments=query.segments)


def _labels(engine: Engine, query: CountQuery, *, most: int) -> pa.Table | None:
    """All label rows that play a part; None if they are more."""
    # Labels without prediction are those that were known before a window's end.
    known_by = max(query.as_of[-1], query.between[1])
    if not most or (known_by > query.as_of[-1] and query.labels.relation.parameters):
        return None
    said = replace(query, as_of=(known_by,)).labels_as_said(most=most + 1)
    answer = engine.columns(said, about=query.labels.relation.name)
    if len(answer["id"]) > most:
        return None
    is_known = np.ma.getdata(answer["known"]) <= microseconds(query.as_of[-1])
    told = answer["problem"][is_known | np.ma.getmaskarray(answer["known"])]
    problems, counted = np.unique(told, return_counts=True)
    refuse_labels(engine, query, dict(zip(problems.tolist(), counted.tolist(), strict=True)))
    return labels_in_arrow(answer, key=query.key)


def _orphans(engine: TakesTables, query: CountQuery, few: FewRows) -> dict[int, int]:
    """Labels without prediction: ids that are not in the windows are looked for everywhere."""
    import pyarrow as pa

    sought = few.sought()
    if not len(sought):
        return {}
    engine.send(SOUGHT, pa.table({"id": sought}))
    answer = engine.columns(ids_anywhere(query), about=query.predictions.relation.name)
    return few.orphans(arrow_column(answer["id"], sought.type))
