"""Scores of rows by models that did not see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone

from pumonitor._arrays import FloatArray
from pumonitor._validate import as_labels
from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.prior.auxiliary.cross_fitted import as_keys
from pumonitor.prior.auxiliary.folds import FOLDS, fold_of

IntArray = NDArray[np.intp]

_RESPONSES: Final = ("decision_function", "predict_proba")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutScores:
    """Rows that were scored by a model that did not see them.

    Attributes
    ----------
    rows : ndarray of int, shape (scored,)
        Their places, ascending: all of them, or with `time` all but the earliest fifth.
    scores : ndarray of shape (scored,)
        Ranks among the rows of the same fold, in (0, 1).
    fold : ndarray of int, shape (scored,)
    """

    rows: IntArray
    scores: FloatArray
    fold: NDArray[np.int64]


def cross_fit(
    estimator: Any, X: Any, labels: Any, *, groups: Any = None, time: Any = None
) -> HeldOutScores:
    """Score rows by models of the other rows, so that the scores can be evaluated.

    Scores of two models are on two scales, so each row gets its rank in its fold. It is wrong where
    an entity has several rows and `groups` does not say so: then a model has seen what it is asked
    about, and a worse one that remembers more comes out better.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Cloned for each of the five folds.
    X : array-like of shape (n, features)
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    groups : array-like of shape (n,), optional
        The entity of each row: no model scores an entity that it has seen.
    time : array-like of shape (n,), optional
        When each row was made: no model scores a row made before one that it has seen.

    Returns
    -------
    HeldOutScores

    Raises
    ------
    InputError
        If there are fewer than five entities or moments, or groups or times cannot be used.
    TooFewPositivesError
        If there are no confirmed positives to learn a fold from.

    Examples
    --------
    >>> from pumonitor.sklearn import PUAULClassifier
    >>> rng = np.random.default_rng(0)
    >>> labels = (rng.random(500) < 0.2).astype(int)
    >>> rows = rng.normal(labels[:, np.newaxis], size=(500, 2))
    >>> held_out = cross_fit(PUAULClassifier(random_state=0), rows, labels, time=np.arange(500))
    >>> len(held_out.rows), held_out.fold.tolist()[::100]
    (400, [1, 2, 3, 4])
    """
    given = as_labels(labels)
    features = X if hasattr(X, "iloc") else np.asarray(X)
    if len(features) != len(given):
        msg = f"X must have one row for each of the {len(given)} labels, got {len(features)}"
        raise InputError(msg)
    found = np.full(len(given), np.nan)
    fold_of_row = np.zeros(len(given), dtype=np.int64)
    for fold, train, held_out in _folds(given, groups, time):
        if not (given[train] == 1).any():
            msg = f"fold {fold} has no confirmed positive among its {len(train)} training rows"
            raise TooFewPositivesError(msg)
        model = clone(estimator).fit(_taken(features, train), (given[train] == 1).astype(int))
        scores = _scores(model, _taken(features, held_out))
        found[held_out] = (stats.rankdata(scores) - 0.5) / len(scores)
        fold_of_row[held_out] = fold
    rows = np.flatnonzero(~np.isnan(found))
    return HeldOutScores(rows=rows, scores=found[rows], fold=fold_of_row[rows])


def _folds(
    labels: NDArray[np.int8], groups: Any, time: Any
) -> Iterator[tuple[int, IntArray, IntArray]]:
    """Number, training rows and held-out rows of each fold."""
    keys = as_keys(groups, rows=len(labels))
    if time is None:
        place = fold_of(keys)
        if (np.bincount(place, minlength=FOLDS) == 0).any():
            msg = f"rows fall into fewer than {FOLDS} folds: {len(np.unique(keys))} groups are few"
            raise InputError(msg)
        for fold in range(FOLDS):
            yield fold, np.flatnonzero(place != fold), np.flatnonzero(place == fold)
        return
    moments = np.asarray(time)
    if moments.shape != labels.shape:
        msg = f"time must have one value for each of the {len(labels)} labels, got {moments.shape}"
        raise InputError(msg)
    missing = int(pd.isna(moments).sum())
    if missing:
        msg = f"{missing} of {len(labels)} rows have no time: leave them out, or give them one"
        raise InputError(msg)
    distinct = len(np.unique(moments))
    if distinct < FOLDS:
        msg = f"time must have at least {FOLDS} different values, got {distinct}"
        raise InputError(msg)
    rank = stats.rankdata(moments, method="min") - 1
    place = np.minimum(FOLDS * rank // len(labels), FOLDS - 1).astype(int)
    for fold in range(1, FOLDS):
        held_out = np.flatnonzero(place == fold)
        train = np.flatnonzero(place < fold)
        if groups is not None:
            train = train[~np.isin(keys[train], keys[held_out])]
        if len(held_out):
            yield fold, train, held_out


def _taken(features: Any, rows: IntArray) -> Any:
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]


def _scores(model: Any, features: Any) -> FloatArray:
    for name in _RESPONSES:
        if hasattr(model, name):
            scores = np.asarray(getattr(model, name)(features), dtype=float)
            return scores if scores.ndim == 1 else scores[:, -1]
    msg = f"{type(model).__name__} has neither decision_function nor predict_proba"
    raise TypeError(msg)
