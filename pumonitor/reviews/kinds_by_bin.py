"""Rows of a table by score bin and by what is known of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import IntArray
from pumonitor._reviewed import ReviewedRows
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

__all__ = ["bin_of_cell", "kinds_by_bin", "reviewed_rows", "sum_by_bin"]


def kinds_by_bin(table: ScoreTable, edges: NDArray[np.float64]) -> IntArray:
    """Rows of each of `KINDS` by bin, shape (kinds, bins); a cell is in the bin of its middle.

    Raises
    ------
    InputError
        If nobody counted what reviews say of the rows.
    """
    return np.rint(sum_by_bin(table, edges, reviewed_rows(table).kinds)).astype(np.int64)


def sum_by_bin(
    table: ScoreTable, edges: NDArray[np.float64], rows: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums over the cells of each bin, of rows of shape (any, cells)."""
    bins = bin_of_cell(table, edges)
    return np.stack(
        [np.bincount(bins, weights=of_kind, minlength=len(edges) + 1) for of_kind in rows]
    )


def bin_of_cell(table: ScoreTable, edges: NDArray[np.float64]) -> NDArray[np.intp]:
    """That of its middle."""
    return np.searchsorted(edges, 0.5 * (table.lower + table.upper), side="right")


def reviewed_rows(table: ScoreTable) -> ReviewedRows:
    """What the table keeps of reviews; InputError if it keeps nothing."""
    if table.reviewed is None:
        msg = "the table does not say what reviews say of its rows"
        raise InputError(msg)
    return table.reviewed
