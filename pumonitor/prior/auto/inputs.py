"""What the network of `auto` reads of two samples; the same in training and in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.auto.normal_mixture import (
    NormalMixture,
    binned,
    fit_binned,
    fit_normal_mixture,
    on_the_line,
)
from pumonitor.prior.samples.two_samples import TwoSamples

LEAST_LABELED, LEAST_UNLABELED = 10.0, 60.0
"""Fewer rows the network has hardly seen: what it says of them is too sure."""
# Rows beyond those it has seen at all are read as the fewest or the most: with more of them the
# interval is wider than need be.
_LABELED, _UNLABELED = (4.0, 300_000.0), (60.0, 3_000_000.0)

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AutoInputs:
    """What the network reads.

    Attributes
    ----------
    numbers : ndarray of shape (samples, 140)
    mixture : NormalMixture
        Two normals fitted to each pair of samples.
    weight_of_normals : ndarray of shape (samples,)
        How far the network sees the fit: 0 not at all, 1 fully.
    """

    numbers: FloatArray
    mixture: NormalMixture
    weight_of_normals: FloatArray


def auto_inputs(
    scores: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
    n_labeled: FloatArray,
    n_unlabeled: FloatArray,
) -> AutoInputs:
    """Ranks, and the fit of two normals as far as the data bear it out.

    Parameters
    ----------
    scores : ndarray of shape (samples, cells) or (1, cells)
        Ascending, on the whole line.
    labeled, unlabeled : ndarray of shape (samples, cells)
        Shares; rows sum to 1.
    n_labeled, n_unlabeled : ndarray of shape (samples,)

    Returns
    -------
    AutoInputs
    """
    n_labeled, n_unlabeled = np.clip(n_labeled, *_LABELED), np.clip(n_unlabeled, *_UNLABELED)
    mixture = fit_normal_mixture(scores, labeled, unlabeled, n_labeled, n_unlabeled)
    ranks = rank_summary(labeled, unlabeled, n_labeled, n_unlabeled)
    return _inputs(ranks, mixture, n_labeled, n_unlabeled)


def inputs_of(samples: Sequence[TwoSamples]) -> AutoInputs:
    """The same of samples with cells of their own, each the only one of its rows."""
    n_labeled = np.clip([one.n_labeled for one in samples], *_LABELED)
    n_unlabeled = np.clip([one.n_unlabeled for one in samples], *_UNLABELED)
    shares = [
        binned(on_the_line(one.scores)[np.newaxis], one.labeled, one.unlabeled) for one in samples
    ]
    labeled, unlabeled = (np.concatenate(part) for part in zip(*shares, strict=True))
    mixture = fit_binned(labeled, unlabeled, n_labeled, n_unlabeled)
    ranks = [
        rank_summary(one.labeled, one.unlabeled, n_labeled[place], n_unlabeled[place])
        for place, one in zip(np.arange(len(samples))[:, np.newaxis], samples, strict=True)
    ]
    return _inputs(np.concatenate(ranks), mixture, n_labeled, n_unlabeled)


def _inputs(
    ranks: FloatArray, mixture: NormalMixture, n_labeled: FloatArray, n_unlabeled: FloatArray
) -> AutoInputs:
    of_mixture = np.stack(
        [
            np.ones(len(ranks)),
            np.arcsin(np.sqrt(mixture.unlabeled_prior)),
            mixture.distance - 1.5,
            np.log(mixture.positive_spread) + 0.5,
            np.log(mixture.negative_spread) + 0.5,
            np.clip(mixture.labeled_misfit, -3, 8) / 3,
            np.clip(mixture.unlabeled_misfit, -3, 8) / 3,
        ],
        axis=1,
    )
    # Where normals do not fit, or rows are too few to show that, what they say is not even seen.
    weight = mixture.trust * _enough(n_labeled, 300.0) * _enough(n_unlabeled, 5000.0)
    return AutoInputs(
        numbers=np.hstack([ranks, weight[:, np.newaxis] * of_mixture]),
        mixture=mixture,
        weight_of_normals=weight,
    )


def _enough(rows: FloatArray, half: float) -> FloatArray:
    """From 0 to 1, a half at `half` rows: a fit that few rows do not contradict proves nothing."""
    return np.asarray(rows**2 / (rows**2 + half**2))
