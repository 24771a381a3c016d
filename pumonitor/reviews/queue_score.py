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

_SEED: Final = 29
_ROUNDS: Final = 8
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
        positives = self._place(posterior, cell_of_row, bins_of_cell, rng)
        found = []
        for model, bin_of_cell, size in zip(models, bins_of_cell, sizes, strict=True):
            along = positives @ (bin_of_cell[:, np.newaxis] == np.arange(size)).astype(float)
            found.append(_with_positives(posterior, along, model.counts, rng))
        return found

    def _place(
        self,
        posterior: ReviewPosterior,
        cell_of_row: IndexArray,
        bins_of_cell: Sequence[IndexArray],
        rng: np.random.Generator,
    ) -> FloatArray:
        """Positives by draw and cell."""
        size = len(bins_of_cell[0])
        place = self.bin_of_row * size + cell_of_row
        known, possible = (
            np.bincount(place[rows], minlength=size * len(self.counts.bins.rows)).reshape(-1, size)
            for rows in (self.is_known, self.is_possible)
        )
        # Where a bin has few known positives, those of other bins that are mostly unreviewed tell
        # which scores of the model are likely; one more is spread as rows are.
        unreviewed = 2 * self.counts.reviewed < self.counts.bins.rows
        told, rows = (table[unreviewed].sum(axis=0) for table in (known, possible))
        likely = np.ones(size)
        for bin_of_cell in bins_of_cell:
            told_in_bin, rows_in_bin = (np.bincount(bin_of_cell, table) for table in (told, rows))
            share = told_in_bin / np.maximum(rows_in_bin, 1) + 1 / max(rows.sum(), 1)
            likely *= share[bin_of_cell] ** (1 / len(bins_of_cell))
        positives = np.broadcast_to(
            known.sum(axis=0), (len(posterior.positives), size)
        ).astype(float)
        for drawn, known_here, possible_here in zip(
            posterior.positives.T, known, possible, strict=True
        ):
            inside = np.flatnonzero(possible_here)
            labeled, silent = known_here[inside], (possible_here - known_here)[inside]
            hidden = np.clip(drawn - labeled.sum(), 0, silent.sum())
            if hidden.any():
                # Known positives are a fair sample of them. They are few in a bin, so that those
                # of other bins count as much, and one more.
                expected = possible_here[inside] * likely[inside]
                expected *= (labeled.sum() + 1) / expected.sum()
                shares = rng.standard_gamma(labeled + expected, (len(drawn), len(expected)))
                positives[:, inside] += _place_hidden(hidden, shares, silent)
        return positives


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


def _place_hidden(hidden: FloatArray, shares: FloatArray, silent: NDArray[np.int64]) -> FloatArray:
    """Hidden positives by cell in proportion to shares, in no cell more than it has silent rows.

    Parameters
    ----------
    hidden : ndarray of shape (draws,)
        At most as many as there are silent rows.
    shares : ndarray of shape (draws, cells)
    silent : ndarray of shape (cells,)
    """
    placed, left = np.zeros_like(shares), hidden
    for _ in range(_ROUNDS):
        open_shares = np.where(placed < silent, shares, 0)
        whole = np.maximum(open_shares.sum(axis=1), 1e-300)
        placed = np.minimum(placed + open_shares * (left / whole)[:, np.newaxis], silent)
        left = hidden - placed.sum(axis=1)
        if not np.any(left > _NEXT_TO_NONE):
            break
    return placed
