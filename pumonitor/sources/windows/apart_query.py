"""The statements that tell the few rows that labels are about from all others.

These are grouped where they are; no label has anything to say of them. Each of the few comes back
as it is. What is grouped by is one whole number, which engines do fastest: the place of the window
and the cell, or, below 0, the place and the number of an id.
"""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.sources.windows.answers import numbers_of
from pumonitor.sources.windows.counts_parts import Statement
from pumonitor.sources.windows.counts_query import MOST_GROUPS, CountQuery
from pumonitor.sources.windows.counts_rows import prediction_ids
from pumonitor.sources.windows.labels_in_arrow import arrow_column
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
