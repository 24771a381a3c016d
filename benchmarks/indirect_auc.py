"""AUC as the area under the recovered ROC curve (Jain et al. 2017, Algorithm 1).

The package estimates AUC from the observed area (`pumonitor.metrics.auc`). This is the other
published estimate, for the reproduction of that paper and for `python -m benchmarks.auc_routes`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import corrected_rates
from pumonitor.metrics.recovery import recover_roc

__all__ = ["area", "indirect_auc"]

FloatArray = NDArray[np.float64]


def indirect_auc(problem: Problem) -> float:
    """Area under the ROC curve that `recover_roc` makes of a table."""
    return area(
        problem.labeled_above,
        problem.population_above,
        problem.class_prior.value,
        label_purity=problem.label_purity,
    )


def area(
    labeled_above: FloatArray,
    population_above: FloatArray,
    class_prior: float,
    *,
    label_purity: float = 1.0,
) -> float:
    """The same from the shares at or above each threshold, lowest threshold first.

    The curve is a staircase but for cells that hold labeled and other rows at once: ties, which
    count one half. So the area does not depend on where runs of unlabeled rows are cut into cells.
    """
    x, y = recover_roc(labeled_above, population_above, class_prior, label_purity=label_purity)
    rates = corrected_rates(labeled_above, population_above, class_prior, label_purity=label_purity)
    right = -np.diff(np.clip(rates.false_positive_rate, 0.0, 1.0))
    up = -np.diff(np.clip(rates.recall, 0.0, 1.0))
    ties = np.sum(np.maximum(right, 0.0) * np.maximum(up, 0.0))
    # Where points were put in order the triangles of ties can be counted twice.
    return min(float(np.sum(np.diff(x) * y[:-1]) + 0.5 * ties), 1.0)
