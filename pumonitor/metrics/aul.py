"""AUL: area under the lift curve."""

from __future__ import annotations

from typing import Any, Unpack

from pumonitor.metrics.aul_theory import AulInterval, interval_by_theory
from pumonitor.metrics.from_arrays import GivenPrior, problem_from_arrays
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.prior_dependence import prior_draws_following
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.ranking import ObservedLift, auc_from_lift, aul_from_auc, observed_lift
from pumonitor.metrics.settings import Setting
from pumonitor.results import Estimate


def aul_estimate(problem: Problem, lift: ObservedLift) -> Estimate:
    """AUL from the observed lift: equal to it with pure labels, corrected for noise otherwise."""
    purity, prior, prior_draws = (
        problem.label_purity,
        problem.class_prior.value,
        problem.prior_draws,
    )
    if problem.is_prior_counted:
        prior_draws = prior_draws_following(problem, lift.draws, correlation=lift.correlation)
    if purity == 1.0:
        return estimate_from_draws(
            problem,
            "aul",
            lift.value,
            lift.draws,
            sampling=lift.draws,
            prior=None,
            method=lift.method,
        )
    value = aul_from_auc(auc_from_lift(lift.value, prior, purity), prior)
    sampling = aul_from_auc(auc_from_lift(lift.draws, prior, purity), prior)
    both, by_prior = sampling, None
    if prior_draws is not None:
        both = aul_from_auc(auc_from_lift(lift.draws, prior_draws, purity), prior_draws)
        alone = problem.prior_alone
        by_prior = aul_from_auc(auc_from_lift(lift.value, alone, purity), alone)
    return estimate_from_draws(
        problem,
        "aul",
        float(value),
        both,
        sampling=sampling,
        prior=by_prior,
        method=lift.method,
    )


def aul(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior | None = None,
    sample_weight: Any = None,
    propensity: Any = None,
    interval: AulInterval = "student",
    **setting: Unpack[Setting],
) -> Estimate:
    """Probability that a random positive scores above a random row, plus half the ties.

    With pure labels it is unbiased and needs no class prior at all. It is wrong when labeled
    positives are not a fair sample of the positives. Between two windows it moves when the prior
    moves, even if the ranking did not: AUL = pi / 2 + (1 - pi) AUC.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : array-like of shape (n,)
        Any finite numbers, higher = more positive.
    class_prior : float, (low, high), (value, low, high) or ClassPriorEstimate, optional
        pi; needed only when ``label_purity < 1`` or ``target="window"``.
    sample_weight, propensity : array-like of shape (n,), optional
        Rows each row stands for; P(labeled given positive, x) in (0, 1].
    interval : {"student", "theorem-1", "chebyshev"}
        "theorem-1" is normal with the variance of the paper's Theorem 1, "chebyshev" the bound
        that holds for any scores; both take ``target="window"``. With few labeled rows the first
        is too narrow, and the second is always several times too wide: "student" is the better.
    **setting
        ``scenario``, ``label_purity``, ``target``, ``confidence_level``, ``correct_prior_bias``,
        ``rng`` as in `pumonitor.evaluate`.

    Returns
    -------
    Estimate
        Always defined.

    Raises
    ------
    InputError
        If labels or scores cannot be used.
    ValueError
        If a setting is out of range, or `interval` does not fit the others.

    Notes
    -----
    One sort of the unlabeled scores. Interval: Student's t on the logit scale with the variance
    of both samples (process), or with the finite-population correction of Theorem 1 (window).

    References
    ----------
    "AUL is a better optimization metric in PU learning", equation 4 and Theorem 1.

    Examples
    --------
    >>> labels = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    >>> scores = [0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43,
    ...           0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1]
    >>> round(aul(labels, scores).value, 3)
    0.615
    """
    problem = problem_from_arrays(
        labels,
        scores,
        class_prior=class_prior,
        sample_weight=sample_weight,
        propensity=propensity,
        **setting,
    )
    if interval not in ("student", "theorem-1", "chebyshev"):
        msg = f"interval must be 'student', 'theorem-1' or 'chebyshev', got {interval!r}"
        raise ValueError(msg)
    lift = observed_lift(problem)
    if interval != "student":
        return interval_by_theory(problem, lift, interval)
    return aul_estimate(problem, lift)
