"""Positives that are easy by one feature are labeled first, and the model is trained on that."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.stress.designs import EDGES, Design, Evidence, middle_for
from pumonitor.results import Scenario

__all__ = ["TrainedOnLabels", "easy_by_feature"]

FloatArray = NDArray[np.float64]

_FEATURES = 5
_TRAINED_ON = 30_000
_POOL = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedOnLabels(Design):
    """Five features, of which two are higher for positives by the mean of `positives`.

    The chance of being labeled rises with the first of them; the score is that of a logistic
    regression of labels on features, trained on other rows that were labeled alike.
    """

    def shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of positives, of those that get labeled, and of negatives, per bin."""
        positive, chance, negative = self._pool()

        def share(scores: FloatArray, weights: FloatArray) -> FloatArray:
            inside = np.clip(scores, EDGES[0], EDGES[-1])
            counts = np.histogram(inside, EDGES, weights=weights)[0]
            return np.asarray(counts / counts.sum())

        even = np.ones(_POOL)
        return share(positive, even), share(positive, chance), share(negative, even)

    def draw_positives(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Scores, and the chance of each of being labeled."""
        positive, chance, _ = self._pool()
        drawn = rng.integers(_POOL, size=size)
        return positive[drawn], chance[drawn]

    def draw_negatives(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Scores."""
        return np.asarray(self._pool()[2][rng.integers(_POOL, size=size)])

    def _pool(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return _pool(self.positives[0][1], self.slope, self.prior)


@cache
def _pool(shift: float, slope: float, prior: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scores of positives, their chances of being labeled, scores of negatives."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    moved = shift * (np.arange(_FEATURES) < 2)
    positive = rng.normal(size=(_POOL, _FEATURES)) + moved
    negative = rng.normal(size=(_POOL, _FEATURES))
    middle = middle_for(slope, positive[:, 0])
    chance = special.expit(slope * (positive[:, 0] - middle))
    is_positive = rng.random(_TRAINED_ON) < prior
    features = rng.normal(size=(_TRAINED_ON, _FEATURES)) + moved * is_positive[:, np.newaxis]
    chances = special.expit(slope * (features[:, 0] - middle))
    labels = is_positive & (rng.random(_TRAINED_ON) < chances)
    model = LogisticRegression().fit(features, labels)
    scores = [model.decision_function(rows) for rows in (positive, negative)]
    centre, spread = float(scores[1].mean()), float(scores[1].std())
    return (scores[0] - centre) / spread, chance, (scores[1] - centre) / spread


def easy_by_feature() -> list[Design]:
    """Two strengths of the features, two of the preference."""
    evidences: tuple[Evidence, ...] = ("scores", "prior", "negatives", "sources")
    scenarios: tuple[Scenario, ...] = ("single-training-set", "case-control")
    return [
        TrainedOnLabels(
            name=f"slope {slope:g}",
            evidence=evidence,
            positives=((1.0, shift),),
            negatives=((1.0, 0.0),),
            prior=prior,
            n_labeled=n,
            scenario=scenario,
            slope=slope,
        )
        for evidence in evidences
        for slope in (1.0, 3.0)
        for n, shift, prior, scenario in itertools.product(
            (100, 300, 1000), (1.2, 1.8), (0.05, 0.3), scenarios
        )
    ]
