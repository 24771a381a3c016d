"""A queue that another score filled than that of the model, as every challenger meets it.

Why positives of several models are placed together: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

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
_NEXT_TO_NONE: Final = 1e-9


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
        heights = np.stack([power for score in normal for power in (score, score**2)], axis=1)
        positives = self._place(posterior, cell_of_row, heights, rng)
        found = []
        for model, bin_of_cell, size in zip(models, bins_of_cell, sizes, strict=True):
            along = positives @ (bin_of_cell[:, np.newaxis] == np.arange(size)).astype(float)
            found.append(_with_positives(posterior, along, model.counts, rng))
        return found

    def _place(
        self,
        posterior: ReviewPosterior,
        cell_of_row: IndexArray,
        heights: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Positives by draw and cell."""
        size, draws = len(heights), len(posterior.positives)
        index = self.bin_of_row * size + cell_of_row
        known, possible = (
            np.bincount(index[rows], minlength=size * len(self.counts.bins.rows)).reshape(-1, size)
            for rows in (self.is_known, self.is_possible)
        )
        silent = possible - known
        unreviewed = 2 * self.counts.reviewed < self.counts.bins.rows
        slopes = _slope_draws(known[unreviewed], silent[unreviewed], heights, draws, rng)
        odds = np.exp(np.clip(slopes @ heights.T, -_STEEPEST, _STEEPEST))
        positives = np.broadcast_to(known.sum(axis=0), (draws, size)).astype(float)
        for drawn, known_here, silent_here in zip(
            posterior.positives.T, known, silent, strict=True
        ):
            inside = np.flatnonzero(silent_here)
            hidden = np.clip(drawn - known_here.sum(), 0, silent_here.sum())
            if hidden.any():
                labeled, left = known_here[inside], silent_here[inside]
                # Known positives are a fair sample of them. They are few in a bin, so that the
                # line through those of all bins counts as much as they do, and one more.
                expected = odds[:, inside] * left
                expected *= (labeled.sum() + 1) / expected.sum(axis=1, keepdims=True)
                shares = rng.standard_gamma(labeled + expected)
                positives[:, inside] += _place_hidden(hidden, shares, left, rng)
        return positives


def _slope_draws(
    known: IntArray, silent: IntArray, heights: FloatArray, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of how the log odds of being positive rise with the models' scores inside a bin.

    Parameters
    ----------
    known, silent : ndarray of shape (bins of the queue, cells)
    heights : ndarray of shape (cells, terms)

    Returns
    -------
    ndarray of shape (draws, terms)

    Notes
    -----
    Given how many positives of a bin are known, in which cells they are is multinomial, with
    chances in proportion to the silent rows times the odds. That has no term for the bin itself:
    what both scores tell is not told twice.
    """
    terms = heights.shape[1]
    mean, precision = np.tile(_SLOPE_MEAN, terms // 2), np.tile(_SLOPE_SD, terms // 2) ** -2.0
    told = (known.sum(axis=1) > 0) & (silent.sum(axis=1) > 0)
    known, silent = known[told], silent[told]
    total = known.sum(axis=1).astype(float)
    slope = mean.copy()
    for _ in range(_STEPS):
        share = silent * np.exp(np.clip(heights @ slope, -_STEEPEST, _STEEPEST))
        share /= share.sum(axis=1, keepdims=True)
        middle = share @ heights
        gradient = (known @ heights - total[:, np.newaxis] * middle).sum(axis=0)
        gradient -= precision * (slope - mean)
        weight = total @ share
        information = (heights.T * weight) @ heights - (middle.T * total) @ middle
        information += np.diag(precision)
        slope = slope + np.clip(np.linalg.solve(information, gradient), -1, 1)
    spread = np.linalg.cholesky(np.linalg.inv(information))
    return np.asarray(slope + rng.standard_normal((draws, terms)) @ spread.T)


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


def _place_hidden(
    hidden: FloatArray, shares: FloatArray, silent: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Draw in which cells hidden positives are, in no cell more than it has silent rows.

    Parameters
    ----------
    hidden : ndarray of shape (draws,)
        Whole numbers, at most as many as there are silent rows.
    shares : ndarray of shape (draws, cells)
        Chances of the cells, but for a factor.
    silent : ndarray of shape (cells,)
    """
    chances = shares / shares.sum(axis=1, keepdims=True)
    placed = np.minimum(rng.multinomial(hidden.astype(np.int64), chances), silent).astype(float)
    for _ in range(_ROUNDS):
        # What found no room goes to the others, in proportion.
        left = hidden - placed.sum(axis=1)
        if not np.any(left > _NEXT_TO_NONE):
            break
        open_shares = np.where(placed < silent, shares, 0)
        whole = np.maximum(open_shares.sum(axis=1), 1e-300)
        placed = np.minimum(placed + open_shares * (left / whole)[:, np.newaxis], silent)
    return placed
