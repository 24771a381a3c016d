"""Scorers for `GridSearchCV` and Optuna: of confirmed positives among all rows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer

from pumonitor.errors import TooFewPositivesError
from pumonitor.metrics import aul

_RESPONSES: Final = ("decision_function", "predict_proba")


def recall_at_capacity_scorer(share: float) -> Any:
    """A scorer of the share of positives among the highest scores, as many as can be reviewed.

    It is estimated by the confirmed positives, and wrong where they are no fair sample.

    Parameters
    ----------
    share : float
        Of the rows, in (0, 1): .05 if a twentieth can be reviewed.

    Returns
    -------
    callable
        Called with an estimator, rows and labels.

    Raises
    ------
    ValueError
        If the share is out of range.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> rows, labels = np.arange(10.0)[:, np.newaxis], [0, 1] * 5
    >>> of_equal_scores = DummyClassifier().fit(rows, labels)
    >>> recall_at_capacity_scorer(0.2)(of_equal_scores, rows, labels)
    0.2
    """
    if not 0 < share < 1:
        msg = f"share must be in (0, 1), such as 0.05 for a twentieth of the rows, got {share!r}"
        raise ValueError(msg)
    return make_scorer(_recall_at_capacity, response_method=_RESPONSES, share=share)


def _recall_at_capacity(labels: Any, scores: NDArray[Any], *, share: float) -> float:
    """Rows that score alike at the end share what is left of the capacity evenly."""
    labeled = _labeled(labels)
    if not labeled.any():
        msg = "there is no confirmed positive: recall has no value"
        raise TooFewPositivesError(msg)
    capacity = share * len(labeled)
    level = np.sort(scores)[::-1][min(int(np.ceil(capacity)), len(scores)) - 1]
    above, at = scores > level, scores == level
    part = (capacity - above.sum()) / at.sum()
    return float((labeled & above).sum() + part * (labeled & at).sum()) / float(labeled.sum())


def _aul(labels: Any, scores: NDArray[Any]) -> Any:
    return aul(_labeled(labels), scores).value


def _labeled(labels: Any) -> NDArray[np.bool_]:
    """Rows of the greatest label."""
    given = np.asarray(labels)
    if len(np.unique(given)) > 1:
        return np.asarray(given == given.max())
    # One label alone tells by itself whether it is that of confirmed positives.
    return given.astype(np.bool_)


aul_scorer: Any = make_scorer(_aul, response_method=_RESPONSES)
"""AUL: the chance that a confirmed positive scores higher than any row.

Within one data set it orders models exactly as the area under the naive ROC curve does, which takes
unlabeled rows for negatives; unlike that it is a number about the positives.
"""
