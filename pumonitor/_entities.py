"""Entities with several labeled rows, whose rows tell less than as many independent ones.

Ten chargebacks of one stolen card are one event. Rows of one entity are confirmed together and
score alike, so a sum over labeled rows varies as a sum over entities does (Rao and Scott, 1992):
docs/decisions/entities.md has the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabeledEntities:
    """The labeled rows of entities that have two or more of them, and the number of all entities.

    A labeled row that is not listed is an entity of its own. Entities are numbered: no id is kept.

    Attributes
    ----------
    entity : ndarray of int of shape (rows,)
        Number of the entity, from 0.
    scores : ndarray of shape (rows,)
        Score of the row, or any score of its cell.
    number : int
        Entities with labeled rows, those of one row included.
    """

    entity: NDArray[np.int64]
    scores: FloatArray
    number: int

    @classmethod
    def of_rows(cls, entity: ArrayLike, scores: ArrayLike) -> LabeledEntities:
        """From one value of the entity, of any kind that sorts, for each labeled row.

        Examples
        --------
        >>> held = LabeledEntities.of_rows(["a", "b", "a", "c"], [0.9, 0.2, 0.7, 0.4])
        >>> held.entity.tolist(), held.scores.tolist(), held.number
        ([0, 0], [0.7, 0.9], 3)
        """
        names, codes, counts = np.unique(
            np.asarray(entity), return_inverse=True, return_counts=True
        )
        is_shared = counts[codes] > 1
        rows = np.asarray(scores, dtype=np.float64)[is_shared]
        shared = codes[is_shared]
        order = np.lexsort((rows, shared))
        _, numbered = np.unique(shared[order], return_inverse=True)
        return cls(entity=numbered.astype(np.int64), scores=rows[order], number=len(names))

    def followed_by(self, other: LabeledEntities) -> LabeledEntities:
        """These entities, then those: none is taken to be in both."""
        first = int(self.entity[-1]) + 1 if len(self.entity) else 0
        return LabeledEntities(
            entity=np.concatenate([self.entity, other.entity + first]),
            scores=np.concatenate([self.scores, other.scores]),
            number=self.number + other.number,
        )

    def design_effect(self, lower: FloatArray, labeled: FloatArray, column: FloatArray) -> float:
        """Variance of a sum over labeled rows over that of as many independent ones, >= 1.

        Parameters
        ----------
        lower, labeled : ndarray of shape (cells,)
            Lowest score of each cell, and its labeled rows.
        column : ndarray of shape (cells,)
            What is summed, with mean 0 over the labeled rows.
        """
        independent = float(np.sum(labeled * column**2))
        # A single entity has no deviation from itself, which says nothing of how entities differ.
        if independent <= 0 or self.number < 2:
            return 1.0 + self.shared_squares / float(labeled.sum())
        return max(1.0 + self.shared_variation(lower, column) / independent, 1.0)

    def summed(self, lower: FloatArray, column: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A number per cell, at each listed row and summed over the rows of each entity.

        Parameters
        ----------
        lower : ndarray of shape (cells,)
            Lowest score of each cell.
        column : ndarray of shape (cells,)
        """
        cells = np.maximum(np.searchsorted(lower, self.scores, side="right") - 1, 0)
        rows = column[cells]
        return rows, np.bincount(self.entity, weights=rows).astype(np.float64)

    def shared_variation(self, lower: FloatArray, column: FloatArray) -> float:
        """Sum of the squared sums over entities, less that of the squares of their rows.

        This is what rows of one entity add to the variance of a sum over labeled rows whose
        values, one per cell, are `column`; without shared entities 0.
        """
        rows, totals = self.summed(lower, column)
        return float(np.dot(totals, totals) - np.dot(rows, rows))

    @property
    def shared_squares(self) -> float:
        """The same of the number of rows: the sum over entities of n^2 - n."""
        sizes = np.bincount(self.entity).astype(np.float64)
        return float(np.dot(sizes, sizes) - sizes.sum())


def middle_ranks(labeled: FloatArray) -> FloatArray:
    """Middle rank of each cell among labeled rows, less their mean."""
    return np.asarray(np.cumsum(labeled) - 0.5 * labeled - 0.5 * labeled.sum())


def rank_design_effect(entity: ArrayLike, values: ArrayLike) -> float:
    """Variance of a mean rank over that of as many rows that are entities of their own.

    Examples
    --------
    >>> rank_design_effect(["a", "a", "b", "b"], [0.1, 0.2, 0.8, 0.9])
    1.6
    >>> rank_design_effect(["a", "b", "a", "b"], [0.1, 0.2, 0.8, 0.9])
    1.0
    """
    cells, rows = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    labeled = rows.astype(np.float64)
    entities = LabeledEntities.of_rows(entity, values)
    return entities.design_effect(cells, labeled, middle_ranks(labeled))


def draw_in_groups(
    number: NDArray[np.int64], share: FloatArray, group: float, rng: np.random.Generator
) -> FloatArray:
    """Draw positives among so many rows of each bin, of which so many come together."""
    if group == 1:
        return rng.binomial(number, share).astype(float)
    # The last group is of those that are left over, so that the mean is that of single ones.
    groups = np.floor(number / group).astype(np.int64)
    rest = number - groups * group
    whole = group * rng.binomial(groups, share)
    return np.asarray(whole + rest * (rng.random(share.shape) < share))
