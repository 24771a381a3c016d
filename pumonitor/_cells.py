"""Rows sorted into score cells: the one pass over the data, in as many threads as there are cores.

Cells end at every labeled and known-negative score (a cell of its own) and at every edge asked
for. Rows are sorted block by block and only counted between those boundaries, so that nothing is
ever merged and no second copy of the data is held.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray

_BLOCK_ROWS = 1 << 21
_ROWS_PER_BOUNDARY = 16
_QUANTILE_SAMPLE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boundaries:
    """Scores at which cells begin, ascending; at a point, a cell of just that score as well.

    `points` indexes the scores that are points, `begins` is the segment that begins at a score.
    """

    scores: NDArray[Any]
    points: NDArray[np.intp]
    begins: NDArray[np.intp]

    @classmethod
    def at(cls, points: NDArray[Any], edges: NDArray[Any]) -> Boundaries:
        """Boundaries at distinct sorted points and at edges."""
        scores = np.union1d(points, edges) if len(edges) else points
        at_points = np.searchsorted(scores, points)
        is_point = np.zeros(len(scores), dtype=np.intp)
        is_point[at_points] = 1
        # One segment below the first boundary, one after each, one more at each point.
        begins = 1 + np.arange(len(scores)) + np.cumsum(is_point) - is_point
        return cls(scores=scores, points=at_points, begins=begins)

    @property
    def segments(self) -> int:
        """How many segments the boundaries make."""
        return 1 + len(self.scores) + len(self.points)

    @property
    def point_segments(self) -> NDArray[np.intp]:
        """Segment of each point."""
        return self.begins[self.points]

    def breaks(self, rows: NDArray[Any]) -> NDArray[np.intp]:
        """Positions in the sorted `rows` where segments begin and end, 0 and len included."""
        breaks = np.empty(self.segments + 1, dtype=np.intp)
        breaks[0], breaks[-1] = 0, len(rows)
        left = np.searchsorted(rows, self.scores, side="left")
        breaks[self.begins] = left
        at_points = left[self.points]
        right = at_points.copy()
        if len(rows):
            # Only a score that occurs here needs the second search.
            values = self.scores[self.points]
            tied = np.flatnonzero(rows[np.minimum(at_points, len(rows) - 1)] == values)
            right[tied] = np.searchsorted(rows, values[tied], side="right")
        breaks[self.point_segments + 1] = right
        return breaks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Bounds of the cells that hold rows, and sums over rows by label state."""

    lower: FloatArray
    upper: FloatArray
    sums: dict[str, FloatArray]


def cells_of_rows(
    labels: NDArray[np.int8], scores: NDArray[Any], *, edges: NDArray[Any], density_edges: int
) -> Cells:
    """Count rows that carry no weight.

    All rows are counted, labeled ones too: those lie in cells of their own, where they are taken
    off again, which is cheaper than taking them out first.
    """
    labeled, labeled_counts = np.unique(scores[labels == 1], return_counts=True)
    negative, negative_counts = labeled[:0], labeled_counts[:0]
    if labels.min() < 0:
        negative, negative_counts = np.unique(scores[labels == -1], return_counts=True)
    points = np.union1d(labeled, negative) if len(negative) else labeled
    boundaries = Boundaries.at(points, np.concatenate([edges, _quantiles(scores, density_edges)]))
    counts, lower, upper = _counted(scores, boundaries)
    lower[boundaries.point_segments] = points
    upper[boundaries.point_segments] = points

    def at_points(values: NDArray[Any], found: NDArray[np.intp]) -> FloatArray:
        filled = np.zeros(boundaries.segments)
        filled[boundaries.point_segments[np.searchsorted(points, values)]] = found
        return filled

    in_labeled = at_points(labeled, labeled_counts)
    in_negative = at_points(negative, negative_counts)
    unlabeled = counts - in_labeled - in_negative
    sums = {"labeled": in_labeled, "unlabeled": unlabeled, "negative": in_negative}
    return _held(lower, upper, sums)


def cells_of_weighted_rows(
    labels: NDArray[np.int8],
    scores: NDArray[Any],
    *,
    weight: FloatArray,
    represented: FloatArray,
    edges: NDArray[Any],
    density_edges: int,
) -> Cells:
    """Sum weights and their squares.

    `weight` is the rows each row stands for, `represented` the same divided by the propensity.
    """
    is_labeled, is_negative, is_rest = labels == 1, labels == -1, labels == 0
    order = np.argsort(scores[is_rest], kind="stable")
    rest, rest_weight = scores[is_rest][order], weight[is_rest][order]
    points = np.unique(scores[is_labeled | is_negative])
    boundaries = Boundaries.at(points, np.concatenate([edges, _quantiles(scores, density_edges)]))
    breaks = boundaries.breaks(rest)
    lower = np.full(boundaries.segments, np.inf)
    upper = np.full(boundaries.segments, -np.inf)
    _widen(lower, upper, rest, breaks)
    lower[boundaries.point_segments] = points
    upper[boundaries.point_segments] = points
    segment_of = boundaries.point_segments

    def summed(mask: NDArray[np.bool_], values: FloatArray) -> FloatArray:
        segment = segment_of[np.searchsorted(points, scores[mask])]
        sums = np.bincount(segment, weights=values[mask], minlength=boundaries.segments)
        return np.asarray(sums, dtype=np.float64)

    def between(values: FloatArray) -> FloatArray:
        return np.diff(np.concatenate([[0.0], np.cumsum(values)])[breaks])

    return _held(
        lower,
        upper,
        {
            "labeled": summed(is_labeled, represented),
            "unlabeled": between(rest_weight),
            "negative": summed(is_negative, weight),
            "labeled_squares": summed(is_labeled, represented**2),
            "labeled_mass": summed(is_labeled, weight),
            "labeled_mass_squares": summed(is_labeled, weight**2),
            "labeled_cross": summed(is_labeled, represented * weight),
            "unlabeled_squares": between(rest_weight**2),
            "negative_squares": summed(is_negative, weight**2),
        },
    )


def _counted(
    scores: NDArray[Any], boundaries: Boundaries
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of each segment with its lowest and highest score, counted block by block.

    A block is sorted in a buffer that its thread reuses: no copy of the data is ever whole.
    """
    rows = len(scores)
    block = max(_BLOCK_ROWS, _ROWS_PER_BOUNDARY * boundaries.segments)
    workers = min(os.cpu_count() or 1, -(-rows // block))
    ends = np.linspace(0, rows, workers + 1).astype(int).tolist()

    def count(span: tuple[int, int]) -> tuple[FloatArray, FloatArray, FloatArray]:
        counts = np.zeros(boundaries.segments)
        lower = np.full(boundaries.segments, np.inf)
        upper = np.full(boundaries.segments, -np.inf)
        buffer = np.empty(min(block, span[1] - span[0]), dtype=scores.dtype)
        for start in range(*span, block):
            part = scores[start : min(start + block, span[1])]
            here = buffer[: len(part)]
            here[:] = part
            here.sort()
            breaks = boundaries.breaks(here)
            counts += np.diff(breaks)
            _widen(lower, upper, here, breaks)
        return counts, lower, upper

    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(count, itertools.pairwise(ends)))
    counts, lower, upper = parts[0]
    for other_counts, other_lower, other_upper in parts[1:]:
        counts += other_counts
        np.minimum(lower, other_lower, out=lower)
        np.maximum(upper, other_upper, out=upper)
    return counts, lower, upper


def _widen(
    lower: FloatArray, upper: FloatArray, rows: NDArray[Any], breaks: NDArray[np.intp]
) -> None:
    """Stretch the segments' bounds to the sorted rows that fall in them."""
    held = np.flatnonzero(breaks[1:] > breaks[:-1])
    lower[held] = np.minimum(lower[held], rows[breaks[held]])
    upper[held] = np.maximum(upper[held], rows[breaks[held + 1] - 1])


def _quantiles(scores: NDArray[Any], count: int) -> NDArray[Any]:
    """Scores that split the rows into about `count` equal parts, from a spread sample of them.

    The outermost parts are halved on: a tail within one cell would have no shape.
    """
    if count < 2:
        return scores[:0]
    sample = np.sort(scores[:: max(1, len(scores) // _QUANTILE_SAMPLE)])
    at = np.linspace(0, len(sample), min(count, len(sample)) + 1).astype(np.intp)[1:-1]
    halvings = np.arange(1, 1 + int(np.log2(max(len(sample) / count, 1))))
    tail = (len(sample) / count / 2.0**halvings).astype(np.intp)
    return np.asarray(sample[np.concatenate([tail[::-1], at, len(sample) - 1 - tail])])


def _held(lower: FloatArray, upper: FloatArray, sums: dict[str, FloatArray]) -> Cells:
    """Only the cells that hold rows."""
    held = (sums["labeled"] + sums["unlabeled"] + sums["negative"]) > 0
    return Cells(
        lower=lower[held],
        upper=upper[held],
        sums={name: column[held] for name, column in sums.items()},
    )
