"""AUC: area under the ROC curve of positives against negatives."""

from __future__ import annotations

from typing import Any, Unpack

from pumonitor.metrics.from_arrays import GivenPrior, problem_from_arrays
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.prior_dependence import prior_draws_following
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.ranking import ObservedLift, auc_from_lift, observed_lift
from pumonitor.metrics.settings import Setting
from pumonitor.results import Estimate


def auc_estimate(problem: Problem, lift: ObservedLift) -> Estimate:
    """AUC from the observed lift and the class prior: the one AUC of the package."""
    purity, prior, prior_draws = (
        problem.label_purity,
        problem.class_prior.value,
        problem.prior_draws,
    )
    if problem.is_prior_counted:
        prior_draws = prior_draws_following(problem, lift.draws, correlation=lift.correlation)
    sampling = auc_from_lift(lift.draws, prior, purity)
    both, by_prior = sampling, None
    if prior_draws is not None:
        both = auc_from_lift(lift.draws, prior_draws, purity)
        by_prior = auc_from_lift(lift.value, problem.prior_alone, purity)
    return estimate_from_draws(
        problem,
        "auc",
        float(auc_from_lift(lift.value, prior, purity)),
        both,
        sampling=sampling,
        prior=by_prior,
        method=lift.method,
    )


def auc(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior,
    sample_weight: Any = None,
    propensity: Any = None,
    **setting: Unpack[Setting],
) -> Estimate:
    """Probability that a random positive scores above a random negative, plus half the ties.

    It is wrong when labeled positives are not a fair sample of the positives, and when the class
    prior is wrong: too high a prior makes it too high (see Notes).

    Parameters
    ----------
    labels, scores, sample_weight, propensity, **setting
        As in `pumonitor.metrics.aul`.
    class_prior : float, (low, high), (value, low, high) or ClassPriorEstimate
        pi, the share of positives in the population.

    Returns
    -------
    Estimate
        Always defined; `infeasible` when it is above 1 or below 0, as it comes out by chance where
        the ranking is nearly perfect, and with a class prior too high for the scores.

    Raises
    ------
    InputError
        If labels or scores cannot be used.
    ValueError
        Unless 0 < class_prior < label_purity <= 1.

    Notes
    -----
    AUC = (lift - (1 - (b - pi)) / 2) / (b - pi), with lift the observed AUL and b the label purity.
    It is the AUC for which AUL = pi / 2 + (1 - pi) AUC holds exactly with the AUL and the class
    prior of the same evaluation (unless `correct_prior_bias` takes the bias off). With every
    positive labeled it is the AUC of scikit-learn.

    It is linear in the observed lift: with the right prior it has no bias, and its variance is the
    lift's over (b - pi) squared. A prior pi' in place of pi stretches the distance from 1/2:
    AUC' - 1/2 = (AUC - 1/2) (b - pi) / (b - pi').

    The area under the recovered ROC curve (Algorithm 1 of the paper) is not used, since it breaks
    the identity, has no interval that is as good, and gains little: see
    ``docs/decisions/one-auc.md`` and `python -m benchmarks.auc_routes`.

    References
    ----------
    Jain, White, Radivojac (2017), equation 4, with the population in place of the unlabeled rows;
    "AUL is a better optimization metric in PU learning", equation 4.

    Examples
    --------
    >>> labels = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    >>> scores = [0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.4, 0.3, 0.2, 0.1]
    >>> round(auc(labels, scores, class_prior=0.4).value, 4)
    0.8611
    """
    problem = problem_from_arrays(
        labels,
        scores,
        class_prior=class_prior,
        sample_weight=sample_weight,
        propensity=propensity,
        **setting,
    )
    return auc_estimate(problem, observed_lift(problem))
