"""The two samples by pooled rank, at fixed places: what `auto` reads of the order of the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]

_PLACES = special.ndtr(np.linspace(-3.2, 3.2, 65))


def rank_summary(
    labeled: FloatArray, unlabeled: FloatArray, n_labeled: FloatArray, n_unlabeled: FloatArray
) -> FloatArray:
    """Logarithms of the ratio of unlabeled to labeled shares, between and above fixed ranks.

    Ranks are those in the even mixture of both samples, so that any increasing change of the
    scores gives the same numbers. The places lie evenly on the normal scale, densely where the
    ratio of the densities reaches its end. Half a row is added to every share, which keeps the
    logarithms finite and says how much an empty place means.

    Parameters
    ----------
    labeled, unlabeled : ndarray of shape (samples, cells)
        Shares by ascending score; rows sum to 1.
    n_labeled, n_unlabeled : ndarray of shape (samples,)
        (Effective) numbers of rows.

    Returns
    -------
    ndarray of shape (samples, 133)
        66 ratios between places, 65 above them, and the two numbers of rows, each scaled to
        numbers about 1 in size.

    Examples
    --------
    >>> rows = np.array([100.0])
    >>> alike = rank_summary(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]]), rows, rows)
    >>> alike.shape, float(np.abs(alike[:, :131]).max())
    ((1, 133), 0.0)
    """
    samples = len(labeled)
    below_labeled = np.zeros((samples, labeled.shape[1] + 1))
    np.cumsum(labeled, axis=1, out=below_labeled[:, 1:])
    rank = np.zeros_like(below_labeled)
    np.cumsum(0.5 * (labeled + unlabeled), axis=1, out=rank[:, 1:])
    at_places = np.array(
        [np.interp(_PLACES, own, below) for own, below in zip(rank, below_labeled, strict=True)]
    )
    ends = np.zeros((samples, 1)), np.ones((samples, 1))
    of_labeled = np.hstack([ends[0], at_places, ends[1]])
    of_unlabeled = 2 * np.concatenate([[0.0], _PLACES, [1.0]]) - of_labeled
    half_labeled, half_unlabeled = (0.5 / rows[:, np.newaxis] for rows in (n_labeled, n_unlabeled))

    def log_ratio(unlabeled_share: FloatArray, labeled_share: FloatArray) -> FloatArray:
        over = np.maximum(unlabeled_share, 0.0) + half_unlabeled
        return np.asarray(np.log(over / (labeled_share + half_labeled)))

    between = log_ratio(np.diff(of_unlabeled, axis=1), np.diff(of_labeled, axis=1))
    above = log_ratio(1 - of_unlabeled[:, 1:-1], 1 - of_labeled[:, 1:-1])
    return np.hstack(
        [
            between / 3,
            above / 3,
            np.log(n_labeled)[:, np.newaxis] / 5 - 1.2,
            np.log(n_unlabeled)[:, np.newaxis] / 5 - 1.8,
        ]
    )
