"""Sums of weights, and of their squares, over a cell and those above it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.tables import ScoreTable


def above(values: FloatArray) -> FloatArray:
    """Sum of each cell and those above it, with a final 0: exact for counts."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunningSums:
    """Second moments of the weights in each cell and above it, as shares: (cells + 1,) each.

    Squares of labeled weights and their cross moment with sample weights over the squared sums,
    the same of sample weights of labeled rows (`mass`), and of the population's other rows.
    """

    labeled_squares: FloatArray
    labeled_cross: FloatArray
    mass: FloatArray
    mass_cross: FloatArray
    mass_squares: FloatArray
    rest: FloatArray
    rest_squares: FloatArray

    @classmethod
    def of(cls, table: ScoreTable, rest: FloatArray, rest_squares: FloatArray) -> RunningSums:
        """One cumulative pass over the cells."""
        labeled, mass = float(table.labeled.sum()), float(table.labeled_mass.sum())
        others = float(rest.sum())
        cross = above(table.labeled_cross)
        return cls(
            labeled_squares=above(table.labeled_squares) / labeled**2,
            labeled_cross=cross / labeled**2,
            mass=above(table.labeled_mass) / mass,
            mass_cross=cross / (labeled * mass),
            mass_squares=above(table.labeled_mass_squares) / mass**2,
            rest=above(rest) / others,
            rest_squares=above(rest_squares) / others**2,
        )


def share_variance(
    share: FloatArray, squares: FloatArray, index: int | NDArray[np.intp] | slice
) -> FloatArray:
    """Sum of w^2 (1{above} - share)^2 over the squared sum of w, from running sums of squares."""
    return np.asarray((1 - share) ** 2 * squares[index] + share**2 * (squares[0] - squares[index]))
