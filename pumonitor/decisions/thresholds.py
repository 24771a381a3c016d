"""Thresholds that a capacity allows, or at which the rows of a table can be counted."""

from __future__ import annotations

import numpy as np

from pumonitor._validate import as_number
from pumonitor.metrics.problem import Problem
from pumonitor.tables import ScoreTable


def threshold_of_capacity(problem: Problem, capacity: float) -> float:
    """The lowest threshold at which no more rows are flagged than can be reviewed.

    Parameters
    ----------
    problem : Problem
    capacity : float
        Rows of the table; below 1 a share of them.

    Raises
    ------
    ValueError
        Unless 0 <= capacity.

    Examples
    --------
    >>> from pumonitor.metrics.problem import make_problem
    >>> from pumonitor.results import ClassPriorEstimate
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> problem = make_problem(table, ClassPriorEstimate.given(0.06))
    >>> threshold_of_capacity(problem, 340), threshold_of_capacity(problem, 0.1)
    (0.2, 0.8)
    """
    capacity = as_number(capacity, name="capacity")
    if capacity < 0:
        msg = f"capacity must satisfy 0 <= capacity, got {capacity:g}"
        raise ValueError(msg)
    share = capacity if capacity < 1 else capacity / float(problem.population.sum())
    fits = problem.population_above <= share * (1 + 1e-12)
    return _threshold_at(problem.table, int(np.argmax(fits)))


def nearest_threshold(table: ScoreTable, threshold: float) -> float:
    """The threshold itself, or the nearest at which rows of the table can be counted.

    Examples
    --------
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> nearest_threshold(table, 0.7), nearest_threshold(table, 0.2)
    (0.8, 0.2)
    """
    index = int(np.searchsorted(table.lower, threshold, side="left"))
    if index == 0 or table.upper[index - 1] < threshold:
        return threshold
    ends = (_threshold_at(table, index - 1), _threshold_at(table, index))
    return min(ends, key=lambda end: abs(end - threshold))


def _threshold_at(table: ScoreTable, index: int) -> float:
    """Where the cell begins; above all scores after the last."""
    if index < len(table):
        return float(table.lower[index])
    return float(np.nextafter(table.upper[-1], np.inf))
