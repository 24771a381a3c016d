"""The uncorrected numbers: every row that is not labeled counted as negative.

They are what a monitor that knows nothing of unlabeled rows reports, given beside the corrected
ones as the papers recommend (Ramola et al. 2019, section 2.3, acc_pu, bacc_pu, F_pu, mcc_pu;
Jain et al. 2017, AUC_pu). Each is the ordinary metric of labeled against all others: the
corrected formula with the labeled fraction in the place of the class prior. Propensities play no
part in them, and the number of labeled rows is held fixed for the window target.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.ranking import (
    auc_from_lift,
    average_precision_error,
    average_precision_value,
    observed_lift,
)
from pumonitor.metrics.rates import AtThreshold, ShareDraws, corrected_rates, share_draws_at
from pumonitor.results import ClassPriorEstimate, Estimate, Scenario
from pumonitor.stats.confidence_draws import log_t_draws

UNCORRECTED_AT_THRESHOLD = (F1, ACCURACY, BALANCED_ACCURACY, MCC)


def uncorrected_at(problem: Problem, index: int, drawn: ShareDraws) -> AtThreshold:
    """Rates of labeled against all others at a threshold, with draws from sampling alone.

    Parameters
    ----------
    problem : Problem
    index : int
        Of the lowest cell that is flagged.
    drawn : ShareDraws
        Those of the problem itself, which are these where each of its rows counts once.
    """
    rows = problem
    if not _counts_each_row_once(problem):
        rows = _each_row_once(problem, scenario=problem.scenario)
        drawn = share_draws_at(rows, index)
    g, theta = float(rows.labeled_above[index]), float(rows.population_above[index])
    q = problem.labeled_fraction
    theta_draws = drawn.population_above
    if rows.scenario == "case-control":
        theta = q * g + (1 - q) * theta
        theta_draws = q * drawn.labeled_above + (1 - q) * theta_draws
    draws = corrected_rates(
        drawn.labeled_above, theta_draws, drawn.labeled_fraction, label_purity=1.0
    )
    return AtThreshold(
        problem=problem,
        point=corrected_rates(g, theta, q, label_purity=1.0),
        both=draws,
        sampling=draws,
        prior=None,
    )


def uncorrected_ranking(problem: Problem) -> tuple[Estimate, Estimate]:
    """auc_pu and average_precision_pu."""
    # Two independent samples, but for the window target of a single training set: then which of
    # the window's rows are labeled is random, how many is not, and the rows stay one sample.
    one_sample = problem.target == "window" and problem.scenario == "single-training-set"
    rows = _each_row_once(problem, scenario="single-training-set" if one_sample else "case-control")
    return _auc(problem, rows), _average_precision(problem, rows)


def _counts_each_row_once(problem: Problem) -> bool:
    """Whether the uncorrected numbers are of the same rows, with nothing to count otherwise."""
    table = problem.table
    of_process = problem.scenario == "single-training-set" or problem.target == "process"
    return of_process and table.weights is None and not table.negative.any()


def _each_row_once(problem: Problem, *, scenario: Scenario) -> Problem:
    """Labeled rows by their sample weight, confirmed negatives among the others.

    In case-control the numbers describe the two samples as they are: the target is the process.
    """
    table = problem.table
    weights = table.weights
    if weights is not None:
        weights = replace(
            weights,
            labeled_squares=weights.labeled_mass_squares,
            labeled_cross=weights.labeled_mass_squares,
            unlabeled_squares=weights.unlabeled_squares + weights.negative_squares,
            negative_squares=np.zeros_like(weights.negative_squares),
        )
    return make_problem(
        replace(
            table,
            labeled=table.labeled_mass,
            unlabeled=table.unlabeled + table.negative,
            negative=np.zeros_like(table.negative),
            n_unlabeled=table.n_unlabeled + table.n_negative,
            n_negative=0,
            weights=weights,
        ),
        problem.class_prior,
        scenario=scenario,
        label_purity=problem.label_purity,
        target=problem.target if scenario == "single-training-set" else "process",
        confidence_level=problem.confidence_level,
        rng=problem.seed,
    )


def _auc(problem: Problem, rows: Problem) -> Estimate:
    lift = observed_lift(rows)
    value, draws = np.asarray(lift.value), lift.draws
    if rows.scenario == "single-training-set":
        q = problem.labeled_fraction
        value, draws = auc_from_lift(value, q, 1.0), auc_from_lift(draws, q, 1.0)
    return estimate_from_draws(
        problem,
        "auc_pu",
        float(value),
        draws,
        sampling=draws,
        prior=None,
        method=lift.method,
    )


def _average_precision(problem: Problem, rows: Problem) -> Estimate:
    q = problem.labeled_fraction
    pooled = make_problem(
        rows.table,
        ClassPriorEstimate.given(q),
        confidence_level=problem.confidence_level,
        rng=problem.seed,
    )
    value = average_precision_value(pooled, q)
    if rows.scenario == "single-training-set":
        error, degrees = average_precision_error(replace(rows, label_purity=1.0))
        error *= q / problem.class_prior.value
    else:
        error, degrees = average_precision_error(pooled, prior_is_labeled_fraction=True)
    draws = log_t_draws(
        value,
        error,
        degrees,
        order=problem.order("uncorrected average precision"),
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
