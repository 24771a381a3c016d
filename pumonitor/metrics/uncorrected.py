"""The uncorrected numbers: every row that is not labeled counted as negative.

They are what a monitor that knows nothing of unlabeled rows reports, given beside the corrected
ones as the papers recommend (Ramola et al. 2019, section 2.3, acc_pu, bacc_pu, F_pu, mcc_pu;
Jain et al. 2017, AUC_pu). Each is the ordinary metric of labeled against all others: the
corrected formula with the labeled fraction in the place of the class prior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.problem import DRAWS, Problem, estimate_from_draws, make_problem
from pumonitor.metrics.ranking import (
    auc_from_lift,
    average_precision_error,
    average_precision_value,
    observed_lift,
)
from pumonitor.metrics.rates import AtThreshold, corrected_rates, share_pair_draws
from pumonitor.results import ClassPriorEstimate, Estimate
from pumonitor.stats.confidence_draws import log_t_draws

__all__ = ["UNCORRECTED_AT_THRESHOLD", "uncorrected_at", "uncorrected_ranking"]

UNCORRECTED_AT_THRESHOLD = (F1, ACCURACY, BALANCED_ACCURACY, MCC)


def uncorrected_at(problem: Problem, threshold: float) -> AtThreshold:
    """Rates of labeled against all others at a threshold, with draws from sampling alone."""
    index = problem.table.index_of_threshold(threshold)
    g = float(problem.labeled_above[index])
    theta = float(problem.population_above[index])
    q = problem.labeled_fraction
    g_draws, theta_draws = share_pair_draws(problem, index)
    q_draws = problem.fraction_draws
    if problem.scenario == "case-control":
        others = problem.table.unlabeled + problem.table.negative
        others_above = float(others[index:].sum() / others.sum())
        theta_draws = q * g_draws + (1 - q) * np.clip(theta_draws + others_above - theta, 0, 1)
        theta = q * g + (1 - q) * others_above
    draws = corrected_rates(g_draws, theta_draws, q_draws, label_purity=1.0)
    return AtThreshold(
        problem=problem,
        point=corrected_rates(g, theta, q, label_purity=1.0),
        both=draws,
        sampling=draws,
        prior=None,
    )


def uncorrected_ranking(problem: Problem) -> tuple[Estimate, Estimate]:
    """auc_pu and average_precision_pu."""
    return _auc(problem), _average_precision(problem)


def _labeled_against_others(problem: Problem, *, pooled: bool) -> Problem:
    """The same rows with q as a known prior: pooled into one sample, or as two samples."""
    table = problem.table
    merged = replace(
        table,
        unlabeled=table.unlabeled + table.negative,
        negative=np.zeros_like(table.negative),
        n_unlabeled=table.n_unlabeled + table.n_negative,
        n_negative=0,
        weights=None
        if table.weights is None
        else replace(
            table.weights,
            unlabeled_squares=table.unlabeled_squares + table.negative_squares,
            negative_squares=np.zeros_like(table.negative),
        ),
    )
    return make_problem(
        merged,
        ClassPriorEstimate.given(problem.labeled_fraction),
        scenario="single-training-set" if pooled else "case-control",
        confidence_level=problem.confidence_level,
        rng=problem.seed,
    )


def _auc(problem: Problem) -> Estimate:
    if problem.target == "window" and problem.scenario == "single-training-set":
        # Which rows are labeled is random, how many is not: the lift carries all of it.
        lift = observed_lift(problem)
        q = problem.labeled_fraction
        value, draws = auc_from_lift(lift.value, q, 1.0), auc_from_lift(lift.draws, q, 1.0)
    else:
        lift = observed_lift(_labeled_against_others(problem, pooled=False))
        value, draws = np.asarray(lift.value), lift.draws
    return estimate_from_draws(
        problem,
        "auc_pu",
        float(value),
        draws,
        sampling=draws,
        prior=None,
        method=lift.method,
    )


def _average_precision(problem: Problem) -> Estimate:
    pooled = _labeled_against_others(problem, pooled=True)
    value = average_precision_value(pooled, pooled.class_prior.value)
    if problem.target == "window" and problem.scenario == "single-training-set":
        error, degrees = average_precision_error(
            replace(pooled, target="window", class_prior=problem.class_prior)
        )
        error *= pooled.class_prior.value / problem.class_prior.value
    else:
        error, degrees = average_precision_error(pooled, prior_is_labeled_fraction=True)
    draws = log_t_draws(
        value, error, degrees, size=DRAWS, rng=problem.generator("uncorrected average precision")
    )
    return estimate_from_draws(
        problem,
        "average_precision_pu",
        value,
        draws,
        sampling=draws,
        prior=None,
        method="Student t on the log scale",
    )
