"""What rows are worth, which a table keeps beside its sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray

UNUSABLE = -1.0
"""In place of a value that is missing, no number, infinite or negative."""

_LEAST, _MOST = -10, 50
"""Values are told apart from 2**-10 up to 2**50; below they count as 0, and none is larger."""
MOST_VALUE = 2.0**_MOST
_STEPS = 32
"""Cells a doubling."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValuedRows:
    """Rows with their values, or groups of rows that are alike.

    Attributes
    ----------
    score : ndarray of shape (groups,)
        Of groups the lowest one; all their rows are on one side of the threshold.
    state : ndarray of int of shape (groups,)
        Label 1, 0 or -1; with reviews the index into `pumonitor.reviews.KINDS`.
    value : ndarray of shape (groups,)
        Of a row, the mean of a group; at least 0, or `UNUSABLE`.
    rows : ndarray of int of shape (groups,)
    queue_score : ndarray of shape (groups,), optional
        The score that filled the queue, where that is another.
    design_effect : float
        Of the mean rank of the values of known positives, where these share entities.
    """

    score: FloatArray
    state: NDArray[np.int64]
    value: FloatArray
    rows: NDArray[np.int64]
    queue_score: FloatArray | None = None
    design_effect: float = 1.0

    @classmethod
    def of_rows(
        cls,
        values: FloatArray,
        states: NDArray[np.signedinteger[Any]],
        scores: NDArray[Any],
        queue_score: NDArray[Any] | None = None,
        design_effect: float = 1.0,
    ) -> ValuedRows:
        """Rows as they are."""
        return cls(
            score=np.asarray(scores, dtype=np.float64),
            state=states.astype(np.int64),
            value=values,
            rows=np.ones(len(values), dtype=np.int64),
            queue_score=None if queue_score is None else np.asarray(queue_score, np.float64),
            design_effect=design_effect,
        )

    @property
    def worth(self) -> FloatArray:
        """Sum of the values of each group."""
        return self.value * self.rows

    def followed_by(self, other: ValuedRows) -> ValuedRows:
        """These rows, then those."""
        columns: dict[str, Any] = {}
        for name in (field.name for field in fields(ValuedRows) if field.name != "design_effect"):
            both = (getattr(self, name), getattr(other, name))
            known = [column for column in both if column is not None]
            columns[name] = np.concatenate(known) if len(known) == len(both) else None
        effect = max(self.design_effect, other.design_effect)
        return ValuedRows(**columns, design_effect=effect)


def value_cell_sql(
    value: str, *, floor: str, constant: Callable[[float], str], between: tuple[int, int] = (0, 0)
) -> str:
    """Expression of the cell of a value that is at least 0, in any SQL dialect.

    A value is rounded to the nearest of 32 numbers between two powers of 2, by which it moves by
    1.6% at most and whole numbers up to 64 stay what they are. Multiplying by a power of 2 and
    rounding down are exact in binary arithmetic, so every engine puts a row into the same cell.

    Parameters
    ----------
    value : str
        A DOUBLE column.
    floor : str
        How the dialect rounds a number down that is not below 0.
    constant : callable
        How it writes a double.
    between : (int, int)
        Powers of 2 between which the value is known to lie; by default it may be any.
    """
    low, high = between if between != (0, 0) else (_LEAST - 1, _MOST)
    if low < _LEAST:
        rest = value_cell_sql(value, floor=floor, constant=constant, between=(_LEAST, _MOST))
        return f"(CASE WHEN {value} < {constant(2.0**_LEAST)} THEN 0 ELSE {rest} END)"
    if high - low > 1:
        middle = (low + high) // 2
        below, above = (
            value_cell_sql(value, floor=floor, constant=constant, between=half)
            for half in ((low, middle), (middle, high))
        )
        return f"CASE WHEN {value} < {constant(2.0**middle)} THEN {below} ELSE {above} END"
    scaled = f"({value} * {constant(_STEPS * 2.0**-low)} + {constant(0.5)})"
    return f"{_STEPS * (low - _LEAST) - _STEPS + 1} + {floor.format(scaled)}"


def values_of_cells(cells: NDArray[np.int64]) -> FloatArray:
    """The value that each cell stands for.

    Examples
    --------
    >>> values_of_cells(np.array([0, 321, 322, 353])).tolist()
    [0.0, 1.0, 1.03125, 2.0]
    """
    power, step = np.divmod(np.maximum(cells - 1, 0), _STEPS)
    return np.asarray(np.where(cells > 0, np.ldexp((step + _STEPS) / _STEPS, power + _LEAST), 0.0))
