"""The labeled and the unlabeled sample as shares per score cell, one or many resamples at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.feature_samples import FeatureSamples
from pumonitor.prior.samples.reference import Reference
from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoSamples:
    """What a score-based class-prior estimator sees.

    Attributes
    ----------
    scores : ndarray of shape (cells,)
        Middle of each cell, ascending.
    labeled, unlabeled : ndarray of shape (samples, cells)
        Shares of the labeled and of the unlabeled rows; each row sums to 1. One row is the data,
        more are resamples of it.
    n_labeled, n_unlabeled : float
        (Effective) numbers of rows.
    mass_ratio : float or None
        Rows of the population that are labeled for each that is not: sums of weights, where rows
        have weights. None where rows are their own weight (see `labeled_per_unlabeled`).
    features : FeatureSamples or None
        The same rows by their features, where they were given.
    reference : Reference or None
        A window of known class prior on the same cells, where one was given.
    """

    scores: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    n_labeled: float
    n_unlabeled: float
    mass_ratio: float | None = None
    features: FeatureSamples | None = None
    reference: Reference | None = None

    @classmethod
    def from_table(cls, table: ScoreTable) -> TwoSamples:
        """The data themselves."""
        labeled_total, unlabeled_total = float(table.labeled.sum()), float(table.unlabeled.sum())
        return cls(
            scores=0.5 * (table.lower + table.upper),
            labeled=(table.labeled / labeled_total)[np.newaxis],
            unlabeled=(table.unlabeled / unlabeled_total)[np.newaxis],
            n_labeled=labeled_total**2 / float(table.labeled_squares.sum()),
            n_unlabeled=unlabeled_total**2 / float(table.unlabeled_squares.sum()),
            mass_ratio=float(table.labeled_mass.sum()) / unlabeled_total,
        )

    @property
    def labeled_per_unlabeled(self) -> float:
        """Labeled over unlabeled rows, as many as they stand for.

        Effective numbers of rows say how exact a sample is. They do not change when all its weights
        double, and how much of the population it stands for does.
        """
        return self.n_labeled / self.n_unlabeled if self.mass_ratio is None else self.mass_ratio

    def drawn_from(
        self,
        labeled: FloatArray,
        unlabeled: FloatArray,
        *,
        size: int,
        rng: np.random.Generator,
    ) -> TwoSamples:
        """Samples of the same sizes drawn from the distributions `labeled` and `unlabeled`.

        One distribution for all samples, shape (cells,), or one each, shape (size, cells).
        """

        def counts(share: FloatArray, rows: float) -> FloatArray:
            chances = np.maximum(share, 0.0)
            chances = chances / chances.sum(axis=-1, keepdims=True)
            total = max(round(rows), 1)
            return np.asarray(rng.multinomial(total, chances, size=size) / total)

        return TwoSamples(
            scores=self.scores,
            labeled=counts(labeled, self.n_labeled),
            unlabeled=counts(unlabeled, self.n_unlabeled),
            n_labeled=self.n_labeled,
            n_unlabeled=self.n_unlabeled,
            mass_ratio=self.mass_ratio,
            reference=self.reference,
        )

    def above(self) -> tuple[FloatArray, FloatArray]:
        """q_p and q_u: shares at or above each cell, (samples, cells) each."""
        return _above(self.labeled), _above(self.unlabeled)


def _above(share: FloatArray) -> FloatArray:
    return np.cumsum(share[:, ::-1], axis=1)[:, ::-1]
