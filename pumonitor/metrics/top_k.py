"""Precision, recall and lift among the k highest scores."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor._validate import as_number
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import (
    Formula,
    Rates,
    ShareDraws,
    estimate_at,
    rates_with_draws,
    share_draws_at,
)
from pumonitor.metrics.recall import RECALL
from pumonitor.results import Estimate


def share_of_k(k: float, *, rows: float) -> float:
    """The share of the population that k means: a share itself, or a number of rows.

    Raises
    ------
    ValueError
        Unless 0 < k < 1, or k is a whole number of rows from 1 to `rows`.

    Examples
    --------
    >>> share_of_k(50, rows=1000), share_of_k(0.1, rows=1000)
    (0.05, 0.1)
    """
    as_number(k, name="top_k")  # text is refused; a whole number stays one
    if isinstance(k, int | np.integer) and not isinstance(k, bool):
        if not 1 <= k <= rows:
            msg = f"top_k must satisfy 1 <= top_k <= {rows:g} rows, got {k}"
            raise ValueError(msg)
        return float(k) / rows
    if not 0 < k < 1:
        msg = f"top_k must be a share in (0, 1) or a whole number of rows, got {k:g}"
        raise ValueError(msg)
    return float(k)


def top_k_estimates(problem: Problem, k: float) -> list[Estimate]:
    """precision_at_k, recall_at_k and lift_at_k for the k highest-scored rows of the population.

    Rows tied at the k-th score are counted in part, as if drawn from the tie at random. The
    k-th score is itself random; a change of it moves the labeled share by the local slope
    dG/dF, which enters the interval.
    """
    population_total = float(problem.population.sum())
    theta = share_of_k(k, rows=population_total)
    # Cumulative shares descend with the cell index; np.interp needs them ascending.
    f_up, g_up = problem.population_above[::-1], problem.labeled_above[::-1]
    g = float(np.interp(theta, f_up, g_up))
    index = int(np.clip(np.searchsorted(-problem.population_above, -theta), 1, len(problem.table)))
    drawn = share_draws_at(problem, index - 1)
    near = max(0.1 * theta, 2.0 / problem.population_size)
    low, high = max(theta - near, 0.0), min(theta + near, 1.0)
    slope = float(np.interp(high, f_up, g_up) - np.interp(low, f_up, g_up)) / (high - low)
    at_cell_g = float(problem.labeled_above[index - 1])
    at_cell_theta = float(problem.population_above[index - 1])
    moved = g + (drawn.labeled_above - at_cell_g) - slope * (drawn.population_above - at_cell_theta)
    draws = ShareDraws(
        labeled_above=np.clip(moved, 0.0, 1.0),
        population_above=np.full(DRAWS, theta),
        labeled_fraction=drawn.labeled_fraction,
        labeled_total=drawn.labeled_total,
    )
    at = rates_with_draws(problem, g, theta, draws)

    def lift(rates: Rates) -> FloatArray:
        return np.asarray(rates.recall / rates.predicted_positive_rate)

    formulas: list[tuple[str, Formula, tuple[float, float]]] = [
        ("precision_at_k", PRECISION.formula, (0.0, 1.0)),
        ("recall_at_k", RECALL.formula, (0.0, 1.0)),
        ("lift_at_k", lift, (0.0, 1.0 / max(theta, problem.class_prior.value))),
    ]
    return [
        estimate_at(at, name, formula, value_range=value_range)
        for name, formula, value_range in formulas
    ]
