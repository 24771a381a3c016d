"""Rows by value: steps of a factor of the square root of 2."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

_STEPS_A_DOUBLING: Final = 2
_LITTLE: Final = 0.005
"""Share of the value that rows of the lowest cell have: there only their number matters."""
NO_VALUE: Final = -(10**6)
"""The step of a value of 0."""


class ValueCells(NamedTuple):
    """Cells of neighbouring values.

    Attributes
    ----------
    of_row : ndarray of shape (n,)
        The cell of each row, from the lowest values.
    normal : ndarray of shape (cells,)
        Normal quantile of the middle rank of each cell among all rows.
    """

    of_row: IndexArray
    normal: FloatArray


def steps_of(values: FloatArray) -> NDArray[np.int64]:
    """Half powers of 2 at or below each value.

    Examples
    --------
    >>> steps_of(np.array([0.0, 1.0, 1.5, 2.0, 100.0])).tolist()
    [-1000000, 0, 1, 2, 13]
    """
    steps = np.full(len(values), NO_VALUE, dtype=np.int64)
    worth = values > 0
    steps[worth] = np.floor(_STEPS_A_DOUBLING * np.log2(values[worth])).astype(np.int64)
    return steps


def cells_of_values(values: FloatArray, number: ArrayLike = 1) -> ValueCells:
    """A cell for each step that holds rows; the lowest, with 0.5% of all value, are one.

    Each value is that of so many rows.

    Examples
    --------
    >>> cells = cells_of_values(np.array([1.0, 1.2, 8.0, 1.3, 0.0]))
    >>> cells.of_row.tolist(), cells.normal.round(2).tolist()
    ([1, 1, 2, 1, 0], [-1.28, 0.0, 1.28])
    """
    steps, of_row = np.unique(steps_of(values), return_inverse=True)
    number = np.broadcast_to(np.asarray(number, dtype=float), len(values))
    total = np.cumsum(np.bincount(of_row, values * number, minlength=len(steps)))
    low = int(np.searchsorted(total, _LITTLE * total[-1], side="right"))
    of_row = np.maximum(of_row - max(low - 1, 0), 0)
    rows = np.bincount(of_row, number)
    middle = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    return ValueCells(of_row=of_row, normal=special.ndtri(middle))
