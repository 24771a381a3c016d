"""Paired draws at two thresholds: the decisions of two models make four cells.

A row is flagged by both, by the first only, by the second only or by neither. Drawing the weight
of the four cells jointly and adding them up gives draws of both models' g and theta that go
together, so the draws of a difference have the right width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.metrics.from_draws import estimate_from_draws
from pumonitor.metrics.paired import ModelOnRows, difference_range
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem, uncertain_size
from pumonitor.metrics.rates import (
    AtThreshold,
    Rates,
    ShareDraws,
    corrected_rates,
    rates_with_draws,
)
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.metrics.window_target import window_correction, window_prior
from pumonitor.results import Estimate
from pumonitor.tables import ScoreTable

Summed = Callable[[FloatArray], FloatArray]
"""Sums a column of the rows over the four cells."""

# Cells are numbered 2 * (flagged by the first) + (flagged by the second).
_FLAGGED_BY_FIRST = np.array([False, False, True, True])
_FLAGGED_BY_SECOND = np.array([False, True, False, True])
_DISAGREE = _FLAGGED_BY_FIRST != _FLAGGED_BY_SECOND
_LEAST_SIZE = 0.05
"""Of a draw of how many rows tell as much, as a share of what was taken: fewer have no share."""


def threshold_difference(
    metric: ThresholdMetric,
    first: AtThreshold,
    second: AtThreshold,
    *,
    value: float,
) -> Estimate:
    """Difference of a threshold metric between two models, from their paired rates.

    Parameters
    ----------
    first, second : AtThreshold
        From `paired_at_thresholds`.
    value : float
        Difference of the two estimates.
    """

    def difference(one: Rates, other: Rates) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.broadcast_to(metric.formula(one) - metric.formula(other), (DRAWS,))

    problem = first.problem
    by_prior = None
    if first.prior is not None and second.prior is not None:
        by_prior = difference(first.prior, second.prior)
    return estimate_from_draws(
        problem,
        f"{metric.name}_difference",
        value,
        difference(first.both, second.both),
        sampling=difference(first.sampling, second.sampling),
        prior=by_prior,
        method="paired confidence draws of the counts",
        value_range=difference_range(metric.value_range(problem.prior_for_ranges)),
    )


def paired_at_thresholds(
    first: ModelOnRows, second: ModelOnRows, rows: ScoreTable
) -> tuple[AtThreshold, AtThreshold]:
    """Rates of two models at their thresholds, drawn together and with the same prior draws.

    Notes
    -----
    The weight of each cell, of labeled and of other rows, is drawn from a gamma distribution with
    its own mean and variance, half a row more in each: without weights the shares are then drawn
    from Jeffreys' Dirichlet. (Half a row to share among the two cells of a margin, which one model
    by itself has, left intervals of differences at 20 labeled rows with 90 to 93%.) Cells in which
    the models disagree get no more than there can be in them, for labeled rows the share in the
    population over the class prior; so models that decide alike differ by exactly 0.
    """
    problem = first.on_rows(rows)
    cell = 2 * first.flagged.astype(np.intp) + second.flagged

    def summed(column: FloatArray) -> FloatArray:
        return np.bincount(cell, weights=column, minlength=4).astype(np.float64)

    population = summed(problem.population)
    theta = population / population.sum()
    labeled = summed(rows.labeled)
    g = labeled / labeled.sum()
    squares = summed(rows.labeled_own_squares) / float(rows.labeled.sum()) ** 2
    effect, uncertain = _entity_effect(problem, rows, first.flagged, second.flagged, g, theta)
    squares *= effect
    draw = _window_draws if problem.target == "window" else _process_draws
    drawn = draw(problem, g, theta, squares, summed, uncertain)
    pair = []
    for flagged in (_FLAGGED_BY_FIRST, _FLAGGED_BY_SECOND):
        at = float(g[flagged].sum()), float(theta[flagged].sum())
        pair.append(rates_with_draws(problem, *at, drawn.flagged(flagged)))
    return pair[0], pair[1]


def _entity_effect(
    problem: Problem,
    rows: ScoreTable,
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    g: FloatArray,
    theta: FloatArray,
) -> tuple[float, FloatArray | float]:
    """Design effect of the differences of recall and of precision, the greater of the two.

    With draws of what it may be instead, as a multiple: few entities hardly tell it.
    """
    if rows.entities is None:
        return 1.0, 1.0
    recalls, flagged = (
        [float(share[cells].sum()) for cells in (_FLAGGED_BY_FIRST, _FLAGGED_BY_SECOND)]
        for share in (g, theta)
    )
    apart = [mask - recall for mask, recall in zip((first, second), recalls, strict=True)]
    of_precision = [
        column / share if share > 0 else column
        for column, share in zip(apart, flagged, strict=True)
    ]
    shared = max(rows.design_effect(a - b) for a, b in (apart, of_precision)) - 1
    # As a sample variance of so many entities.
    shared *= 1 + 1 / max(problem.labeled_degrees, 1.0)
    part = shared / (1 + shared)
    sized = uncertain_size(rows, problem.generator("design effect of a difference"))
    return 1 + shared, 1 / np.maximum(1 - part + part * sized, _LEAST_SIZE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CellDraws:
    """Draws of the shares of G and of F in the four cells, and of the labeled fraction."""

    labeled: FloatArray
    population: FloatArray
    labeled_fraction: FloatArray

    def flagged(self, cells: NDArray[np.bool_]) -> ShareDraws:
        """Those of one model, which flags these cells."""
        return ShareDraws(
            labeled_above=self.labeled[cells].sum(axis=0),
            population_above=np.broadcast_to(self.population[cells].sum(axis=0), (DRAWS,)),
            labeled_fraction=self.labeled_fraction,
        )


def _extra_rows(possible_share: FloatArray, rows: float) -> FloatArray:
    """Part of a row that is added to each cell, for what a small sample has not shown."""
    possible = np.where(_DISAGREE, possible_share * rows, np.inf)
    return np.asarray(np.minimum(0.5, possible))


def _gammas(share: FloatArray, variance: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws of non-negative weights with these means and variances: shape (4, DRAWS).

    Means and variances have a column, or one for each draw.
    """
    share, spreads = np.broadcast_arrays(share, variance)
    draws = np.broadcast_to(share, (4, DRAWS)).copy()
    for cell in range(4):
        random = (share[cell] > 0) & (spreads[cell] > 0)
        if not random.any():
            continue
        mean, spread = (np.where(random, one[cell], 1.0) for one in (share, spreads))
        drawn = rng.gamma(mean**2 / spread, spread / mean, size=DRAWS)
        draws[cell] = np.where(random, drawn, draws[cell])
    return draws


def _with_extra(
    share: FloatArray, squares: FloatArray, possible_share: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the cells' weights with the extra rows, of the average weight each."""
    row = float(squares.sum())
    extra = _extra_rows(possible_share, 1 / row)
    return (share + extra * row)[:, None], (squares + extra * row**2)[:, None]


def _process_draws(
    problem: Problem,
    g: FloatArray,
    theta: FloatArray,
    squares: FloatArray,
    summed: Summed,
    uncertain: FloatArray | float,
) -> _CellDraws:
    """Rows are draws from the process: labeled and other rows of all cells are random."""
    rng = problem.generator("paired counts at two thresholds")
    possible = theta / problem.class_prior.value
    mean, variance = _with_extra(g, squares, possible)
    labeled = _gammas(mean, variance * uncertain, rng)
    rest_total = float(problem.rest.sum())
    rest_share = summed(problem.rest) / rest_total
    rest_squares = summed(problem.rest_squares) / rest_total**2
    rest = _gammas(*_with_extra(rest_share, rest_squares, theta), rng)
    labeled_draws = labeled / labeled.sum(axis=0)
    if problem.scenario == "case-control":
        fixed = np.full(DRAWS, problem.labeled_fraction)
        return _CellDraws(
            labeled=labeled_draws, population=rest / rest.sum(axis=0), labeled_fraction=fixed
        )
    q = problem.labeled_fraction
    mass = q * _mass_draws(problem, labeled, g, summed, rng)
    rest *= 1 - q
    together = mass.sum(axis=0) + rest.sum(axis=0)
    return _CellDraws(
        labeled=labeled_draws,
        population=(mass + rest) / together,
        labeled_fraction=mass.sum(axis=0) / together,
    )


def _mass_draws(
    problem: Problem,
    labeled: FloatArray,
    share: FloatArray,
    summed: Summed,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of labeled rows by sample weight, given those by 1 / propensity.

    Labeled rows are part of the population, there counted by sample weight: one draw moves both,
    the more the closer the two weightings are.
    """
    rows = problem.table
    if not rows.has_propensities:
        return labeled
    total, mass_total = float(rows.labeled.sum()), float(rows.labeled_mass.sum())
    square = summed(rows.labeled_squares) / total**2
    cross = summed(rows.labeled_cross) / (total * mass_total)
    mass_square = summed(rows.labeled_mass_squares) / mass_total**2
    slope = np.divide(cross, square, out=np.ones(4), where=square > 0)
    unexplained = np.sqrt(np.maximum(mass_square - slope * cross, 0.0))
    noise = rng.standard_normal((4, DRAWS)) * unexplained[:, None]
    own = summed(rows.labeled_mass) / mass_total
    moved = own[:, None] + slope[:, None] * (labeled - share[:, None]) + noise
    return np.maximum(moved, 0.0)


def _window_draws(
    problem: Problem,
    g: FloatArray,
    theta: FloatArray,
    squares: FloatArray,
    summed: Summed,
    uncertain: FloatArray | float,
) -> _CellDraws:
    """The rows are given; which positives got labeled is random.

    The correction of `window_correction` is linear in the moments it takes, so each cell
    can have its own part of it.
    """
    rows, total = problem.table, float(problem.table.labeled.sum())
    prior = np.atleast_1d(window_prior(problem))
    true = corrected_rates(g[:, None], theta[:, None], prior, label_purity=problem.label_purity)
    cross = squares
    if rows.weights is not None:
        cross = summed(rows.labeled_cross) / total**2
    row = float(squares.sum())
    correction = window_correction(
        problem,
        cross=cross[:, None],
        positive=np.clip(true.recall, 0.0, 1.0),
        negative=np.clip(true.false_positive_rate, 0.0, 1.0),
        class_prior=prior,
    )
    everywhere = window_correction(
        problem,
        cross=np.asarray(cross.sum()),
        positive=np.ones(()),
        negative=np.ones(()),
        class_prior=prior,
    )
    unseen = np.maximum(1 + everywhere / row, 0.0)
    extra = unseen * _extra_rows(theta / problem.class_prior.value, 1 / row)[:, None]
    variance = np.maximum(squares[:, None] + correction, 0.0) + extra * row**2
    labeled = _gammas(
        g[:, None] + extra * row,
        variance * uncertain,
        problem.generator("paired counts at two thresholds"),
    )
    return _CellDraws(
        labeled=labeled / labeled.sum(axis=0),
        population=theta[:, None],
        labeled_fraction=np.full(DRAWS, problem.labeled_fraction),
    )
