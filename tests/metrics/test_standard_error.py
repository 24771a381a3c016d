"""The standard error from cell sums against the sum over rows, one row at a time."""

import numpy as np
import pytest

from pumonitor import ClassPriorEstimate, ScoreTable
from pumonitor.metrics.influence import standard_error
from pumonitor.metrics.problem import make_problem


@pytest.mark.parametrize("weighted", [False, True])
def test_a_labeled_row_moves_both_distributions(weighted):
    rng = np.random.default_rng(6)
    labels = np.repeat([1, 0], [40, 60])
    scores = np.round(rng.normal(labels * 1.0), 1)
    weight = rng.uniform(0.5, 3.0, 100) if weighted else np.ones(100)
    propensity = rng.uniform(0.2, 1.0, 100) if weighted else np.ones(100)
    table = ScoreTable.from_arrays(
        labels, scores, sample_weight=weight, propensity=propensity, density_edges=0
    )
    problem = make_problem(table, ClassPriorEstimate.given(0.6))
    u, v = np.sin(table.lower), np.cos(table.lower)
    error, _ = standard_error(problem, u, v)

    cell = np.searchsorted(table.lower, scores, side="right") - 1
    positives = np.where(labels == 1, weight / propensity, 0.0)
    moved = positives / positives.sum() * u[cell] + weight / weight.sum() * v[cell]
    labeled, rest = (float(np.sum(moved[labels == kind] ** 2)) for kind in (1, 0))
    small_sample = 1 + 1 / problem.labeled_degrees
    assert error**2 == pytest.approx(labeled * small_sample + rest, rel=1e-12)
