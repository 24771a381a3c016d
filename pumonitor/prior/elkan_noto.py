"""Elkan-Noto e1: the mean calibrated probability of being labeled, over labeled rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.prior.two_samples import TwoSamples

__all__ = ["elkan_noto"]


def elkan_noto(sample: TwoSamples) -> NDArray[np.float64]:
    """Share of positives among unlabeled rows when scores are calibrated P(labeled given x).

    c, the label frequency, is the mean score of the labeled rows. Right only if the score is the
    probability of being *labeled* (not of being positive) and positives are separable from
    negatives; otherwise c is too low and the estimate too high.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Raises
    ------
    InputError
        If scores are not in [0, 1].

    Notes
    -----
    e1: c = mean score over labeled rows; a = n_L (1 - c) / (c n_U).

    References
    ----------
    Elkan, Noto (2008), Learning classifiers from only positive and unlabeled data, estimator e1;
    used by Tabatabaei et al. (2020), 4.2.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_arrays([1, 1, 0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5, 0.0, 0.0])
    >>> [float(a) for a in elkan_noto(TwoSamples.from_table(table))]
    [0.5]
    """
    low, high = float(sample.scores.min()), float(sample.scores.max())
    if low < 0 or high > 1:
        msg = (
            "elkan_noto needs scores that are probabilities of being labeled, in [0, 1]: got "
            f"scores from {low:g} to {high:g}; use class_prior='auto'"
        )
        raise InputError(msg)
    frequency = np.maximum(sample.labeled @ sample.scores, 1e-12)
    odds = sample.n_labeled / sample.n_unlabeled
    return np.asarray(np.clip(odds * (1 - frequency) / frequency, 0.0, 1.0))
