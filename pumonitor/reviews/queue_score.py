"""A queue that another score filled than that of the model, as every challenger meets it.

Why positives of several models are placed together: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.estimation import ReviewPosterior

__all__ = ["ModelBins", "QueueRows"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]

_SEED: Final = 29
_ROUNDS: Final = 8
_STEPS: Final = 15
_STEEPEST: Final = 30.0
_SLOPE_MEAN: Final = (1.0, 0.0)
_SLOPE_SD: Final = (1.5, 0.3)
"""Of the slope over a model's normal score, and of its bend."""
_LINE_COUNTS: Final = 20.0
_LINE_COUNTS_IN_BIN: Final = 4.0
"""As many known positives of a bin of the queue, and of a bin of a model, the line counts as."""
_NEXT_TO_NONE: Final = 1e-9
_CLOSE: Final = 1e-6


class ModelBins(NamedTuple):
    """Rows by bin of a model's score, and the bin of each row."""

    counts: ReviewCounts
    bin_of_row: IndexArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueueRows:
    """Rows by bin of the score that filled the queue.

    Who was reviewed, and how likely a positive is to complain, depend on the queue's score. So
    positives are estimated along it; where those of one of its bins lie along the score of a model
    is told by the known ones among them, who are a fair sample of them.

    It is wrong where complaints depend on the model's score beyond the queue's.

    Attributes
    ----------
    counts : ReviewCounts
    bin_of_row : ndarray of shape (n,)
    is_known, is_possible : ndarray of bool of shape (n,)
        Rows that are known to be positive, and rows that are or may be.
    """

    counts: ReviewCounts
    bin_of_row: IndexArray
    is_known: NDArray[np.bool_]
    is_possible: NDArray[np.bool_]

    def along_models(
        self, posterior: ReviewPosterior, models: Sequence[ModelBins]
    ) -> list[ReviewPosterior]:
        """Draws of positives by bin of the queue's score as draws by bin of each model's.

        Hidden positives are placed in cells of all models' bins together, so that the draws of
        two models go together and their difference is right.

        Parameters
        ----------
        posterior : ReviewPosterior
            By bin of the queue's score.
        models : sequence of ModelBins
            One, or the two that are compared: of more there are too many cells.
        """
        sizes = [len(model.counts.bins.rows) for model in models]
        joint = np.ravel_multi_index([model.bin_of_row for model in models], sizes)
        cells, cell_of_row = np.unique(joint, return_inverse=True)
        rng = np.random.default_rng(_SEED)
        bins_of_cell = np.unravel_index(cells, sizes)
        normal = [
            model.counts.bins.normal_score[bins]
            for model, bins in zip(models, bins_of_cell, strict=True)
        ]
        positives = self._place(posterior, cell_of_row, normal, bins_of_cell, rng)
        posteriors = []
        for model, bin_of_cell, size in zip(models, bins_of_cell, sizes, strict=True):
            along = positives @ (bin_of_cell[:, np.newaxis] == np.arange(size)).astype(float)
            posteriors.append(_with_positives(posterior, along, model.counts, rng))
        return posteriors

    def _place(
        self,
        posterior: ReviewPosterior,
        cell_of_row: IndexArray,
        normal: Sequence[FloatArray],
        bins_of_cell: Sequence[IndexArray],
        rng: np.random.Generator,
    ) -> FloatArray:
        """Positives by draw and cell."""
        size, draws = len(normal[0]), len(posterior.positives)
        index = self.bin_of_row * size + cell_of_row
        known, possible = (
            np.bincount(index[rows], minlength=size * len(self.counts.bins.rows)).reshape(-1, size)
            for rows in (self.is_known, self.is_possible)
        )
        unreviewed = 2 * self.counts.reviewed < self.counts.bins.rows
        odds = _odds(
            known[unreviewed],
            possible[unreviewed],
            posterior.positives[:, unreviewed].mean(axis=0),
            normal,
            bins_of_cell,
            draws,
            rng,
        )
        positives = np.broadcast_to(known.sum(axis=0), (draws, size)).astype(float)
        for drawn, known_here, possible_here in zip(
            posterior.positives.T, known, possible, strict=True
        ):
            total = known_here.sum()
            inside = np.flatnonzero(possible_here > known_here)
            silent = (possible_here - known_here)[inside]
            hidden = np.clip(drawn - total, 0, silent.sum())
            if hidden.any():
                fitted = odds * possible_here
                fitted *= total / fitted.sum(axis=1, keepdims=True)
                here = _departing(odds, fitted, known_here, _LINE_COUNTS, rng)
                positives[:, inside] += _draw_hidden(hidden, here[:, inside], silent, rng)
        return positives


def _odds(
    known: IntArray,
    possible: IntArray,
    positives: FloatArray,
    normal: Sequence[FloatArray],
    bins_of_cell: Sequence[IndexArray],
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of the odds that a row of a cell is positive, but for a factor of each queue's bin.

    A line with a bend over the normal score of each model, from which every bin of a model departs
    as far as its known positives say.

    Parameters
    ----------
    known, possible : ndarray of shape (bins of the queue, cells)
    positives : ndarray of shape (bins of the queue,)
        Known and hidden ones.
    normal, bins_of_cell : sequences of ndarray of shape (cells,)
        Normal score of the bin of each model, and that bin.
    """
    heights = np.stack([power for score in normal for power in (score, score**2)], axis=1)
    slopes, expected = _slope_draws(known, possible, positives, heights, draws, rng)
    odds = np.exp(np.clip(slopes @ heights.T, -_STEEPEST, _STEEPEST))
    for bin_of_cell in bins_of_cell:
        fitted, known_positives = (
            np.bincount(bin_of_cell, each).astype(float) for each in (expected, known.sum(axis=0))
        )
        ones = np.ones((draws, len(fitted)))
        departs = _departing(ones, fitted, known_positives, _LINE_COUNTS_IN_BIN, rng)[
            :, bin_of_cell
        ]
        odds *= departs
        expected = expected * departs.mean(axis=0)
    return odds


def _departing(
    odds: FloatArray,
    fitted: FloatArray,
    known: NDArray[Any],
    counts: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of the odds, given known positives where so many were fitted."""
    return np.asarray(odds * rng.standard_gamma(counts + known, odds.shape) / (counts + fitted))


def _slope_draws(
    known: IntArray,
    possible: IntArray,
    positives: FloatArray,
    heights: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draws of how the log odds of a positive rise with the models' scores inside a bin.

    Parameters
    ----------
    known, possible : ndarray of shape (bins of the queue, cells)
    positives : ndarray of shape (bins of the queue,)
    heights : ndarray of shape (cells, terms)

    Returns
    -------
    (ndarray of shape (draws, terms), ndarray of shape (cells,))
        The slopes, and how many known positives of each cell are expected by them.

    Notes
    -----
    Given how many positives of a bin are known, in which cells they are is multinomial, with
    chances in proportion to the positives of each. That has no term for how often they complain.
    """
    models = heights.shape[1] // 2
    mean, precision = np.tile(_SLOPE_MEAN, models), np.tile(_SLOPE_SD, models) ** -2.0
    total = known.sum(axis=1)[:, np.newaxis]
    slope = mean.copy()
    for _ in range(_STEPS):
        odds = np.exp(np.clip(heights @ slope, -_STEEPEST, _STEEPEST))
        chance = _chances_of_sum(odds, possible, positives)
        share = possible * chance
        share /= np.maximum(share.sum(axis=1, keepdims=True), _NEXT_TO_NONE)
        expected = (total * share).sum(axis=0)
        gradient = (known.sum(axis=0) - expected) @ heights - precision * (slope - mean)
        weight = total * share * (1 - chance)
        middle = weight @ heights
        information = (heights.T * weight.sum(axis=0)) @ heights + np.diag(precision)
        information -= (middle.T / np.maximum(weight.sum(axis=1), _NEXT_TO_NONE)) @ middle
        slope = slope + np.clip(np.linalg.solve(information, gradient), -1, 1)
    spread = np.linalg.cholesky(np.linalg.inv(information))
    return slope + rng.standard_normal((draws, len(mean))) @ spread.T, expected


def _chances_of_sum(odds: FloatArray, rows: IntArray, wanted: FloatArray) -> FloatArray:
    """Chances with these odds, but for a factor by which so many rows are expected in all.

    Parameters
    ----------
    odds : ndarray of shape (cells,) or (sums, cells)
    rows : ndarray of shape (cells,) or (sums, cells)
    wanted : ndarray of shape (sums,)

    Returns
    -------
    ndarray of shape (sums, cells)
    """
    level = np.log(np.maximum(wanted, _NEXT_TO_NONE)) - np.log((odds * rows).sum(axis=-1))
    for _ in range(_STEPS):
        chance = odds * np.exp(np.clip(level, -_STEEPEST, _STEEPEST))[:, np.newaxis]
        chance = chance / (1 + chance)
        expected = rows * chance
        slope = (expected * (1 - chance)).sum(axis=1)
        missing = wanted - expected.sum(axis=1)
        if np.all(np.abs(missing) < _CLOSE * (1 + wanted)):
            break
        level = level + np.clip(missing / np.maximum(slope, _NEXT_TO_NONE), -2, 2)
    return np.asarray(chance)


def _with_positives(
    posterior: ReviewPosterior,
    positives: FloatArray,
    counts: ReviewCounts,
    rng: np.random.Generator,
) -> ReviewPosterior:
    """The posterior by bin of a model's score, with these positives."""
    bins = counts.bins
    inside = bins.concordance + bins.concordance_error * rng.standard_normal(positives.shape)
    complained = counts.open_complained + counts.undecided_complained
    reviewed = counts.positive_complained + counts.positive_silent + counts.drawn_positive
    open_positives = positives - reviewed - counts.known_positive
    return replace(
        posterior,
        counts=counts,
        p=positives / np.maximum(bins.rows, 1),
        e=complained / np.maximum(open_positives, np.maximum(complained, 1)),
        positives=positives,
        concordance=np.clip(inside, 0, 1),
    )


def _draw_hidden(
    hidden: FloatArray, odds: FloatArray, silent: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Draw in which cells hidden positives are, in no cell more than it has silent rows.

    Parameters
    ----------
    hidden : ndarray of shape (draws,)
        At most as many as there are silent rows.
    odds : ndarray of shape (draws, cells)
        Of a row of each cell, but for a factor.
    silent : ndarray of shape (cells,)
    """
    chance = _chances_of_sum(odds, silent, hidden)
    placed = rng.binomial(silent, chance).astype(float)
    # Independent draws, moved to the right sum by as much as each could be off it.
    spread = silent * chance * (1 - chance) + _NEXT_TO_NONE
    for _ in range(_ROUNDS):
        missing = hidden - placed.sum(axis=1)
        if np.all(np.abs(missing) < _NEXT_TO_NONE):
            break
        room = np.where(missing[:, np.newaxis] > 0, silent - placed, placed)
        moved = np.where(room > 0, spread, 0)
        moved *= (missing / np.maximum(moved.sum(axis=1), 1e-300))[:, np.newaxis]
        placed = np.clip(placed + moved, 0, silent)
    return placed
