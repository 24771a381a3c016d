"""Redrawn cumulative shares of G and F on a compressed table, for curves and maxima."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.problem import Problem, above
from pumonitor.metrics.rates import corrected_rates
from pumonitor.stats.resampling import share_resamples
from pumonitor.tables import ScoreTable

__all__ = ["Resampled", "resample"]

FloatArray = NDArray[np.float64]

RESAMPLES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """Shares at or above each of the thresholds.

    Attributes
    ----------
    thresholds : ndarray of shape (t,)
        Lowest score of each cell, ascending, then one above the highest score.
    labeled_above, population_above : ndarray of shape (t,)
        g and theta at the thresholds.
    labeled_draws, population_draws : ndarray of shape (resamples, t)
    prior_draws : ndarray of shape (resamples, 1)
    fraction_draws : ndarray of shape (resamples, 1)
        The labeled fraction q of each resample.
    """

    thresholds: FloatArray
    labeled_above: FloatArray
    population_above: FloatArray
    labeled_draws: FloatArray
    population_draws: FloatArray
    prior_draws: FloatArray
    fraction_draws: FloatArray


def resample(problem: Problem, *, cells: int, thresholds: tuple[float, ...] = ()) -> Resampled:
    """Compress the table and redraw it, for the problem's scenario and target."""
    table = problem.table.compress(cells, thresholds=thresholds)
    rng = problem.generator("resamples")
    labeled_share = table.labeled / table.labeled.sum()
    rest = _rest(problem, table)
    rest_share = rest / rest.sum()
    population = rest + (table.labeled_mass if problem.scenario != "case-control" else 0.0)
    population_share = population / population.sum()
    labeled_above, population_above = above(labeled_share), above(population_share)
    labeled_draws = _cumulative(
        share_resamples(
            labeled_share,
            problem.labeled_size,
            prior_share=population_share,
            size=RESAMPLES,
            rng=rng,
        )
    )
    fraction = rng.choice(problem.fraction_draws, size=(RESAMPLES, 1))
    if problem.target == "window":
        labeled_draws = _rescaled(problem, labeled_above, population_above, labeled_draws)
        population_draws = np.broadcast_to(population_above, labeled_draws.shape)
    else:
        rest_draws = _cumulative(
            share_resamples(rest_share, problem.rest_size, size=RESAMPLES, rng=rng)
        )
        if problem.scenario == "case-control":
            population_draws = rest_draws
        else:
            mass_above = above(table.labeled_mass / table.labeled_mass.sum())
            population_draws = (
                fraction * (mass_above + labeled_draws - labeled_above)
                + (1 - fraction) * rest_draws
            )
    if problem.prior_draws is None:
        prior_draws = np.full((RESAMPLES, 1), problem.class_prior.value)
    else:
        prior_draws = rng.choice(problem.prior_draws, size=(RESAMPLES, 1))
    return Resampled(
        thresholds=np.concatenate([table.lower, [np.nextafter(table.upper[-1], np.inf)]]),
        labeled_above=labeled_above,
        population_above=population_above,
        labeled_draws=np.clip(labeled_draws, 0.0, 1.0),
        population_draws=np.clip(population_draws, 0.0, 1.0),
        prior_draws=prior_draws,
        fraction_draws=fraction,
    )


def _rest(problem: Problem, table: ScoreTable) -> FloatArray:
    if problem.scenario == "case-control":
        return table.unlabeled
    return table.unlabeled + table.negative


def _cumulative(draws: FloatArray) -> FloatArray:
    running = np.cumsum(draws[:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([running, np.zeros((len(draws), 1))], axis=1)


def _rescaled(problem: Problem, g: FloatArray, theta: FloatArray, draws: FloatArray) -> FloatArray:
    """Deviations of g shrunk or stretched to the variance of the window target."""
    rates = corrected_rates(g, theta, problem.class_prior.value, label_purity=problem.label_purity)

    def variance(share: FloatArray) -> FloatArray:
        inside = np.clip(share, 0.0, 1.0)
        return np.asarray(inside * (1 - inside))

    sampled = variance(g) / problem.labeled_size
    wanted = problem.window_variance(
        variance(g), variance(rates.recall), variance(rates.false_positive_rate)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(sampled > 0, np.sqrt(wanted / sampled), 1.0)
    return np.asarray(g + (draws - g) * ratio)
