"""A queue that another score filled than the one that is evaluated, as a challenger meets it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.estimation import ReviewPosterior

__all__ = ["QueueOfAnotherScore"]

FloatArray = NDArray[np.float64]

_SEED: Final = 29
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueueOfAnotherScore:
    """Rows by bin of the queue's score, and by that of both scores.

    Who was reviewed, and how likely a positive is to complain, depend on the queue's score. So
    positives are estimated along it; where those of one of its bins lie along the other score is
    told by the known ones among them, who are a fair sample of them.

    It is wrong where complaints depend on the evaluated score beyond the queue's.

    Attributes
    ----------
    counts : ReviewCounts
        By bin of the queue's score.
    labeled, possible : ndarray of shape (bins of the queue, bins of the model)
        Known positives, and rows that are or may be positive.
    """

    counts: ReviewCounts
    labeled: NDArray[np.int64]
    possible: NDArray[np.int64]

    def along_model(self, posterior: ReviewPosterior, counts: ReviewCounts) -> ReviewPosterior:
        """Draws of positives by bin of the queue's score as draws by bin of the model's.

        Parameters
        ----------
        posterior : ReviewPosterior
            By bin of the queue's score.
        counts : ReviewCounts
            By bin of the model's score.
        """
        rng = np.random.default_rng(_SEED)
        # Where a bin has few known positives, those of other bins that are mostly unreviewed tell
        # which scores of the model are likely; one more is spread as rows are.
        unreviewed = 2 * self.counts.reviewed < self.counts.bins.rows
        told, rows = (table[unreviewed].sum(axis=0) for table in (self.labeled, self.possible))
        likely = told / np.maximum(rows, 1) + 1 / max(rows.sum(), 1)
        positives = np.broadcast_to(
            self.labeled.sum(axis=0), (len(posterior.positives), self.labeled.shape[1])
        ).astype(float)
        for drawn, labeled, possible in zip(
            posterior.positives.T, self.labeled, self.possible, strict=True
        ):
            silent = possible - labeled
            hidden = np.clip(drawn - labeled.sum(), 0, silent.sum())
            if hidden.any():
                # Labeled positives are a fair sample of them. They are few in a bin, so that those
                # of other bins count as much, and one more.
                expected = possible * likely / (possible * likely).sum()
                expected *= labeled.sum() + 1
                shares = rng.standard_gamma(labeled + expected, (len(drawn), len(expected)))
                positives += _place_hidden(hidden, shares, silent)
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
    return placed
