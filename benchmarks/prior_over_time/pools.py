"""Rows that windows are drawn from: real and synthetic, scored by a model as it was and broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.reproduce.data import load

__all__ = ["MODELS", "Pool", "real_pools", "synthetic_pools"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MODELS: Final = ("as it was", "two features flipped", "one lost", "a third shuffled", "new version")
_TRAINED_ON: Final = 6000
_SYNTHETIC_ROWS: Final = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Rows with their truth, and what each state of the model makes of them.

    Attributes
    ----------
    name : str
    is_positive : ndarray of shape (rows,)
    scores : mapping of str to ndarray of shape (rows,)
        By `MODELS`.
    features : mapping of str to ndarray of shape (rows, columns)
        As logged, by `MODELS`, if what breaks the model breaks them as well.
    """

    name: str
    is_positive: BoolArray
    scores: Mapping[str, FloatArray]
    features: Mapping[str, FloatArray]


_POSITIVE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "covertype_16pct": lambda target: np.isin(target, (3, 4, 5, 6, 7)),
    "bank": lambda target: target == "yes",
    "casp": lambda target: target < np.quantile(target, 0.25),
    "spambase": lambda target: target == 1,
    "anuran": lambda target: target != "AdenomeraHylaedactylus",
    "pageblocks": lambda target: target != 1,
}


def real_pools() -> list[Pool]:
    """The halves of six data sets that the model was not trained on; those that are there."""
    absent = {one.name for one in datasets.prepare(_POSITIVE, fetching=False)}
    found = []
    for name in _POSITIVE:
        if name in absent:
            continue
        dataset = load(name)
        features = dataset.features
        if name == "bank":  # how long the call took is known only after it
            features = np.delete(features, _most_telling(features, dataset.target == "yes"), axis=1)
        positive = np.asarray(_POSITIVE[name](dataset.target), dtype=bool)
        found.append(_scored(name, features, positive))
    return found


def _most_telling(features: FloatArray, positive: BoolArray) -> int:
    from sklearn.metrics import roc_auc_score

    telling = [abs(roc_auc_score(positive, column) - 0.5) for column in features.T]
    return int(np.argmax(telling))


def synthetic_pools() -> list[Pool]:
    """Normal features: a good model, a weak one, negatives a tenth of which are like positives."""
    return [
        _normal("normals", each=0.85, like_positives=0.0, seed=1),
        _normal("weak", each=0.3, like_positives=0.0, seed=2),
        _normal("overlapping", each=0.85, like_positives=0.1, seed=3),
    ]


def _normal(name: str, *, each: float, like_positives: float, seed: int) -> Pool:
    rng = np.random.default_rng(seed)
    positive = np.arange(_SYNTHETIC_ROWS) % 2 == 0
    looks = positive | (rng.random(_SYNTHETIC_ROWS) < like_positives)
    features = rng.normal(size=(_SYNTHETIC_ROWS, 6)) + each * looks[:, np.newaxis]
    return _scored(name, features, positive)


def _scored(name: str, features: FloatArray, positive: BoolArray) -> Pool:
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(len(features))
    order = rng.permutation(len(features))
    half = len(features) // 2
    train, others, rest = order[: min(half, _TRAINED_ON)], order[:half][-_TRAINED_ON:], order[half:]

    def trained(rows: NDArray[np.intp], seed: int, columns: int | None = None) -> Any:
        model = HistGradientBoostingClassifier(max_iter=100, random_state=seed)
        return model.fit(features[rows][:, :columns], positive[rows])

    model = trained(train, 0)
    seen, truth = features[rest], positive[rest]
    top = _by_importance(model, seen[:3000], truth[:3000], rng)
    flipped, lost, shuffled = seen.copy(), seen.copy(), seen.copy()
    for column in top[:2]:
        values = seen[:, column]
        flipped[:, column] = np.nanmax(values) + np.nanmin(values) - values
    lost[:, top[0]] = np.nan
    for column in top[: max(1, len(top) // 3)]:
        shuffled[:, column] = rng.permutation(seen[:, column])
    another = trained(others, 1).predict_proba(seen)[:, 1]
    logged = dict(zip(MODELS, (seen, flipped, lost, shuffled, seen), strict=True))
    scores = {state: model.predict_proba(rows)[:, 1] for state, rows in logged.items()}
    scores["new version"] = np.sqrt(another)
    return Pool(name=name, is_positive=truth, scores=scores, features=logged)


def _by_importance(
    model: Any, features: FloatArray, truth: BoolArray, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Columns, the one without which the ranking loses most first."""
    from sklearn.metrics import roc_auc_score

    left = []
    for column in range(features.shape[1]):
        changed = features.copy()
        changed[:, column] = rng.permutation(changed[:, column])
        left.append(roc_auc_score(truth, model.predict_proba(changed)[:, 1]))
    return np.argsort(left)
