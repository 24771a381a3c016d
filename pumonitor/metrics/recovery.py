"""Recovery of proper ROC and precision-recall curves, and average precision from the second.

Jain et al. (2017) correct the rates at every threshold and make a proper curve of them: it uses
that no rate can leave [0, 1] and that the curve cannot fall. The indirect route to average
precision is the step sum over such a curve; the direct one corrects the average itself and is
unbiased. AUC is not estimated from the curve (`pumonitor.metrics.auc` says why).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import corrected_rates

__all__ = [
    "Route",
    "indirect_average_precision",
    "indirect_weight",
    "recover_precision_recall",
    "recover_roc",
]

FloatArray = NDArray[np.float64]

Route = Literal["auto", "direct", "indirect"]

_BLENDED = (0.75, 0.85)
"""At direct estimates of AUC below the first the direct route is used, above the second the other.
"""


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


def indirect_weight(direct_auc: float, error: float, route: Route) -> float:
    """Weight of the indirect average precision: 0 for the direct route, 1 for the indirect.

    For "auto" 0 where the direct estimate of AUC and one standard error are below .75, 1 where they
    are above .85: an uncertain estimate gains most from what a curve can be. Measured by
    `python -m benchmarks.recovery`: at a true AUC of .7 and below the indirect average is no more
    exact and too high, from .9 up its error is 20 to 60% smaller. In between the two are blended,
    so that a series that crosses the border does not jump.

    Examples
    --------
    >>> [round(indirect_weight(auc, 0.01, "auto"), 6) for auc in (0.7, 0.79, 1.02)]
    [0.0, 0.5, 1.0]
    """
    if route not in ("auto", "direct", "indirect"):
        msg = f"route must be 'auto', 'direct' or 'indirect', got {route!r}"
        raise ValueError(msg)
    if route != "auto":
        return float(route == "indirect")
    low, high = _BLENDED
    return min(max((direct_auc + error - low) / (high - low), 0.0), 1.0)
