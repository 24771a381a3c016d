"""Standard errors of functionals of (G, F) from their influence functions.

A functional T(G, F) has first-order error mean_G(u) + mean_F(v), with u and v its influence
functions, one value per score cell, averaging zero over G and over F. Sums over cells then give
its variance in both scenarios and for both targets, in one pass.
"""

from __future__ import annotations

import math

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.mixtures import solved_mixtures
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.window_target import window_correction, window_prior


def standard_error(
    problem: Problem, labeled_influence: FloatArray, population_influence: FloatArray
) -> tuple[FloatArray | float, float]:
    """Standard error and Satterthwaite degrees of freedom of a functional of (G, F).

    Parameters
    ----------
    labeled_influence, population_influence : ndarray of shape (cells,)
        u and v above.

    Notes
    -----
    process, single-training-set: rows are independent draws; a labeled row contributes
    u / n_L + v / n, any other v / n. process, case-control: two independent samples.
    window: only u counts, with the correction of `window_correction`. It depends on the
    number of positives, so there is a standard error for each draw of an uncertain class prior.
    The labeled part carries n_L / (n_L - 1), as a sample variance does, with the degrees of
    freedom of `Problem.labeled_degrees` for n_L - 1. Where labeled rows share entities it is
    multiplied by the design effect of their contributions.
    """
    table = problem.table
    u, v = labeled_influence, population_influence
    labeled_total = float(table.labeled.sum())
    population_total = float(problem.population.sum())
    labeled_degrees, rest_size = problem.labeled_degrees, problem.rest_size
    small_sample = 1 + 1 / labeled_degrees if labeled_degrees > 0 else math.inf
    own = float(np.sum(table.labeled_own_squares * u**2)) / labeled_total**2
    if problem.target == "window":
        own *= table.design_effect(u)
        prior = window_prior(problem)
        positive, negative = _component_variances(problem, u, prior)
        cross = own
        if table.weights is not None:
            cross = float(np.sum(table.labeled_cross * u**2)) / labeled_total**2
        correction = window_correction(
            problem,
            cross=np.asarray(cross),
            positive=positive,
            negative=negative,
            class_prior=prior,
        )
        errors = np.sqrt(np.maximum(small_sample * (own + correction), 0.0))
        return (errors if errors.ndim else float(errors)), labeled_degrees
    rest = float(np.sum(problem.rest_squares * v**2)) / population_total**2
    labeled, by_row = own, u / labeled_total
    if problem.scenario == "single-training-set":
        own_cross = table.labeled_own_squares if table.weights is None else table.labeled_cross
        labeled += (
            2 * float(np.sum(own_cross * u * v)) / (labeled_total * population_total)
            + float(np.sum(table.labeled_own_mass_squares * v**2)) / population_total**2
        )
        by_row = by_row + v / population_total
    labeled *= table.design_effect(by_row)
    labeled = max(labeled, 0.0) * small_sample
    variance = labeled + rest
    if variance == 0:
        return 0.0, labeled_degrees
    degrees = variance**2 / (
        labeled**2 / max(labeled_degrees, 1e-9) + rest**2 / max(rest_size - 1, 1e-9)
    )
    return math.sqrt(variance), degrees


def _component_variances(
    problem: Problem, influence: FloatArray, prior: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Variance of the influence among positives and among negatives, at one class prior or more."""
    purity = problem.label_purity
    of_labeled, of_all = (
        [float(np.sum(share * power)) for power in (influence, influence**2)]
        for share in (problem.labeled_share, problem.population_share)
    )
    positives, negatives = zip(
        *(
            solved_mixtures(g, f, prior, label_purity=purity)
            for g, f in zip(of_labeled, of_all, strict=True)
        ),
        strict=True,
    )
    return tuple(np.maximum(square - mean**2, 0.0) for mean, square in (positives, negatives))
