"""Boosted trees as plain arrays, and what they say of rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray

_CHUNK: Final = 16_384
"""Rows at a time: what one tree makes of them stays in the processor's cache."""

_TYPES: Final[dict[str, str]] = {
    "starts": "<i8",
    "feature": "<i4",
    "threshold": "<f8",
    "left": "<i4",
    "right": "<i4",
    "missing_left": "|b1",
    "category_split": "<i4",
    "value": "<f8",
    "left_categories": "|b1",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trees:
    """The trees of one model, nodes of all of them one after the other.

    Attributes
    ----------
    baseline : float
        Log odds before the first tree.
    starts : ndarray of int, shape (trees + 1,)
        Where the nodes of each begin; the first one is its root, children come after parents.
    feature : ndarray of int, shape (nodes,)
        Column that decides, -1 in a leaf.
    threshold : ndarray of float, shape (nodes,)
        Of numbers: those up to it go left.
    left, right : ndarray of int, shape (nodes,)
        Children, counted from the tree's root.
    missing_left : ndarray of bool, shape (nodes,)
        Whether missing values go left.
    category_split : ndarray of int, shape (nodes,)
        Row of `left_categories` where the column holds categories, else -1.
    value : ndarray of float, shape (nodes,)
        What a leaf adds to the log odds.
    left_categories : ndarray of bool, shape (splits, codes)
        Which codes go left.
    """

    baseline: float
    starts: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: FloatArray
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    category_split: NDArray[np.int32]
    value: FloatArray
    left_categories: NDArray[np.bool_]

    @classmethod
    def of(cls, baseline: float, **columns: Any) -> Trees:
        """From columns of any number type."""
        return cls(
            baseline=baseline,
            **{name: np.asarray(columns[name]).astype(kind) for name, kind in _TYPES.items()},
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name in _TYPES}

    def log_odds(self, matrix: FloatArray) -> FloatArray:
        """Of rows.

        Parameters
        ----------
        matrix : ndarray of shape (rows, columns)
            Encoded features.
        """
        found = np.empty(len(matrix))
        for begin in range(0, len(matrix), _CHUNK):
            columns = np.asfortranarray(matrix[begin : begin + _CHUNK])
            found[begin : begin + _CHUNK] = self._of_chunk(columns)
        return found

    def _of_chunk(self, matrix: FloatArray) -> FloatArray:
        total = np.full(len(matrix), self.baseline)
        codes = self._codes(matrix)
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            total += self._of_tree(matrix, codes, start, end)
        return total

    def _of_tree(
        self, matrix: FloatArray, codes: dict[int, NDArray[np.intp]], start: int, end: int
    ) -> FloatArray | np.float64:
        """From the leaves up: what a node says of all rows, were they all to come to it."""
        said: dict[int, FloatArray | np.float64] = {}
        for node in range(end - 1, start - 1, -1):
            feature = int(self.feature[node])
            if feature < 0:
                said[node - start] = self.value[node]
                continue
            split, missing_left = int(self.category_split[node]), self.missing_left[node]
            if split >= 0:
                goes_left = np.append(self.left_categories[split], missing_left)[codes[feature]]
            elif missing_left:
                # What is missing compares as false, whatever is asked.
                goes_left = ~(matrix[:, feature] > self.threshold[node])
            else:
                goes_left = matrix[:, feature] <= self.threshold[node]
            said[node - start] = np.where(
                goes_left, said.pop(int(self.left[node])), said.pop(int(self.right[node]))
            )
        return said[0]

    def _codes(self, matrix: FloatArray) -> dict[int, NDArray[np.intp]]:
        """Codes of columns of categories; the code after the last is a missing value."""
        after = self.left_categories.shape[1]
        return {
            int(feature): np.nan_to_num(matrix[:, feature], nan=after).astype(np.intp)
            for feature in np.unique(self.feature[self.category_split >= 0])
        }
