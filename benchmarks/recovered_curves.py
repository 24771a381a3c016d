"""Proper ROC and precision-recall curves recovered from labels, and the areas below them.

Jain et al. (2017) correct the rates at every threshold and make a proper curve of them: no rate can
leave [0, 1] and the curve cannot fall. The package estimates AUC and average precision without such
a curve (`pumonitor.metrics.auc`, `pumonitor.metrics.average_precision`). These are the other
published estimates, for the reproduction of that paper, `python -m benchmarks.auc_routes` and
`python -m benchmarks.average_precision`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import corrected_rates

__all__ = [
    "area",
    "indirect_auc",
    "indirect_average_precision",
    "recover_precision_recall",
    "recover_roc",
]

FloatArray = NDArray[np.float64]


def recover_roc(
    labeled_above: FloatArray,
    population_above: FloatArray,
    class_prior: float,
    *,
    label_purity: float = 1.0,
    outside: Literal["border", "remove"] = "border",
) -> tuple[FloatArray, FloatArray]:
    """False and true positive rates of a proper ROC curve, from (0, 0) to (1, 1).

    Parameters
    ----------
    labeled_above, population_above : ndarray of shape (thresholds,)
        Share of labeled rows and of the population at or above each threshold, in any order.
    class_prior : float
        Of the population (of the unlabeled sample in the case-control scenario).
    label_purity : float
    outside : {"border", "remove"}
        What becomes of points outside the unit square. Algorithm 1 removes them. Moving them to
        the border keeps the ends of the curve: with noisy labels and a good ranking removal loses
        all points where the true positive rate nears 1 (at AUC .999 and label purity .75 its
        error is five times as large).

    Returns
    -------
    false_positive_rate, true_positive_rate : ndarray
        Ascending; between two points the curve goes right, then up.

    References
    ----------
    Jain, White, Radivojac (2017), equations 1, 2, 5 and Algorithm 1 (appendix).

    Examples
    --------
    >>> g = np.array([1.0, 1.0, 0.8, 0.4, 0.0])
    >>> f = np.array([1.0, 0.6, 0.3, 0.1, 0.0])
    >>> x, y = recover_roc(g, f, 0.2)
    >>> x.round(3).tolist(), y.tolist()
    ([0.0, 0.025, 0.175, 0.5, 1.0], [0.0, 0.4, 0.8, 1.0, 1.0])
    """
    rates = corrected_rates(labeled_above, population_above, class_prior, label_purity=label_purity)
    x, y = rates.false_positive_rate, rates.recall
    if outside == "remove":
        inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
        x = np.concatenate([[0.0], x[inside], [1.0]])
        y = np.concatenate([[0.0], y[inside], [1.0]])
    else:
        x, y = np.clip(x, 0.0, 1.0), np.clip(y, 0.0, 1.0)
    # Ties in x by y, so that a vertical step goes up; rounding noise must not undo a tie.
    order = np.lexsort((y, np.round(x, 12)))
    return x[order], np.maximum.accumulate(y[order])


def recover_precision_recall(
    labeled_above: FloatArray,
    population_above: FloatArray,
    class_prior: float,
    *,
    label_purity: float = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Recall and precision of a proper curve, recall ascending.

    They are those of the recovered ROC curve: where the observed rates are possible as they are,
    precision is prior * recall / share flagged; where they are not, both rates are first held to
    what is possible, which is more exact than holding the precision itself to at most 1.

    Parameters
    ----------
    labeled_above, population_above : ndarray of shape (thresholds,)
        Share of labeled rows and of the population at or above each threshold, in any order.
    class_prior : float
        Of the population (of the unlabeled sample in the case-control scenario).
    label_purity : float

    Returns
    -------
    recall, precision : ndarray

    References
    ----------
    Jain, White, Radivojac (2017), equations 1 and 3, and Algorithm 1.

    Examples
    --------
    >>> g = np.array([1.0, 1.0, 0.8, 0.4, 0.0])
    >>> f = np.array([1.0, 0.6, 0.3, 0.1, 0.0])
    >>> recall, precision = recover_precision_recall(g, f, 0.2)
    >>> recall.tolist(), precision.round(3).tolist()
    ([0.4, 0.8, 1.0, 1.0], [0.8, 0.533, 0.333, 0.2])
    """
    false_positive_rate, recall = recover_roc(
        labeled_above, population_above, class_prior, label_purity=label_purity
    )
    flagged = class_prior * recall + (1 - class_prior) * false_positive_rate
    some = flagged > 0
    return recall[some], class_prior * recall[some] / flagged[some]


def indirect_average_precision(problem: Problem) -> float:
    """Average precision as the step sum over the recovered precision-recall curve."""
    recall, precision = recover_precision_recall(
        problem.labeled_above,
        problem.population_above,
        problem.class_prior.value,
        label_purity=problem.label_purity,
    )
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


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
