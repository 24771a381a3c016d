"""Scores of rows that the model has not seen: what an estimator of the class prior reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.prior.tasks import Drawn

__all__ = ["CLASSIFIERS"]

FloatArray = NDArray[np.float64]

_FOLDS = 5
_TREES = 200


def _boosted_trees(drawn: Drawn, seed: int) -> FloatArray:
    """Cross-fitted probability of being labeled."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _cross_fitted(HistGradientBoostingClassifier(random_state=seed), drawn, seed)


def _linear(drawn: Drawn, seed: int) -> FloatArray:
    """The same by logistic regression."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=200))
    return _cross_fitted(model, drawn, seed)


def _cross_fitted(model: Any, drawn: Drawn, seed: int) -> FloatArray:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    chances = cross_val_predict(
        model, drawn.features, drawn.labels, cv=folds, method="predict_proba"
    )
    return np.asarray(chances[:, 1])


def _forest(drawn: Drawn, seed: int) -> FloatArray:
    """Out-of-bag share of the trees that call a row labeled."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(_TREES, oob_score=True, random_state=seed)
    features = np.nan_to_num(drawn.features, nan=-1.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        forest.fit(features, drawn.labels)
    return np.asarray(np.nan_to_num(forest.oob_decision_function_[:, 1]))


CLASSIFIERS: Mapping[str, Callable[[Drawn, int], FloatArray]] = MappingProxyType(
    {"boosted trees": _boosted_trees, "forest": _forest, "linear": _linear}
)
"""Name -> scores of a draw, each row scored by models that did not see it."""
