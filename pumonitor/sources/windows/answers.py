"""What an engine answers about windows, in arrays that are the same whatever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Further rows of ids in one window: with the first one's score, with another, a problem."""

    same: int = 0
    other: int = 0
    problem: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAnswers:
    """The answers about one window.

    Attributes
    ----------
    groups : mapping of str to ndarray
        Columns of `CountQuery.groups`.
    found : mapping of str to ndarray of int
        Columns of `CountQuery.found`.
    repeats : Repeats
    orphans : int or None
    """

    groups: Columns
    found: Columns
    repeats: Repeats
    orphans: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers about all windows that were asked about.

    Attributes
    ----------
    groups, found : mapping of str to ndarray
        With the `place` of the window.
    repeats : mapping of int to Repeats
        By place.
    orphans : mapping of int to int, or None
        By place; under -1 where the same holds for all.
    """

    groups: Columns
    found: Columns
    repeats: Mapping[int, Repeats]
    orphans: Mapping[int, int] | None

    def by_window(self, windows: int) -> Sequence[WindowAnswers]:
        """Those about each window."""
        groups, found = _split(self.groups, windows), _split(self.found, windows)
        return [
            WindowAnswers(
                groups=groups[place],
                found=found[place],
                repeats=self.repeats.get(place, Repeats()),
                orphans=None
                if self.orphans is None
                else self.orphans.get(place, self.orphans.get(-1, 0)),
            )
            for place in range(windows)
        ]


def _split(columns: Columns, windows: int) -> list[Columns]:
    if windows == 1:
        return [columns]
    order = np.argsort(columns["place"], kind="stable")
    edges = np.searchsorted(columns["place"][order], np.arange(windows + 1))
    return [
        {name: values[order[first:last]] for name, values in columns.items()}
        for first, last in pairwise(edges)
    ]


def numbers_of(values: Any, kind: Any) -> NDArray[Any]:
    """A column of an answer; null is NaN, which whole numbers do not have."""
    if isinstance(values, np.ma.MaskedArray):
        if not np.ma.getmaskarray(values).any():
            return np.asarray(values.data, dtype=kind)
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan), dtype=kind)
    if not isinstance(values, np.ndarray):
        values = [np.nan if value is None else value for value in values]
    return np.asarray(values, dtype=kind)


def texts_of(values: Any) -> NDArray[np.str_]:
    """A column of an answer that has no null in it."""
    # Of an array of objects numpy would make text wider than its longest.
    given = values.tolist() if isinstance(values, np.ndarray) else values
    found = np.asarray(given, dtype=np.str_)
    return found if found.size else found.astype("<U1")
