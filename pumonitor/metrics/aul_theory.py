"""Intervals of AUL as its paper has them: Theorem 1 and Chebyshev's inequality."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import ndtri

from pumonitor.metrics.problem import Problem
from pumonitor.metrics.ranking import ObservedLift
from pumonitor.results import Estimate

AulInterval = Literal["student", "theorem-1", "chebyshev"]


def theorem_1_variance(placement_variance: float, *, positives: float, labeled: float) -> float:
    """Variance of the observed AUL over which positives of a window got labeled.

    (n_P - n_L) / (n_P - 1) sigma^2 / n_L, with sigma^2 the variance of the placements of the
    window's positives, divided by n_P.

    Examples
    --------
    >>> theorem_1_variance(0.04, positives=5, labeled=5), theorem_1_variance(0.04, positives=5,
    ...                                                                     labeled=1)
    (0.0, 0.04)
    """
    if positives <= 1:
        return 0.0
    return max(positives - labeled, 0.0) / (positives - 1) * placement_variance / labeled


def chebyshev_half_width(*, positives: float, labeled: float, confidence_level: float) -> float:
    """How far the observed AUL is from the window's with that probability, whatever the scores.

    P(error >= e) <= Var / e^2, and placements lie between 0 and 1, so sigma^2 <= 1/4:
    e = sqrt(Var / (1 - level)). The paper prints Var / e without the square, which for e < 1 would
    promise more than Chebyshev's inequality gives.

    Examples
    --------
    >>> round(chebyshev_half_width(positives=2000, labeled=1000, confidence_level=0.95), 4)
    0.05
    """
    variance = theorem_1_variance(0.25, positives=positives, labeled=labeled)
    return math.sqrt(variance / (1 - confidence_level))


def interval_by_theory(problem: Problem, lift: ObservedLift, method: AulInterval) -> Estimate:
    """AUL with the interval of Theorem 1 (normal) or of Chebyshev's inequality.

    Both are about which of this window's positives got labeled, all rows being counted once.

    Raises
    ------
    ValueError
        Unless the target is the window, in the single-training-set scenario, with pure labels and
        without weights: the theorem says nothing of the rest.
    """
    _check(problem, method)
    table = problem.table
    labeled = float(table.n_labeled)
    # The variance does not fall as n_P grows, so the highest n_P is on the safe side.
    positives = max(problem.class_prior.high * problem.population_size, labeled)
    if method == "chebyshev":
        half = chebyshev_half_width(
            positives=positives, labeled=labeled, confidence_level=problem.confidence_level
        )
        error = math.sqrt(theorem_1_variance(0.25, positives=positives, labeled=labeled))
        name = "Chebyshev's inequality"
    else:
        below = np.concatenate([[0.0], np.cumsum(problem.population)[:-1]])
        placements = (below + 0.5 * problem.population) / float(problem.population.sum())
        spread = float(np.sum(problem.labeled_share * (placements - lift.value) ** 2))
        # n_L / (n_L - 1) makes it the sample variance, (n_P - 1) / n_P that of all positives.
        of_positives = spread * labeled / (labeled - 1) * (positives - 1) / positives
        error = math.sqrt(theorem_1_variance(of_positives, positives=positives, labeled=labeled))
        half = float(ndtri(0.5 + 0.5 * problem.confidence_level)) * error
        name = "normal, variance of Theorem 1"
    return Estimate(
        name="aul",
        value=lift.value,
        low=max(lift.value - half, 0.0),
        high=min(lift.value + half, 1.0),
        confidence_level=problem.confidence_level,
        method=name,
        n_labeled=table.n_labeled,
        n_unlabeled=table.n_unlabeled,
        se=error,
        se_sampling=error,
        se_prior=0.0,
    )


def _check(problem: Problem, method: AulInterval) -> None:
    needs = {
        "target='window'": problem.target == "window",
        "scenario='single-training-set'": problem.scenario == "single-training-set",
        "label_purity=1": problem.label_purity == 1.0,
        "no weights or propensities": problem.table.weights is None,
    }
    missing = [what for what, met in needs.items() if not met]
    if missing:
        msg = (
            f"interval={method!r} needs {' and '.join(missing)}: the theorem is about which "
            "positives of a window got labeled; use interval='student'"
        )
        raise ValueError(msg)
