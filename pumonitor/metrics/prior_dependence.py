"""A class prior counted from the labeled rows errs together with the metrics they give.

With the prior method "propensity" the labeled rows give both their distribution G and, by their
total, the class prior: one heavy row below the threshold lowers recall and raises the prior, and
their product hardly moves. Draws of the prior are put into the order of the draws of that total,
their own distribution left as it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.metrics.problem import Problem


def prior_draws_following(
    problem: Problem, driver: FloatArray, *, correlation: float = 1.0
) -> FloatArray:
    """Draws of pi, as many as there are draws of `driver`, that rise with it.

    Parameters
    ----------
    driver : ndarray of shape (draws,)
        Draws of the labeled total, or of an estimate that is correlated with it.
    correlation : float
        Of the normal scores of both (a Gaussian copula), in [-1, 1].
    """
    if problem.prior_draws is None:
        return np.full(len(driver), problem.class_prior.value)
    order = _ranks(driver)
    if abs(correlation) < 1:
        noise = problem.generator("class prior beside its metrics").standard_normal(len(driver))
        along = special.ndtri((order + 0.5) / len(driver))
        order = _ranks(correlation * along + math.sqrt(1 - correlation**2) * noise)
    elif correlation < 0:
        order = len(driver) - 1 - order
    ordered = np.sort(problem.prior_draws)
    if len(ordered) != len(driver):
        ordered = np.quantile(ordered, (np.arange(len(driver)) + 0.5) / len(driver))
    return np.asarray(ordered[order])


def correlation_with_positives(
    problem: Problem, labeled_influence: FloatArray, population_influence: FloatArray
) -> float:
    """Correlation of the errors of a functional of (G, F) and of the total of labeled weights.

    The total has influence 1 on labeled rows: a row of weight w / e more or less.
    """
    table, u, v = problem.table, labeled_influence, population_influence
    total, population = float(table.labeled.sum()), float(problem.population.sum())
    kept, share = table.labeled_squares, 0.0
    if problem.target == "window":
        # Which positives got labeled is random, with variance w^2 (1 - e) / e.
        kept = np.maximum(kept - min(problem.label_share, 1.0) * table.labeled_cross, 0.0)
    elif problem.scenario == "single-training-set":
        share = 1.0
    covariance = float(np.sum(kept * u)) / total**2
    covariance += share * float(np.sum(table.labeled_cross * v)) / (total * population)
    variance = float(np.sum(kept * u**2)) / total**2
    if problem.target != "window":
        variance += float(np.sum(problem.rest_squares * v**2)) / population**2
        variance += share * (
            2 * float(np.sum(table.labeled_cross * u * v)) / (total * population)
            + float(np.sum(table.labeled_mass_squares * v**2)) / population**2
        )
    scale = math.sqrt(max(variance, 0.0) * float(kept.sum())) / total
    return float(np.clip(covariance / scale, -1.0, 1.0)) if scale > 0 else 0.0


def _ranks(values: FloatArray) -> NDArray[np.intp]:
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks
