"""A window of very many rows or labels, counted slice by slice of its ids: memory is bounded.

All rows of an id, and all that was said of it, are in one slice. So their numbers can be added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.windows.answers import Answers, Repeats, numbers_of, texts_of
from pumonitor.sources.windows.different_ids import SeenIds, ranges_of
from pumonitor.sources.windows.id_slices import IdSlice

_LABELS_AT_ONCE: Final = 2_000_000
_MOST_SLICES: Final = 32
"""By hashes: each slice reads all rows."""
NO_PROPENSITY: Final = -1.0
"""Where there is none: what is missing is no number that could be compared."""


def slices_of(seen: SeenIds, *, labels: int, dialect: Dialect) -> list[IdSlice]:
    """Slices that are each few enough rows and labels; none where the whole is.

    Ids that are numbers and lie close are cut into ranges: statistics of files tell which hold one.
    Others are cut by their hash, if there are too many labels: it is these that have to be held.

    Parameters
    ----------
    seen : SeenIds
    labels : int
        Rows of labels that were known by the last moment.
    dialect : Dialect
    """
    ranges = ranges_of(seen)
    if len(ranges) > 1:
        # Without an id a row cannot be used; that is told by the first slice.
        within = [f"{{0}} >= {first} AND {{0}} <= {last}" for first, last in ranges]
        return [
            IdSlice(rows=f"({one} OR {{0}} IS NULL)" if place == 0 else one, labels=one)
            for place, one in enumerate(within)
        ]
    parts = min(-(-labels // _LABELS_AT_ONCE), _MOST_SLICES)
    if parts < 2 or dialect.hashed_id is None:
        return []
    hashed = dialect.hashed_id
    cut = [f"{hashed} % {parts} = {part}" for part in range(parts)]
    return [IdSlice(rows=one, labels=one) for one in cut]


def outside(seen: SeenIds) -> list[IdSlice]:
    """The ids that no range of those of the window holds; labels may name them."""
    if len(ranges_of(seen)) < 2 or seen.between is None:
        return []
    beyond = f"({{0}} < {seen.between[0]} OR {{0}} > {seen.between[1]})"
    return [IdSlice(rows=beyond, labels=beyond)]


def added(one: Answers, other: Answers, *, segments: Sequence[str]) -> Answers:
    """Answers about ids of two slices, as if they had been asked of both at once."""
    repeats = {
        place: _both(one.repeats.get(place, Repeats()), other.repeats.get(place, Repeats()))
        for place in one.repeats.keys() | other.repeats.keys()
    }
    return Answers(
        groups=_groups(one.groups, other.groups, segments),
        found={
            name: np.concatenate([values, other.found[name]]) for name, values in one.found.items()
        },
        repeats=repeats,
        orphans=dict(Counter(one.orphans) + Counter(other.orphans)),
    )


def _both(one: Repeats, other: Repeats) -> Repeats:
    return Repeats(
        same=one.same + other.same,
        other=one.other + other.other,
        problem=max(one.problem, other.problem),
    )


def _texts(groups: Mapping[str, NDArray[Any]], segments: Sequence[str]) -> set[str]:
    return {text for name in ("model_version", *segments) for text in set(groups[name].tolist())}


def _groups(
    one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]], segments: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Groups of the same keys become one.

    Text that holds a NUL is refused later, and would be cut at its end here: it is left as it is.
    """
    whole = ("place", "cell", "history", "n")
    columns: dict[str, NDArray[Any]] = {}
    if any("\0" in text for of in (one, other) for text in _texts(of, segments)):
        return {
            name: np.concatenate([np.asarray(of[name], dtype=object) for of in (one, other)])
            for name in one
        }
    for name in ("model_version", *segments):
        columns[name] = np.concatenate([texts_of(one[name]), texts_of(other[name])])
    for name in (*whole, "propensity", "lower_score", "upper_score"):
        kind = np.int64 if name in whole else np.float64
        columns[name] = np.concatenate([numbers_of(of[name], kind) for of in (one, other)])
    propensity = np.nan_to_num(columns["propensity"], nan=NO_PROPENSITY)
    keys = [*(columns[name] for name in ("place", "cell", "history")), propensity]
    keys += [columns[name] for name in ("model_version", *segments)]
    # What is the same in all rows, as most versions are, tells none apart.
    keys = [key for key in keys if np.any(key[1:] != key[:-1])] or keys[:1]
    order = np.lexsort(keys)
    is_first = np.ones(len(order), dtype=np.bool_)
    if len(order):
        is_first[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    starts = np.flatnonzero(is_first)
    found = {name: values[order][starts] for name, values in columns.items()}
    for name, reduce in (("n", np.add), ("lower_score", np.fmin), ("upper_score", np.fmax)):
        found[name] = reduce.reduceat(columns[name][order], starts)
    return found
