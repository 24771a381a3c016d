"""Windows of an engine elsewhere, counted without a label going through its statements.

Labels come here, and their ids go to the predictions. The few rows that have one of these ids come
back and are counted here; all others are counted there. Both are the same query.
"""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.ports import Progress
from pumonitor.sources.column_types.time_columns import microseconds
from pumonitor.sources.windows.answers import Answers, numbers_of
from pumonitor.sources.windows.answers_here import STEP
from pumonitor.sources.windows.counts_engine import Engine, TakesTables
from pumonitor.sources.windows.counts_parts import Statement
from pumonitor.sources.windows.counts_query import MOST_GROUPS, CountQuery
from pumonitor.sources.windows.counts_rows import prediction_ids
from pumonitor.sources.windows.few_rows import FewRows
from pumonitor.sources.windows.labels_in_arrow import arrow_column, labels_in_arrow
from pumonitor.sources.windows.refusing import refuse_labels
from pumonitor.sources.windows.slices import added
from pumonitor.sources.windows.statement_values import Values

if TYPE_CHECKING:
    import pyarrow as pa

LABELED: Final = "pumonitor_labeled"
"""Ids that labels are about, with their numbers."""
SOUGHT: Final = "pumonitor_sought"
"""Ids that are looked for among all predictions."""
_CELLS: Final = 2**17
_PROBLEMS: Final = 16
"""Of the cells of a place, kept for problems, which are cells below 0."""
_IDS: Final = 2**40


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsApart:
    """What came of the rows.

    Attributes
    ----------
    groups : mapping of str to ndarray
        Those that no label is about, in the columns of `CountQuery.groups`.
    labeled : pyarrow.Table
        The others, as they are: id, made, score, model_version, segments.
    rows : int
        How many rows there are, both together.
    is_cut : bool
        Whether there are more groups than are taken.
    """

    groups: Mapping[str, NDArray[Any]]
    labeled: pa.Table
    rows: int
    is_cut: bool


def rows_apart(query: CountQuery, *, ids: int) -> Statement:
    """The rows by groups; of so many ids each by itself, if it stands once."""
    place = "place" if query.windows else "0"
    texts = "".join(f"{one}, " for one in _texts(query))
    code = (
        f"CASE WHEN problem = 0 AND number IS NOT NULL THEN -1 - ({_IDS} * {place} + number) "
        f"ELSE {_CELLS} * ({place} + 1) + {_PROBLEMS} + {query.cell} END"
    )
    return query.stated(
        f"SELECT {texts}code, min(score) AS lower_score, max(score) AS upper_score, "
        f"min(made) AS made, count(*) AS n FROM (SELECT {query.dialect.broadcast('labeled')}"
        f"{texts}{code} AS code, score, CASE WHEN number IS NOT NULL THEN made END AS made "
        f"FROM pumonitor_window AS predicted LEFT JOIN {LABELED} AS labeled "
        f"ON predicted.id = labeled.id) AS coded GROUP BY {texts}code LIMIT {_most(query, ids)}",
        "pumonitor_window",
    )


def rows_told_apart(query: CountQuery, answer: Mapping[str, Any], ids: pa.Array) -> RowsApart:
    """What the answer to `rows_apart` says; ids are those that were numbered, in this order."""
    import pyarrow as pa

    code, rows = (numbers_of(answer[name], np.int64) for name in ("code", "n"))
    texts = {name: np.asarray(answer[name], dtype=object) for name in _texts(query)}
    scores = {name: numbers_of(answer[name], np.float64) for name in ("lower_score", "upper_score")}
    few, many = code < 0, code >= 0
    places, cells = np.divmod(code[many], _CELLS)
    groups: dict[str, NDArray[Any]] = {
        "model_version": np.full(len(places), ""),
        **{name: values[many] for name, values in (texts | scores).items()},
        "place": places - 1,
        "cell": cells - _PROBLEMS,
        "history": np.full(len(places), query.unlabeled),
        "propensity": np.full(len(places), np.nan),
        "n": rows[many],
    }
    labeled = {
        "id": ids.take(pa.array((-1 - code[few]) % _IDS)),
        "made": pa.array(np.ma.getdata(answer["made"])[few], pa.int64()),
        "score": pa.array(scores["lower_score"][few]),
        **{name: arrow_column(values[few], pa.string()) for name, values in texts.items()},
    }
    return RowsApart(
        groups=groups,
        labeled=pa.table(labeled),
        rows=int(rows.sum()),
        is_cut=len(code) == _most(query, len(ids)),
    )


def ids_anywhere(query: CountQuery) -> Statement:
    """Which of the ids that are looked for any prediction has."""
    values = Values(query.dialect)
    made = prediction_ids(query.predictions, key=query.key, between=None, values=values)
    return Statement(
        sql=f"SELECT {query.dialect.broadcast('sought')}made.id AS id FROM ({made}) AS made "
        f"JOIN {SOUGHT} AS sought ON made.id = sought.id GROUP BY made.id",
        values=values.bound,
    )


def _texts(query: CountQuery) -> tuple[str, ...]:
    version = () if query.predictions.model_version is None else ("model_version",)
    return (*version, *query.segments)


def _most(query: CountQuery, ids: int) -> int:
    """Groups that are taken: more than are borne, beside all those of one row."""
    return MOST_GROUPS + 1 + ids * max(1, len(query.windows))
