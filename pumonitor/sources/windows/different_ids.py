"""Whether an id stands more than once in a window, at the least cost that an engine allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery

_IDS_AT_ONCE: Final = 8_000_000
_MOST_PARTS: Final = 32
"""In which ids are looked at: a part may have to read all of them, so of many parts are larger."""
_DENSE: Final = 4
"""Ids are looked at range by range where there are so many times as many numbers as rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenIds:
    """How many rows there are, and what is known of their ids.

    Attributes
    ----------
    rows : int
    between : tuple of int, optional
        The least and the largest id, of ids that are numbers.
    """

    rows: int
    between: tuple[int, int] | None = None


def seen_ids(engine: Engine, query: CountQuery) -> SeenIds:
    """Ask for the number of rows, and for the ends of ids that are numbers."""
    ((rows, *ends),) = engine.rows(query.rows(), about=query.predictions.relation.name)
    if len(ends) < 2 or ends[0] is None:
        return SeenIds(rows=int(rows))
    return SeenIds(rows=int(rows), between=(int(ends[0]), int(ends[1])))


def all_different(engine: Engine, query: CountQuery, seen: SeenIds) -> bool:
    """Whether no id stands more than once in a window.

    Where answers cost little, ids that are numbers come here and are mostly in order already. Of
    others hashes of 64 bits are sorted here, which takes a fifth of the time of grouping them
    there. Should two ids share one, the exact way is taken.
    """
    about = query.predictions.relation.name
    if query.dialect.hashed_id is None:
        return sum(int(row[-1]) for row in engine.rows(query.ids(), about=about)) == seen.rows
    ranges = ranges_of(seen)
    if ranges:
        differ = _differ_in_ranges(engine, query, seen, ranges)
        # An id of two windows may stand in both.
        if differ or not query.windows:
            return differ
    parts = min(1 + seen.rows // _IDS_AT_ONCE, _MOST_PARTS)
    for part in range(parts):
        found = engine.columns(query.id_hashes(part=part, parts=parts), about=about)
        if not all_distinct(found["hashed"]):
            return False
    return True


def ranges_of(seen: SeenIds) -> list[tuple[int, int]]:
    """Ranges of numbers, from first to last, with about as many ids as are looked at at once."""
    if seen.between is None:
        return []
    least, largest = seen.between
    if seen.rows <= _IDS_AT_ONCE:
        return [seen.between]
    span = largest - least + 1
    if span > _DENSE * seen.rows:
        return []
    width = -(-span // min(1 + span // _IDS_AT_ONCE, _MOST_PARTS))
    return [(first, min(first + width - 1, largest)) for first in range(least, largest + 1, width)]


def _differ_in_ranges(
    engine: Engine, query: CountQuery, seen: SeenIds, ranges: list[tuple[int, int]]
) -> bool:
    """Whether ids differ; statistics of files tell which of them hold a range."""
    missing = seen.rows
    for first, last in ranges:
        # With more rows than numbers some stand twice: no more are held.
        most = min(last - first + 1, seen.rows) + 1
        found = engine.columns(
            query.ids_from(first, last, most=most), about=query.predictions.relation.name
        )
        ids = np.asarray(found["id"])
        if len(ids) >= most or not all_distinct(ids):
            return False
        missing -= len(ids)
    # Those without an id are all alike.
    return missing <= 1


def all_distinct(values: Any) -> bool:
    """Whether no value stands more than once in an array, which may be sorted for that."""
    numbers = np.asarray(values)
    if np.all(numbers[1:] > numbers[:-1]):
        return True
    numbers.sort()
    return not np.any(numbers[1:] == numbers[:-1])
