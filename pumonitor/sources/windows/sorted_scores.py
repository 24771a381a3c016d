"""Groups of a large window whose rows nothing but score and labels tells apart, by sorting scores.

Most rows have no label, and of these only the score counts. In ascending order a cell is a run of
scores, whose ends are the lowest and the highest. To sort a million scores takes a fifth of the
time of a group-by, which has to find each row its group among tens of thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.ports import Progress
from pumonitor.sources.windows.answers import numbers_of
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery
from pumonitor.sources.windows.slices import NO_PROPENSITY

_LEAST: Final = 50_000
"""Of fewer rows a statement more takes longer than a group-by."""

Groups = Mapping[str, NDArray[Any]]


def scores_to_sort(
    engine: Engine, query: CountQuery, rows: int, *, progress: Progress | None, step: str
) -> FloatArray | None:
    """Scores of all rows; None where the engine is to group them.

    It is where they are few, or more than it holds, since rows that are read twice may change
    between; where they belong to several windows, versions or segments; and where some cannot be
    used, of which it says how many there are.
    """
    is_told_apart = query.windows or query.segments or query.predictions.model_version is not None
    if is_told_apart or rows < _LEAST or "pumonitor_rows" not in query.kept:
        return None
    about = query.predictions.relation.name
    found = engine.columns(query.scores(), about=about, progress=progress, step=step)["score"]
    return None if np.ma.is_masked(found) else np.asarray(found)


def groups_of_scores(engine: Engine, query: CountQuery, scores: FloatArray) -> Groups:
    """What `CountQuery.groups` would answer.

    Parameters
    ----------
    engine : Engine
    query : CountQuery
    scores : ndarray of float
        Of all rows; they are sorted in place.
    """
    told = engine.columns(query.told(), about=query.predictions.relation.name)
    labeled = numbers_of(told["score"], np.float64)
    propensity = np.nan_to_num(numbers_of(told["propensity"], np.float64), nan=NO_PROPENSITY)
    scores.sort()
    parts = (
        _runs(query, _without(scores, np.sort(labeled))),
        _runs(query, labeled, history=numbers_of(told["history"], np.int64), propensity=propensity),
    )
    groups = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    groups["propensity"][groups["propensity"] == NO_PROPENSITY] = np.nan
    return groups | {
        "place": np.zeros(len(groups["n"]), dtype=np.int64),
        "model_version": np.full(len(groups["n"]), ""),
    }


def _without(scores: FloatArray, taken: FloatArray) -> FloatArray:
    """Scores less those taken, one for one; both are in ascending order."""
    again = np.arange(len(taken)) - np.searchsorted(taken, taken)
    return np.delete(scores, np.searchsorted(scores, taken) + again)


def _runs(query: CountQuery, scores: FloatArray, **others: NDArray[Any]) -> Groups:
    """Rows by cell and by what else is known of them; without `others` scores must ascend."""
    cell = 2 * query.grid.index(scores) + (scores >= query.threshold)
    keys = {"cell": cell, **others}
    # Scores that are no probabilities are mapped to them and rounded: cells may go down as well.
    if others or np.any(cell[1:] < cell[:-1]):
        order = np.lexsort([scores, *keys.values()])
        scores, keys = scores[order], {name: key[order] for name, key in keys.items()}
    is_first = np.ones(len(scores), dtype=np.bool_)
    is_first[1:] = np.any([key[1:] != key[:-1] for key in keys.values()], axis=0)
    first = np.flatnonzero(is_first)
    after = np.append(first, len(scores))[1:]
    nothing = {"history": np.array(query.unlabeled), "propensity": np.array(NO_PROPENSITY)}
    return {name: np.broadcast_to(value, len(first)) for name, value in nothing.items()} | {
        **{name: key[first] for name, key in keys.items()},
        "lower_score": scores[first],
        "upper_score": scores[after - 1],
        "n": after - first,
    }
