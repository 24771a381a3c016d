"""Auxiliary scores of one table's own rows, each from a model that did not see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_labels
from pumonitor.errors import InputError
from pumonitor.prior.auxiliary.feature_columns import raw_columns
from pumonitor.prior.auxiliary.training import train_auxiliary


def cross_fitted(
    labels: Any, features: Any, *, groups: Any = None, seed: int = 0
) -> NDArray[np.float64]:
    """Score each row of a table by models of the other entities' rows.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive; all others are taken as a sample of the population.
    features : data frame, mapping of str to array-like, or array-like of shape (n, columns)
        As `raw_columns` reads them.
    groups : array-like of shape (n,), optional
        The entity of each row, for those that recur; every row is one of its own without it, and
        where it is missing.
    seed : int

    Returns
    -------
    ndarray of shape (n,)
        In (0, 1), higher where labeled rows are.

    Raises
    ------
    InputError
        If features or groups cannot be used, or there are too few confirmed positives
        (`TooFewPositivesError`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> is_positive = rng.random(6000) < 0.1
    >>> labels = is_positive & (rng.random(6000) < 0.4)
    >>> scores = cross_fitted(labels, rng.normal(2.0 * is_positive))
    >>> bool(scores[is_positive].mean() > 2 * scores[~is_positive].mean())
    True
    """
    label_values = as_labels(labels)
    raw = raw_columns(features, rows=len(label_values))
    keys = as_keys(groups, rows=len(label_values))
    return train_auxiliary(raw, label_values == 1, keys, seed=seed).of(raw, keys)


def as_keys(groups: Any, *, rows: int) -> NDArray[Any]:
    """Keys of entities; rows without a group have one of their own.

    Raises
    ------
    InputError
        If there is not one group per row, or they are neither text nor whole numbers.
    """
    own = np.char.add("row ", np.arange(rows).astype(np.str_))
    if groups is None:
        return own
    ((_, values),) = raw_columns({"groups": groups}, rows=rows).items()
    if values.dtype.kind == "f":
        if np.any(values % 1 > 0):
            msg = "groups must be text or whole numbers: they hold numbers with a fraction"
            raise InputError(msg)
        is_missing = np.isnan(values)
        text = np.where(is_missing, 0, values).astype(np.int64).astype(np.str_)
    else:
        is_missing = np.equal(values, np.array(None, dtype=object)).astype(np.bool_)
        text = values.astype(np.str_)
    return np.where(is_missing, own, text)
