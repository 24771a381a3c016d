"""What the rows of a series are worth, from the cells of their values to what a table keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import IntArray
from pumonitor._valued import UNUSABLE, ValuedRows, values_of_cells
from pumonitor.tables import ScoreTable
from pumonitor.values.cells import steps_of

_SCORE_CELLS: Final = 128
"""Of groups: estimates by value stand on some 20 score bins."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueGroups:
    """Rows of one score cell that are worth the same and of which the same is known.

    Attributes
    ----------
    place : ndarray of int of shape (groups,)
        Index of the score cell.
    state : ndarray of int of shape (groups,)
        As in `ValuedRows`.
    value_cell : ndarray of int of shape (groups,)
        -1 where the value cannot be used.
    rows : ndarray of int of shape (groups,)
    """

    place: IntArray
    state: IntArray
    value_cell: IntArray
    rows: IntArray

    @classmethod
    def of(
        cls,
        place: NDArray[np.intp],
        state: NDArray[Any],
        value_cell: IntArray,
        number: IntArray,
    ) -> Self:
        """Whichever other moments rows were told apart by."""
        (place, state, value_cell), rows = _summed((place, state, value_cell), number)
        return cls(place=place, state=state, value_cell=value_cell, rows=rows.astype(np.int64))

    @property
    def columns(self) -> tuple[IntArray, ...]:
        """All that there is."""
        return self.place, self.state, self.value_cell, self.rows

    def beside(
        self, table: ScoreTable, lower: NDArray[np.float64], *, begins: Iterable[float]
    ) -> ValuedRows:
        """Fewer groups of rows, of the cells of a table.

        Nothing is lost by it but where in a score bin rows score: sums of values are as they were.

        Parameters
        ----------
        table : ScoreTable
        lower : ndarray
            Least score of each cell that `place` is of.
        begins : iterable of float
            Scores at which a group begins.
        """
        edges = table.compress(_SCORE_CELLS, thresholds=begins).lower
        at = np.maximum(np.searchsorted(edges, lower[self.place], side="right") - 1, 0)
        value = np.where(self.value_cell < 0, UNUSABLE, values_of_cells(self.value_cell))
        # Those that cannot be used are a step of their own, below that of no value.
        step = np.where(value < 0, np.iinfo(np.int32).min, steps_of(value))
        (index, state, _), rows = _summed((at, self.state, step), self.rows)
        _, worth = _summed((at, self.state, step), self.rows * value)
        return ValuedRows(
            score=edges[index],
            state=state,
            # As it is stored.
            value=(worth / rows).astype(np.float32).astype(np.float64),
            rows=rows.astype(np.int64),
        )


def _summed(
    keys: tuple[NDArray[Any], ...], number: NDArray[Any]
) -> tuple[list[IntArray], NDArray[Any]]:
    """Each combination of keys that there is, in ascending order, and the sum of its numbers."""
    order = np.lexsort(keys[::-1])
    ordered = [key[order].astype(np.int64) for key in keys]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
    begins = np.flatnonzero(is_first)
    return [key[begins] for key in ordered], np.add.reduceat(number[order], begins)
