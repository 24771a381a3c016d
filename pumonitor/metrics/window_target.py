"""What the window target leaves unknown: of fixed rows, which of the positives got labeled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.metrics.mixtures import solved_mixtures
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.running_sums import share_variance
from pumonitor.stats.confidence_draws import share_draws


def window_prior(problem: Problem) -> FloatArray | float:
    """Class priors that say how much of the window each draw takes to be known.

    Draws of pi, in the order of `prior_draws`; the value for the target "process". Also where pi
    is counted from the labeled rows: the labeled weight over that of the positives is then near 1
    whatever pi is, and what varies is that same weight.

    A known pi is that of the process: the window's own positives are a draw of it. (Without this
    intervals took all of a window to be known that by chance has more labels than pi has
    positives: with 60 labels at pi = .015 they held the truth in 88% where four of five positives
    are labeled, and in 74% where nine of ten are.) Unless just so many are labeled: that is to
    say that all are.

    A window has at least the positives that are labeled in it. Draws below have possible ones
    in their place: else they would take all of the window to be known.
    """
    value = problem.class_prior.value
    if problem.target == "process" or problem.is_prior_counted:
        return value
    least = problem.labeled_fraction * problem.label_purity
    if problem.prior_draws is None or problem.class_prior.is_known:
        # Of the positives; more than there are say that the window has more than the process.
        labeled = problem.label_share * problem.label_purity
        if problem.scenario == "case-control" or abs(labeled - 1) <= 1e-9:
            return value
        draws = share_draws(
            value * problem.population_size,
            problem.population_size,
            size=DRAWS,
            rng=problem.generator("positives of the window"),
        )
    else:
        draws = problem.prior_alone
    if problem.scenario == "case-control" or not np.any(draws > least):
        return draws
    return np.where(draws > least, draws, np.resize(draws[draws > least], len(draws)))


def _sampled_variance(problem: Problem, index: int | NDArray[np.intp] | slice) -> FloatArray:
    """Sampling variance of g at cells `index`: sum of squared weights, not a row count."""
    return share_variance(problem.labeled_above[index], problem.sums.labeled_squares, index)


def window_ratio(
    problem: Problem, index: int | NDArray[np.intp] | slice, *, class_prior: FloatArray | float
) -> FloatArray:
    """Variance of g as an estimate for this window, over its sampling variance.

    Parameters
    ----------
    problem : Problem
    index : int, ndarray or slice
        Cells.
    class_prior : float or ndarray
        Of the window; broadcasts with the cells. An uncertain prior is `window_prior`.
    """
    sampled = _sampled_variance(problem, index)
    rates = [
        np.clip(rate, 0.0, 1.0)
        for rate in solved_mixtures(
            problem.labeled_above[index],
            problem.population_above[index],
            class_prior,
            label_purity=problem.label_purity,
        )
    ]
    correction = window_correction(
        problem,
        cross=share_variance(problem.labeled_above[index], problem.sums.labeled_cross, index),
        positive=rates[0] * (1 - rates[0]),
        negative=rates[1] * (1 - rates[1]),
        class_prior=class_prior,
    )
    everywhere = window_correction(
        problem,
        cross=np.asarray(problem.sums.labeled_cross[0]),
        positive=np.ones(()),
        negative=np.ones(()),
        class_prior=class_prior,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        # At the lowest cell g is 1 but for rounding, which must not be divided by.
        ratio = np.where(
            sampled > 1e-12 * problem.sums.labeled_squares[0],
            1 + correction / sampled,
            1 + everywhere / problem.sums.labeled_squares[0],
        )
    return np.maximum(ratio, 0.0)


def window_correction(
    problem: Problem,
    *,
    cross: FloatArray,
    positive: FloatArray,
    negative: FloatArray,
    class_prior: FloatArray | float,
) -> FloatArray:
    """What the window target adds to the sampling variance of a mean over G.

    The window's rows are fixed; what is random is which of them got labeled. In the
    single-training-set scenario labeled rows are part of the window, and what they show of it
    is known: with m labeled of n_P positives the variance without replacement is
    V_1 (1/m - 1/n_P). With weights w and propensities e the second term is the sum over
    labeled rows of w^2/e u^2 (`cross`) times the labeled share k of the positives' weight.
    In case-control the window's own positives differ from the process by a draw that labeled
    rows from elsewhere do not share, so the term adds: V_1 / n_P. With noisy labels, a share b
    of G from positives and 1 - b from negatives, -/+ (b^2 V_1 / n_P + (1 - b)^2 V_0 / n_N).

    Parameters
    ----------
    problem : Problem
    cross, positive, negative : ndarray
        The mean's cross moment over labeled rows, V_1 and V_0.
    class_prior : float or ndarray
        Of the window: n_P over its rows.
    """
    purity = problem.label_purity
    if purity == 1.0 and problem.scenario == "single-training-set":
        return np.asarray(-np.minimum(problem.label_share_at(class_prior), 1.0) * cross)
    positives = np.maximum(class_prior * problem.population_size, 1e-300)
    negatives = np.maximum(problem.population_size - positives, 1e-300)
    term = purity**2 * positive / positives + (1 - purity) ** 2 * negative / negatives
    return np.asarray(term if problem.scenario == "case-control" else -term)
