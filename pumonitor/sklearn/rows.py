"""What all learners have in common: the rows that they take, and what follows from a score."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from pumonitor._arrays import FloatArray
from pumonitor.errors import TooFewPositivesError


class ConfirmedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two labels that scores rows, 0 between the two, and takes missing values."""

    classes_: NDArray[Any]

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Scores, higher = more positive."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The greater label where the score is above 0."""
        above = self.decision_function(X) > 0
        return np.asarray(self.classes_[above.astype(int)])

    @property
    def predict_proba(self) -> Any:
        """None: scores rank rows, and a probability needs the class prior.

        Raises
        ------
        AttributeError
            Always, so that ``hasattr`` says that there is none.
        """
        msg = (
            f"{type(self).__name__} has no predict_proba: it learns which rows are more likely to "
            "be positive, not how likely, which confirmed positives do not tell without the class "
            "prior and the share of positives that is confirmed; rank by decision_function"
        )
        raise AttributeError(msg)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags


def training_rows(
    estimator: Any, features: Any, labels: Any, sample_weight: Any
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
    """Rows, which of them are confirmed positives, and their weights; sets `classes_`.

    Confirmed are rows of the greater of two labels. Of 1, 0 and -1, confirmed negatives count as
    rows like all others: that they were confirmed says nothing of how they were chosen.

    Raises
    ------
    ValueError
        As scikit-learn's estimators do.
    TooFewPositivesError
        Unless there are rows of both labels with a weight.
    """
    rows, given = validate_data(
        estimator, features, labels, dtype=np.float64, ensure_all_finite="allow-nan"
    )
    check_classification_targets(given)
    known = np.asarray(given)
    if known.dtype.kind in "bif" and set(np.unique(known)) == {-1, 0, 1}:
        known = np.where(known == 1, known, 0)
    kind = type_of_target(known, input_name="y", raise_unknown=True)
    if kind != "binary":
        msg = (
            "Only binary classification is supported. The type of the target is "
            f"{kind}: labels are 1 for confirmed positives and 0 for all other rows"
        )
        raise ValueError(msg)
    weight = np.asarray(_check_sample_weight(sample_weight, rows, dtype=np.float64))
    estimator.classes_ = np.unique(known)
    labeled = known == estimator.classes_[-1]
    found = [known[weight > 0] == one for one in estimator.classes_]
    if len(found) < 2 or not all(one.any() for one in found):
        msg = (
            f"all {len(known)} rows are of one class: labels must be 1 for confirmed positives and "
            "0 for all other rows, and both must be there with a weight above 0"
        )
        raise TooFewPositivesError(msg)
    return rows, labeled, weight


def feature_rows(estimator: Any, features: Any) -> FloatArray:
    """Rows to score, with the features that were there in training."""
    rows = validate_data(
        estimator, features, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
    )
    return np.asarray(rows)
