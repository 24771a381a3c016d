"""Redrawn cumulative shares of G and F on a compressed table, for curves and maxima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.metrics.prior_dependence import prior_draws_following
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.running_sums import above
from pumonitor.metrics.window_target import window_prior, window_ratio
from pumonitor.stats.resampling import share_resamples, weight_resamples

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
    labeled_low : ndarray of shape (t,)
        Lower end of Jeffreys' interval of g at each threshold alone. Where nearly all labeled rows
        are above, redraws of them hardly differ.
    labeled_draws, population_draws : ndarray of shape (resamples, t)
    prior_draws : ndarray of shape (resamples, 1)
    holds_labeled : ndarray of shape (t,)
        Whether the cell holds labeled rows; True for the last threshold.
    row_share : ndarray of shape (t,)
        Share of the labeled weight that one labeled row of the cell has; 0 where it holds none.
    uncorrected : tuple of ndarray, ndarray, float
        g, theta and q of labeled rows against all others.
    """

    thresholds: FloatArray
    labeled_above: FloatArray
    population_above: FloatArray
    labeled_low: FloatArray
    labeled_draws: FloatArray
    population_draws: FloatArray
    prior_draws: FloatArray
    holds_labeled: NDArray[np.bool_]
    row_share: FloatArray
    uncorrected: tuple[FloatArray, FloatArray, float]


def resample(
    problem: Problem,
    *,
    cells: int,
    thresholds: tuple[float, ...] = (),
    at: Literal["all", "labeled"] = "all",
) -> Resampled:
    """Compress the table and redraw it, for the problem's scenario and target.

    With ``at="labeled"`` only thresholds of cells with labeled rows are among the results,
    with the lowest and the last: `pumonitor.metrics.maxima` needs no others.
    """
    small = problem.on_table(problem.table.compress(cells, thresholds=thresholds))
    table, rng = small.table, small.generator("resamples")
    holds_labeled = np.concatenate([table.labeled > 0, [True]])
    kept: slice | NDArray[np.intp] = slice(None)
    if at == "labeled":
        kept = np.union1d(0, np.flatnonzero(holds_labeled))
    labeled_above, population_above = small.labeled_above[kept], small.population_above[kept]
    labeled_draws = _cumulative(
        share_resamples(
            table.labeled,
            table.labeled_squares,
            pseudo_row=small.population_share,
            size=RESAMPLES,
            rng=rng,
        )
    )[:, kept]
    labeled_low = _jeffreys_low(small, labeled_above)
    picked = rng.integers(len(problem.fraction_draws), size=RESAMPLES)
    fraction = problem.fraction_draws[picked, np.newaxis]
    if problem.target == "window":
        positives = window_prior(problem)
        if isinstance(positives, np.ndarray):
            positives = positives[picked, np.newaxis]
        ratio = np.sqrt(window_ratio(small, kept, class_prior=positives))
        labeled_draws = labeled_above + (labeled_draws - labeled_above) * ratio
        most = np.atleast_2d(ratio).max(axis=0)
        labeled_low = labeled_above + (labeled_low - labeled_above) * most
        population_draws = np.broadcast_to(population_above, labeled_draws.shape)
    else:
        population_draws = _cumulative(
            share_resamples(small.rest, small.rest_squares, size=RESAMPLES, rng=rng)
        )[:, kept]
        if problem.scenario == "single-training-set":
            mass_draws = small.sums.mass[kept] + labeled_draws - labeled_above
            population_draws = fraction * mass_draws + (1 - fraction) * population_draws
    prior_draws = np.full((RESAMPLES, 1), problem.class_prior.value)
    if problem.is_prior_counted:
        prior_draws = prior_draws_following(problem, _labeled_totals(small))[:, np.newaxis]
    elif problem.prior_draws is not None:
        prior_draws = problem.prior_draws[picked, np.newaxis]
    row_share = np.zeros(len(table) + 1)
    np.divide(
        table.labeled_own_squares,
        table.labeled * float(table.labeled.sum()),
        out=row_share[:-1],
        where=table.labeled > 0,
    )
    naive_above, flagged, fraction_labeled = _uncorrected_shares(small)
    return Resampled(
        thresholds=np.concatenate([table.lower, [np.nextafter(table.upper[-1], np.inf)]])[kept],
        holds_labeled=holds_labeled[kept],
        row_share=row_share[kept],
        labeled_above=labeled_above,
        population_above=population_above,
        labeled_low=labeled_low,
        labeled_draws=np.clip(labeled_draws, 0.0, 1.0),
        population_draws=np.clip(population_draws, 0.0, 1.0),
        prior_draws=prior_draws,
        uncorrected=(naive_above[kept], flagged[kept], fraction_labeled),
    )


def _jeffreys_low(small: Problem, labeled_above: FloatArray) -> FloatArray:
    """Lower ends of Jeffreys' intervals of shares of the labeled rows."""
    rows, tail = small.labeled_size, 0.5 * (1 - small.confidence_level)
    over = np.clip(labeled_above, 0.0, 1.0) * rows
    low = special.betaincinv(over + 0.5, rows - over + 0.5, tail)
    return np.asarray(np.minimum(low, labeled_above))


def _labeled_totals(small: Problem) -> FloatArray:
    """Totals of the same redrawn labeled weights, of which the window keeps what is not known."""
    table = small.table
    redrawn = weight_resamples(
        table.labeled,
        table.labeled_squares,
        pseudo_row=small.population_share,
        size=RESAMPLES,
        rng=small.generator("resamples"),
    )
    if small.target == "process":
        return np.asarray(redrawn.sum(axis=1))
    known = np.divide(
        min(small.label_share, 1.0) * table.labeled_cross,
        table.labeled_squares,
        out=np.zeros_like(table.labeled),
        where=table.labeled_squares > 0,
    )
    return np.asarray(redrawn @ np.sqrt(np.maximum(1 - known, 0.0)))


def _uncorrected_shares(small: Problem) -> tuple[FloatArray, FloatArray, float]:
    """g, theta and q of labeled rows against all others, each row counted once."""
    others = small.table.unlabeled + small.table.negative
    q = small.labeled_fraction
    theta = q * small.sums.mass + (1 - q) * above(others) / float(others.sum())
    return small.sums.mass, theta, q


def _cumulative(draws: FloatArray) -> FloatArray:
    """Of the cells at or above each threshold; nothing is above the last."""
    running = np.zeros((len(draws), draws.shape[1] + 1))
    np.cumsum(draws[:, ::-1], axis=1, out=running[:, -2::-1])
    return running
