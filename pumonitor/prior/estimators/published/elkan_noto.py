"""Elkan-Noto: the label frequency from calibrated probabilities of being labeled."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.prior.samples.two_samples import TwoSamples


def elkan_noto(sample: TwoSamples) -> FloatArray:
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
    e1: c = mean score over labeled rows; whatever c is taken to be, a = n_L (1 - c) / (c n_U).
    With weights the n are sums of weights; a labeled row counts with its sample weight, whatever
    its propensity.

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
    _refuse_other_than_probabilities(sample, method="elkan_noto")
    return _unlabeled_prior(sample.labeled @ sample.scores, sample)


def elkan_noto_e2(sample: TwoSamples) -> FloatArray:
    """As `elkan_noto`, with c as the labeled rows' part of the sum of all scores.

    Unlike e1 it stays as it is when all scores are too high or too low by the same factor. Where
    scores are calibrated, as wrong as e1.

    Notes
    -----
    e2: c = sum of scores over labeled rows / sum over all rows, which makes a the sum over
    unlabeled rows times n_L / n_U, over the sum over labeled rows.

    References
    ----------
    Elkan, Noto (2008), Learning classifiers from only positive and unlabeled data, estimator e2.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_arrays([1, 1, 0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5, 0.0, 0.0])
    >>> [float(a) for a in elkan_noto_e2(TwoSamples.from_table(table))]
    [0.5]
    """
    _refuse_other_than_probabilities(sample, method="elkan_noto_e2")
    of_labeled = sample.labeled_per_unlabeled * (sample.labeled @ sample.scores)
    of_unlabeled = sample.unlabeled @ sample.scores
    return _unlabeled_prior(of_labeled / np.maximum(of_labeled + of_unlabeled, 1e-12), sample)


def elkan_noto_e3(sample: TwoSamples) -> FloatArray:
    """As `elkan_noto`, with c as the greatest score of any row.

    Needs only one region without negatives, where e1 needs all positives there; but one score that
    is too high makes the estimate too low. In a table of many rows joined to 512 cells a score
    counts as the middle of its cell.

    References
    ----------
    Elkan, Noto (2008), Learning classifiers from only positive and unlabeled data, estimator e3.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_arrays([1, 1, 0, 0, 0, 0], [0.5, 0.4, 0.5, 0.4, 0.1, 0.1])
    >>> [float(a) for a in elkan_noto_e3(TwoSamples.from_table(table))]
    [0.5]
    """
    _refuse_other_than_probabilities(sample, method="elkan_noto_e3")
    occupied = (sample.labeled > 0) | (sample.unlabeled > 0)
    return _unlabeled_prior(np.max(occupied * sample.scores, axis=1), sample)


def _refuse_other_than_probabilities(sample: TwoSamples, *, method: str) -> None:
    low, high = float(sample.scores.min()), float(sample.scores.max())
    if low < 0 or high > 1:
        msg = (
            f"{method} needs scores that are probabilities of being labeled, in [0, 1]: got "
            f"scores from {low:g} to {high:g}; use class_prior='auto'"
        )
        raise InputError(msg)


def _unlabeled_prior(label_frequency: FloatArray, sample: TwoSamples) -> FloatArray:
    frequency = np.maximum(label_frequency, 1e-12)
    odds = sample.labeled_per_unlabeled * (1 - frequency) / frequency
    return np.asarray(np.clip(odds, 0.0, 1.0))
