"""Columns of a table of score cells: sums of rows per cell, and second moments of their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor._entities import LabeledEntities, middle_ranks
from pumonitor._propensities import Chances, Propensities
from pumonitor._reviewed import ReviewedRows
from pumonitor._valued import ValuedRows
from pumonitor._weights import Weights
from pumonitor.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreColumns:
    """The columns of a `ScoreTable`, which says what they are."""

    lower: FloatArray
    upper: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    negative: FloatArray
    n_labeled: int
    n_unlabeled: int
    n_negative: int
    weights: Weights | None = None
    propensities: Propensities | None = None
    chances: Chances | None = None
    reviewed: ReviewedRows | None = None
    entities: LabeledEntities | None = None
    values: ValuedRows | None = None

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def labeled_squares(self) -> FloatArray:
        """Sum per cell of the squared weights of labeled rows.

        Of rows that share entities times the design effect of their rank, so that as many labels
        stand behind a variance as independent ones would.
        """
        if self.weights is not None:
            return self.weights.labeled_squares
        return self.labeled if self.entities is None else self.labeled * self.rank_design_effect

    @property
    def labeled_mass(self) -> FloatArray:
        """Rows of the population that labeled rows are: their sample weight, not 1 / propensity."""
        return self.labeled if self.weights is None else self.weights.labeled_mass

    @property
    def labeled_mass_squares(self) -> FloatArray:
        """Sum per cell of the squared sample weights of labeled rows.

        Of rows that share entities times the design effect of their number: in all it is the sum
        over entities of their squared numbers of rows.
        """
        if self.weights is not None:
            return self.weights.labeled_mass_squares
        return self.labeled if self.entities is None else self.labeled * self.size_design_effect

    @property
    def labeled_cross(self) -> FloatArray:
        """Sum per cell of weight / propensity times weight of labeled rows."""
        return self.labeled_squares if self.weights is None else self.weights.labeled_cross

    @property
    def labeled_own_squares(self) -> FloatArray:
        """Sum per cell of the squared weights of labeled rows, each an entity of its own."""
        return self.labeled if self.weights is None else self.weights.labeled_squares

    @property
    def labeled_own_mass_squares(self) -> FloatArray:
        """The same of their sample weights."""
        return self.labeled if self.weights is None else self.weights.labeled_mass_squares

    @property
    def size_design_effect(self) -> float:
        """Variance of the number of labeled rows over that of as many independent ones, >= 1."""
        if self.entities is None:
            return 1.0
        return 1.0 + self.entities.shared_squares / float(self.labeled.sum())

    @property
    def rank_design_effect(self) -> float:
        """The same of the mean rank of labeled rows among themselves."""
        return self.design_effect(middle_ranks(self.labeled))

    def design_effect(self, column: FloatArray) -> float:
        """Variance of a sum over labeled rows over that of as many independent ones, >= 1.

        Parameters
        ----------
        column : ndarray of shape (cells,)
            What is summed, with mean 0 over the labeled rows.
        """
        if self.entities is None:
            return 1.0
        return self.entities.design_effect(self.lower, self.labeled, column)

    @property
    def unlabeled_squares(self) -> FloatArray:
        """Sum per cell of the squared weights of unlabeled rows."""
        return self.unlabeled if self.weights is None else self.weights.unlabeled_squares

    @property
    def negative_squares(self) -> FloatArray:
        """Sum per cell of the squared weights of known-negative rows."""
        return self.negative if self.weights is None else self.weights.negative_squares

    def entity_facts(self) -> dict[str, float]:
        """Entities with labeled rows, and what sharing them costs, for the settings."""
        if self.entities is None:
            return {}
        return {
            "labeled_entities": self.entities.number,
            "design_effect": self.rank_design_effect,
        }

    @property
    def largest_weight_share(self) -> float:
        """Share of the labeled weight that the heaviest labeled row carries."""
        if self.propensities is not None:
            return self.propensities.largest_weight / float(self.labeled.sum())
        held = self.labeled > 0
        heaviest = float(np.max(self.labeled_squares[held] / self.labeled[held]))
        return heaviest / float(self.labeled.sum())

    def index_of_threshold(self, threshold: float) -> int:
        """Index of the first cell at or above the threshold (len(table) when none is).

        Raises
        ------
        InputError
            If the threshold falls inside a cell, so that the rows above it cannot be counted.
        """
        index = int(np.searchsorted(self.lower, threshold, side="left"))
        if index > 0 and self.upper[index - 1] >= threshold:
            low, high = self.lower[index - 1], self.upper[index - 1]
            msg = (
                f"threshold {threshold:g} falls inside the score cell [{low:g}, {high:g}] "
                f"({self._rows(index - 1):g} rows): make the table with a cell edge at the "
                "threshold (thresholds=[...] in from_arrays, a bin edge in counts)"
            )
            raise InputError(msg)
        return index

    def _rows(self, index: int) -> float:
        return float(self.labeled[index] + self.unlabeled[index] + self.negative[index])
