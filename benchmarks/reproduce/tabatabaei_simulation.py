"""Pools of classifiers with known classes, labels drawn from the positives, scores of both kinds.

What the text of Tabatabaei et al. (2020) leaves open is taken from the notebooks they published
(github.com/SEYED7037/PU-Learning-Estimating-F1-LOD2020-): 200 points, a line through a random
point at a random angle, hyperplanes with coefficients uniform in [-3, 3] over features scaled to
[0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.reproduce.data import load
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.ll_score import LL_SCORE
from pumonitor.metrics.rates import Rates, corrected_rates

__all__ = [
    "Pool",
    "estimated_f1",
    "estimated_ll",
    "generated_points",
    "heart_forests",
    "iris_hyperplanes",
    "labels_of_size",
    "true_f1",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_POINTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Rows with their true class, and which of them each classifier flags.

    Attributes
    ----------
    is_positive : ndarray of bool, shape (rows,)
    flagged : ndarray of bool, shape (classifiers, rows)
    """

    is_positive: BoolArray
    flagged: BoolArray

    @property
    def positives(self) -> int:
        """P of the paper."""
        return int(self.is_positive.sum())


def generated_points(rng: np.random.Generator, *, classifiers: int) -> Pool:
    """Uniform points of the unit square, positive above the line x1 + 0.2 = x2; random lines.

    A line goes through a uniform point at a uniform angle and flags what lies above it. The side
    is not in the text; with the side below, LL would be .35 from F1 in Table 2 and not .772.
    Lines that flag nothing are drawn again.
    """
    x, y = rng.random((2, _POINTS))
    flagged: list[BoolArray] = []
    while len(flagged) < classifiers:
        through = rng.random(2)
        slope = np.tan(2 * np.pi * rng.random())
        above = y > through[1] + slope * (x - through[0])
        if above.any():
            flagged.append(above)
    return Pool(is_positive=x + 0.2 < y, flagged=np.array(flagged))


def iris_hyperplanes(rng: np.random.Generator, *, classifiers: int, positive: str) -> Pool:
    """Irises of one species against the others, random hyperplanes that flag some but not all."""
    dataset = load("iris")
    features = dataset.features
    span = features.max(axis=0) - features.min(axis=0)
    scaled = (features - features.min(axis=0)) / span
    flagged: list[BoolArray] = []
    while len(flagged) < classifiers:
        weights = rng.uniform(-3, 3, size=5)
        side = scaled @ weights[:4] + weights[4] > 0
        if side.any() and not side.all():
            flagged.append(side)
    return Pool(is_positive=dataset.target == positive, flagged=np.array(flagged))


def heart_forests(rng: np.random.Generator, *, classifiers: int) -> Pool:
    """Random forests of 1 to 100 trees, 1 to 10 deep, on the 30% of patients they have not seen.

    Forests of one depth share their first trees, as they do in scikit-learn with one seed.
    """
    from sklearn.ensemble import RandomForestClassifier

    dataset = load("heart_cleveland")
    is_ill = dataset.target.astype(np.int64) > 0
    features = np.nan_to_num(dataset.features, nan=-1.0)  # six cells are missing
    order = rng.permutation(len(is_ill))
    seen, held_out = order[: round(0.7 * len(order))], order[round(0.7 * len(order)) :]
    trees, depths = rng.integers(1, 101, classifiers), rng.integers(1, 11, classifiers)
    flagged = np.zeros((classifiers, len(held_out)), dtype=bool)
    for depth in np.unique(depths):
        forest = RandomForestClassifier(
            n_estimators=100, max_depth=int(depth), random_state=int(rng.integers(2**31))
        ).fit(features[seen], is_ill[seen])
        votes = np.cumsum(
            [tree.predict_proba(features[held_out])[:, 1] for tree in forest.estimators_], axis=0
        )
        for index in np.flatnonzero(depths == depth):
            flagged[index] = votes[trees[index] - 1] > 0.5 * trees[index]
    return Pool(is_positive=is_ill[held_out], flagged=flagged)


def labels_of_size(
    is_positive: BoolArray, sizes: NDArray[np.int64], rng: np.random.Generator
) -> BoolArray:
    """Random subsets of the positives, one of each size: shape (sizes, rows)."""
    places = np.flatnonzero(is_positive)
    order = np.argsort(rng.random((len(sizes), len(places))), axis=1)
    labeled = np.zeros((len(sizes), len(is_positive)), dtype=bool)
    labeled[:, places] = order < sizes[:, np.newaxis]
    return labeled


def true_f1(pool: Pool) -> FloatArray:
    """F1 from the true classes, shape (classifiers,); 0 where no positive is flagged."""
    hits = (pool.flagged & pool.is_positive).sum(axis=1)
    return np.asarray(2 * hits / (pool.flagged.sum(axis=1) + pool.positives))


def estimated_f1(pool: Pool, labeled: BoolArray, *, frequency_factor: float = 1.0) -> FloatArray:
    """pumonitor's F1 for every set of labels and classifier, shape (sets, classifiers).

    The class prior given is S / (rho M), with rho the label frequency times `frequency_factor`,
    by which it is misjudged.
    """
    prior = pool.is_positive.mean() / frequency_factor
    # Too low a frequency asks for more positives than there are rows, where no rate of false
    # positives exists; F1 does not use it.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(F1.formula(_rates(pool, labeled, prior)))


def estimated_ll(pool: Pool, labeled: BoolArray) -> FloatArray:
    """pumonitor's LL score, which needs no prior, shape (sets, classifiers)."""
    return np.asarray(LL_SCORE.formula(_rates(pool, labeled, float(pool.is_positive.mean()))))


def _rates(pool: Pool, labeled: BoolArray, prior: float) -> Rates:
    hits = labeled.astype(np.float64) @ pool.flagged.T.astype(np.float64)
    return corrected_rates(
        hits / labeled.sum(axis=1, keepdims=True),
        pool.flagged.mean(axis=1)[np.newaxis],
        prior,
        label_purity=1.0,
    )
