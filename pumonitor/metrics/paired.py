"""Several models on the same rows: what pairs of them need, and rows as cells of a table.

Two models scored on the same rows make errors that go together: a hard positive lowers the recall
of both. Everything that concerns a pair is a sum over rows, so the rows are put into a table with
one cell each, on which the standard errors of `pumonitor.metrics.influence` hold as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._entities import LabeledEntities
from pumonitor.metrics.problem import Problem
from pumonitor.tables import ScoreTable, Weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelOnRows:
    """One model: its table and settings, and where each row lies in that table.

    Attributes
    ----------
    problem : Problem
        Of the model's own scores.
    cells : ndarray of shape (rows,)
        Cell of each row in the model's table.
    flagged : ndarray of bool of shape (rows,)
        Whether the row scores at or above the model's threshold.
    """

    problem: Problem
    cells: NDArray[np.int32]
    flagged: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, scores: NDArray[Any], *, threshold: float) -> ModelOnRows:
        """Find each row's cell: the last that begins at or below its score."""
        cells = np.searchsorted(problem.table.lower, scores, side="right") - 1
        begins = problem.table.index_of_threshold(threshold)
        return cls(problem=problem, cells=cells.astype(np.int32), flagged=cells >= begins)

    def on_rows(self, rows: ScoreTable) -> Problem:
        """The same problem with one cell a row; for sums over cells, whatever their order.

        Shares above a cell have no meaning there, and nothing that is paired uses them.
        """
        return replace(self.problem, table=rows)


def rows_as_cells(
    labels: NDArray[np.int8],
    *,
    weight: FloatArray | None,
    represented: FloatArray | None,
    entity: NDArray[np.int64] | None = None,
) -> ScoreTable:
    """Table in which every row is a cell, in the order of the rows.

    Parameters
    ----------
    labels : ndarray of shape (rows,)
        1, 0 and -1.
    weight, represented : ndarray of shape (rows,) or None
        Rows of the population, and positives, that each row stands for; None when all are 1.
    entity : ndarray of shape (labeled rows,) or None
        Entity of each labeled row.
    """
    is_labeled, is_rest, is_negative = labels == 1, labels == 0, labels == -1
    place = np.arange(len(labels), dtype=np.float64)
    weights = None
    labeled, unlabeled, negative = (
        mask.astype(np.float64) for mask in (is_labeled, is_rest, is_negative)
    )
    if weight is not None and represented is not None:
        weights = Weights(
            labeled_squares=labeled * represented**2,
            labeled_mass=labeled * weight,
            labeled_mass_squares=labeled * weight**2,
            labeled_cross=labeled * represented * weight,
            unlabeled_squares=unlabeled * weight**2,
            negative_squares=negative * weight**2,
        )
        labeled, unlabeled, negative = labeled * represented, unlabeled * weight, negative * weight
    return ScoreTable(
        lower=place,
        upper=place,
        labeled=labeled,
        unlabeled=unlabeled,
        negative=negative,
        n_labeled=int(is_labeled.sum()),
        n_unlabeled=int(is_rest.sum()),
        n_negative=int(is_negative.sum()),
        weights=weights,
        entities=None if entity is None else LabeledEntities.of_rows(entity, place[is_labeled]),
    )


def difference_range(value_range: tuple[float, float]) -> tuple[float, float]:
    """What a difference can be, from what its two terms can be."""
    width = value_range[1] - value_range[0]
    return -width, width
