"""Learners on real data: half of it to learn from, judged by the truth of the other half."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks import datasets
from benchmarks.reproduce.aul_settings import SETTINGS
from benchmarks.reproduce.data import as_numbers, load
from pumonitor.errors import InputError
from pumonitor.sklearn import ChallengerClassifier, PUAUCClassifier, PUAULClassifier

__all__ = ["LARGE", "LEARNERS", "NINE", "Task", "auc", "held_out_auc", "scores_of", "task"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

NINE: Final = tuple(SETTINGS)
LARGE: Final = ("bank", "casp", "covertype_16pct", "wine_quality", "shuttle", "thyroid_ann")
_MOST_ROWS: Final = 40_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """Rows of numbers, without missing ones, and which of them are positive."""

    features: FloatArray
    positive: BoolArray

    def halves(self, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to learn from and rows to judge by."""
        order = rng.permutation(len(self.positive))
        return order[::2], order[1::2]


@lru_cache(maxsize=16)
def task(name: str) -> Task:
    """A data set by name."""
    if name in SETTINGS:
        known = load(name)
        positive = SETTINGS[name].is_positive(known)
        kept = ~np.isnan(positive)
        features, classes = known.features[kept], positive[kept] == 1
    else:
        table = datasets.load_table(name)
        if name == "bank":  # how long the call took is known only after it
            table = table.drop(columns=["duration"])
        known = as_numbers(name, table)
        features, classes = known.features, _positive(name, known.target)
    chosen = np.random.default_rng(0).permutation(len(classes))[:_MOST_ROWS]
    middle = np.nanmean(features, axis=0)
    filled = np.where(np.isnan(features), middle, features)[chosen]
    spread = filled.std(axis=0)
    scaled = (filled - filled.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return Task(features=scaled[:, spread > 0], positive=classes[chosen])


def _positive(name: str, target: NDArray[Any]) -> BoolArray:
    match name:
        case "casp":
            return np.asarray(target < np.quantile(target, 0.1))
        case "bank":
            return np.asarray(target == "yes")
        case "covertype_16pct":
            return np.asarray(target == 3)
        case "wine_quality":
            return np.asarray(target >= 7)
        case "shuttle":
            return np.asarray(target != 1)
        case _:
            return np.asarray(target != 3)


def auc(scores: FloatArray, positive: BoolArray) -> float:
    """Share of pairs in order, ties counted half."""
    ranks = stats.rankdata(scores)
    found = positive.sum()
    return float((ranks[positive].mean() - 0.5 * (found + 1)) / (len(scores) - found))


def held_out_auc(
    model: PUAULClassifier | PUAUCClassifier,
    known: Task,
    train: NDArray[np.intp],
    labeled: BoolArray,
    rest: NDArray[np.intp],
) -> float:
    """AUC of rows that the model did not see; NaN where its loss has no minimum."""
    try:
        model.fit(known.features[train], labeled)
    except InputError:
        return float("nan")
    return auc(model.decision_function(known.features[rest]), known.positive[rest])


Learner = Callable[[float, int], Any]


def _trees(**settings: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False, **settings)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, min_samples_leaf=5, random_state=seed)


def _logistic(strength: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=2000)


def _bagged(seed: int) -> Any:
    from sklearn.ensemble import BaggingClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(min_samples_leaf=5, class_weight="balanced")
    return BaggingClassifier(tree, 100, max_samples=0.5, random_state=seed)


LEARNERS: Final[Mapping[str, Learner]] = {
    "trees, scikit-learn's defaults": lambda _, seed: _trees(random_state=seed),
    "trees, labels balanced": lambda _, seed: _trees(random_state=seed, class_weight="balanced"),
    "trees, small": lambda _, seed: _trees(random_state=seed, max_iter=40, max_leaf_nodes=7),
    "trees, slow": lambda _, seed: _trees(random_state=seed, learning_rate=0.03),
    "trees, l2 10": lambda _, seed: _trees(random_state=seed, l2_regularization=10.0),
    "trees, l2 100": lambda _, seed: _trees(random_state=seed, l2_regularization=100.0),
    "random forest": lambda _, seed: _forest(seed),
    "bagged trees": lambda _, seed: _bagged(seed),
    "logistic regression": lambda _, seed: _logistic(1.0),
    "PU_AUC, true class prior": lambda prior, seed: PUAUCClassifier(
        class_prior=prior, random_state=seed
    ),
    "PU_AUL": lambda _, seed: PUAULClassifier(random_state=seed),
    "challenger": lambda _, seed: ChallengerClassifier(random_state=seed),
}
"""By name: made of the true class prior and a seed."""


def scores_of(
    learner: Learner, known: Task, train: NDArray[np.intp], labeled: BoolArray, seed: int
) -> FloatArray:
    """Scores of all rows by a learner of some of them."""
    prior = float(known.positive[train].mean())
    model = learner(prior, seed).fit(known.features[train], labeled.astype(int))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(known.features))
    return np.asarray(model.predict_proba(known.features)[:, 1])
