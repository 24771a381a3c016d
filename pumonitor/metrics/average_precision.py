"""Average precision: area under the precision-recall curve, as a step sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.from_arrays import GivenPrior, problem_from_arrays
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.prior_dependence import prior_draws_following
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.ranking import (
    average_precision_correlation,
    average_precision_error,
    average_precision_value,
    average_precision_values,
)
from pumonitor.metrics.settings import Setting
from pumonitor.results import Estimate
from pumonitor.stats.confidence_draws import log_t_draws
from pumonitor.stats.quantiles import quantiles

_PRIOR_GRID = 17


def average_precision_estimate(problem: Problem) -> Estimate:
    """Average precision with its interval."""
    prior = problem.class_prior.value
    value = average_precision_value(problem, prior)
    error, degrees = average_precision_error(problem)
    # On the log scale a few labeled rows allow for millions. Above 1 can only be what came out so,
    # which is flagged.
    most = 1.0 if value <= 1.0 else 2.0 * value
    sampling = log_t_draws(value, error, degrees, order=problem.order("average precision"))
    both, by_prior = sampling, None
    if problem.prior_draws is not None:
        prior_draws = problem.prior_draws
        if problem.is_prior_counted:
            prior_draws = prior_draws_following(
                problem, sampling, correlation=average_precision_correlation(problem)
            )
        at_prior = _by_prior(problem, prior_draws)
        by_prior, at_draws = at_prior(problem.prior_alone), at_prior(prior_draws)
        both = sampling * at_draws / value if value > 0 else at_draws
    held = np.minimum(sampling, most)
    return estimate_from_draws(
        problem,
        "average_precision",
        value,
        held if both is sampling else np.minimum(both, most),
        sampling=held,
        prior=by_prior,
        method="Student t on the log scale",
    )


def _by_prior(problem: Problem, draws: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Average precision as a function of the class prior, beyond its draws as at their ends."""
    if problem.label_purity < 1.0:
        # Smooth and monotone in the prior: a few values suffice for all draws.
        grid = quantiles(draws, np.linspace(0, 1, _PRIOR_GRID))
        values = average_precision_values(problem, grid)
        return lambda priors: np.interp(priors, grid, values)
    # Linear: precision is, and the share of positives at a score is fixed.
    low, high = float(draws.min()), float(draws.max())
    begin, end = (average_precision_value(problem, prior) for prior in (low, high))
    slope = (end - begin) / (high - low) if high > low else 0.0
    return lambda priors: np.asarray(begin + slope * (np.clip(priors, low, high) - low))


def average_precision(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior,
    sample_weight: Any = None,
    propensity: Any = None,
    **setting: Unpack[Setting],
) -> Estimate:
    """Mean over the positives of the precision at their score.

    It is wrong when labeled positives are not a fair sample of the positives, and by the relative
    error of the class prior, to which it is nearly proportional.

    Parameters
    ----------
    labels, scores, sample_weight, propensity, **setting
        As in `pumonitor.metrics.aul`.
    class_prior : float, (low, high), (value, low, high) or ClassPriorEstimate
        pi, the share of positives in the population.

    Returns
    -------
    Estimate
        Always defined; `infeasible` when it came out above 1: by chance where the model ranks
        nearly perfectly, or with a class prior too high for the scores.

    Raises
    ------
    InputError
        If labels or scores cannot be used.
    ValueError
        Unless 0 < class_prior < label_purity <= 1.

    Notes
    -----
    Plugging g into precision = pi g / theta at each labeled row counts the row itself among the
    positives above it, which n_L labeled rows do too often. Here the other positives above a
    labeled row are estimated from the other labeled rows alone: of the n pi - 1 others, the share
    (i - 1) / (n_L - 1) for the i-th labeled row from the top,

        AP = 1/n_L sum_i (1 + (n pi - 1) (i - 1) / (n_L - 1)) / #rows at or above r_i.

    Over which positives got labeled, its mean is exactly the average precision of the window
    (given n pi, without ties), and with every positive labeled it is that number. In
    case-control the labeled rows are no part of the population, and 1 / theta is estimated by
    (n_U + 1) / (#U at or above r_i + 1).

    Nothing is assumed of the shape of the scores, and no precision is held to 1: that would make
    good models too bad on average. `python -m benchmarks.average_precision` has bias, error and
    coverage over nine shapes of scores, beside those of the average over a recovered curve.

    Interval: Student's t on the log scale, since the error grows with the value, with the standard
    error of the influence functions of both samples, held to 1 unless the value itself is above;
    it is too wide below 50 labeled rows.

    References
    ----------
    Jain, White, Radivojac (2017), equations 1 and 3, with pi and theta in place of alpha and
    eta_pu in the single-training-set scenario.

    Examples
    --------
    >>> labels = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    >>> scores = [0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.4, 0.3, 0.2, 0.1]
    >>> round(average_precision(labels, scores, class_prior=0.3).value, 4)
    0.6984
    """
    problem = problem_from_arrays(
        labels,
        scores,
        class_prior=class_prior,
        sample_weight=sample_weight,
        propensity=propensity,
        **setting,
    )
    return average_precision_estimate(problem)
