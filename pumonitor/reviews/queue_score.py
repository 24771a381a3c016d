"""A queue that another score filled than that of the model, as every challenger meets it.

Why positives of several models are placed together: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.placing import Axis, place_hidden
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.estimation import ReviewPosterior
from pumonitor.reviews.reading import ReviewedEstimates

__all__ = ["SURELY_NEGATIVE", "ModelBins", "QueueRows"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

SURELY_NEGATIVE: Final = ("drawn_negative", "known_negative")
"""Kinds without a hidden positive; of those who are cleared reviewers may have missed some."""

_SEED: Final = 29
_SLOPE_MEAN: Final = (1.0, 0.0)
_SLOPE_SD: Final = (1.5, 0.3)
"""Of the slope over a model's normal score, and of its bend."""


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
    known, possible : ndarray of shape (n,)
        Which rows are known to be positive, and which are or may be: True, or how many rows alike.
    """

    counts: ReviewCounts
    bin_of_row: IndexArray
    known: NDArray[Any]
    possible: NDArray[Any]

    def read_along(self, by_queue: ReviewedEstimates, model: ModelBins) -> ReviewedEstimates:
        """What is said along the queue's score, of a model."""
        along, *others = (
            self.along_models(posterior, [model])[0] for posterior in by_queue.posteriors
        )
        return replace(by_queue, posterior=along, others=tuple(others))

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
        effect = max(model.counts.bins.design_effect for model in models)
        positives = self._place(posterior, cell_of_row, normal, bins_of_cell, effect, rng)
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
        design_effect: float,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Positives by draw and cell."""
        size, draws = len(normal[0]), len(posterior.positives)
        index = self.bin_of_row * size + cell_of_row
        known, possible = (
            np.bincount(index, weights=rows, minlength=size * len(self.counts.bins.rows))
            .astype(np.int64)
            .reshape(-1, size)
            for rows in (self.known, self.possible)
        )
        positives = np.broadcast_to(known.sum(axis=0), (draws, size)).astype(float)
        for _, placed in place_hidden(
            posterior.positives - known.sum(axis=1),
            possible - known,
            known=known,
            possible=possible,
            tells=2 * self.counts.reviewed < self.counts.bins.rows,
            axes=[
                Axis(bin_of_cell, score, _SLOPE_MEAN, _SLOPE_SD)
                for bin_of_cell, score in zip(bins_of_cell, normal, strict=True)
            ],
            position=self.counts.bins.rank,
            design_effect=design_effect,
            rng=rng,
        ):
            positives += placed
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
