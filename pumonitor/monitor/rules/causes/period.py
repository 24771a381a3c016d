"""Counts of a period of windows, on score cells that the compared periods share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pumonitor._arrays import FloatArray

CountedTable = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Per cell: a score within it, its number of labeled rows, its number of all rows."""

_CELLS = 400


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Period:
    """Counts of a period, window by window.

    Attributes
    ----------
    labeled, rows : ndarray of shape (windows, cells)
        Confirmed positives and all rows, by score from low to high.
    arrivals : ndarray of shape (delays,)
        Confirmed positives by label delay; empty when delays are not known.
    delay_edges : ndarray
        Upper ends of the delay bins in seconds.
    traffic : mapping of str to (ndarray, ndarray) of shape (cells,) each
        Segment to its labeled rows and all its rows; empty without segments.
    """

    labeled: FloatArray
    rows: FloatArray
    arrivals: FloatArray = field(default_factory=lambda: np.zeros(0))
    delay_edges: FloatArray = field(default_factory=lambda: np.zeros(0))
    traffic: Mapping[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @classmethod
    def counted(
        cls,
        windows: Sequence[CountedTable],
        *,
        edges: FloatArray,
        arrivals: ArrayLike = (),
        delay_edges: ArrayLike = (),
        traffic: Mapping[str, Iterable[CountedTable]] | None = None,
    ) -> Period:
        """Count the rows of tables, each with cells of its own, in common cells.

        Parameters
        ----------
        windows : sequence of CountedTable
            One per window.
        edges : ndarray
            Ends of the common cells, from `score_edges`.
        arrivals, delay_edges, traffic
            As in the attributes; the tables of one segment are added up.

        Examples
        --------
        >>> edges = score_edges([([0.1, 0.4, 0.9], [0, 1, 2], [50, 30, 20])])
        >>> period = Period.counted([([0.1, 0.4, 0.9], [0, 1, 2], [50, 30, 20])], edges=edges)
        >>> period.labeled.sum(), period.rows.sum()
        (np.float64(3.0), np.float64(100.0))
        """
        binned = [_binned(one, edges) for one in windows]
        parts = {
            name: np.sum([_binned(one, edges) for one in some], axis=0)
            for name, some in (traffic or {}).items()
        }
        return cls(
            labeled=np.array([one[0] for one in binned]).reshape(len(binned), len(edges) + 1),
            rows=np.array([one[1] for one in binned]).reshape(len(binned), len(edges) + 1),
            arrivals=np.asarray(arrivals, dtype=np.float64),
            delay_edges=np.asarray(delay_edges, dtype=np.float64),
            traffic={name: (part[0], part[1]) for name, part in parts.items()},
        )


def score_edges(windows: Iterable[CountedTable], *, cells: int = _CELLS) -> FloatArray:
    """Ends of common cells: quantiles of the scores of all rows and of confirmed positives."""
    scores, labeled, rows = (
        np.concatenate(columns)
        for columns in zip(
            *([np.asarray(one, dtype=np.float64) for one in window] for window in windows),
            strict=True,
        )
    )
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    levels = np.arange(1, cells // 2) / (cells // 2)
    ends = []
    for weight in (labeled[order], rows[order]):
        total = weight.sum()
        if total > 0:
            at = np.searchsorted(np.cumsum(weight), levels * total)
            ends.append(scores[np.minimum(at, len(scores) - 1)])
    return np.unique(np.concatenate(ends)) if ends else np.zeros(0)


def _binned(table: CountedTable, edges: FloatArray) -> FloatArray:
    scores, labeled, rows = (np.asarray(column, dtype=np.float64) for column in table)
    cell = np.searchsorted(edges, scores, side="left")
    size = len(edges) + 1
    return np.stack(
        [np.bincount(cell, weights=column, minlength=size) for column in (labeled, rows)]
    )
