"""A classifier whose predictions are its scores, as what serves it expects them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator


class ScoredModel(BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose `predict` gives scores in place of classes.

    MLflow serves what `predict` gives, and a monitor needs scores.

    Parameters
    ----------
    model : estimator
        Fitted, with a `decision_function`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> (ScoredModel(model).predict([[0.0], [9.0]]) > 0).tolist()
    [False, True]
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        """As the model is."""
        return True

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores, higher = more positive."""
        return np.asarray(self.model.decision_function(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The same."""
        return self.decision_function(X)
