"""Counts per cell made elsewhere, checked before anything is computed of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pumonitor._arrays import FloatArray
from pumonitor._cells import Cells
from pumonitor.errors import InputError


def cells_of_counts(
    labeled: ArrayLike,
    unlabeled: ArrayLike,
    negative: ArrayLike | None,
    *,
    edges: ArrayLike | None,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
) -> Cells:
    """Cells that hold rows, in ascending order; every inconsistency is refused."""
    columns = {
        "labeled": np.asarray(labeled, dtype=np.float64),
        "unlabeled": np.asarray(unlabeled, dtype=np.float64),
    }
    columns["negative"] = (
        np.zeros_like(columns["labeled"])
        if negative is None
        else np.asarray(negative, dtype=np.float64)
    )
    cells = len(columns["labeled"]) if columns["labeled"].ndim == 1 else -1
    for name, column in columns.items():
        _check_column(name, column, cells=cells)
    low, high = _bounds(cells, edges=edges, lower=lower, upper=upper)
    held = (columns["labeled"] + columns["unlabeled"] + columns["negative"]) > 0
    return Cells(
        lower=low[held],
        upper=high[held],
        sums={name: column[held] for name, column in columns.items()},
    )


def _check_column(name: str, column: FloatArray, *, cells: int) -> None:
    if column.ndim != 1 or len(column) != cells:
        msg = f"{name} must have one count per cell: got shape {column.shape} for {cells} cells"
        raise InputError(msg)
    wrong = ~(np.isfinite(column) & (column >= 0))
    if wrong.any():
        msg = (
            f"{name} must be counts >= 0: {int(wrong.sum())} of {cells} cells are not, first at "
            f"cell {int(np.argmax(wrong))} ({column[np.argmax(wrong)]:g})"
        )
        raise InputError(msg)


def _bounds(
    cells: int,
    *,
    edges: ArrayLike | None,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
) -> tuple[FloatArray, FloatArray]:
    if (edges is None) == (lower is None or upper is None):
        msg = "give either edges, or both lower and upper"
        raise InputError(msg)
    if edges is not None:
        ends = np.asarray(edges, dtype=np.float64)
        if len(ends) != cells + 1:
            msg = f"edges must be one more than the cells: got {len(ends)} edges for {cells} cells"
            raise InputError(msg)
        low, high = ends[:-1], np.nextafter(ends[1:], -np.inf)
    else:
        low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        if len(low) != cells or len(high) != cells:
            msg = (
                f"lower and upper must have one bound per cell: got {len(low)} and {len(high)} "
                f"for {cells} cells"
            )
            raise InputError(msg)
        # Bins that touch are half-open, as a group-by over bins means them.
        touching = np.zeros(cells, dtype=bool)
        touching[:-1] = (high[:-1] == low[1:]) & (high[:-1] > low[:-1])
        high = np.where(touching, np.nextafter(high, -np.inf), high)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        msg = "cell bounds must be finite"
        raise InputError(msg)
    wrong = high < low
    wrong[1:] |= low[1:] <= high[:-1]
    if wrong.any():
        first = int(np.argmax(wrong))
        msg = (
            "cells must ascend without overlap, each lower bound at or above the upper bound "
            f"before it: {int(wrong.sum())} of {cells} cells do not, first cell {first} "
            f"[{low[first]:g}, {high[first]:g}]; sort by lower bound and merge what overlaps"
        )
        raise InputError(msg)
    return low, high
