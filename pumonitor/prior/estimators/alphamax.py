"""AlphaMax and AlphaMax-N: the prior at which the likelihood of two histograms begins to fall."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.errors import NoBoundWarning
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 12
_GRID = np.linspace(0.005, 0.995, 100)
# Fall of the log-likelihood, in rows, that sampling explains. Chosen on two normals 2, 3 and 5
# apart (200 to 3000 labeled rows, priors .05, .2, .5; mean absolute errors .006 to .05): with 2
# the estimate is low where classes separate, with 4 high where they do not.
_FALL = 3.0
_BISECTIONS = 60
_STEEPEST = 25.0
_RESAMPLES_AT_ONCE = 25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AlphaMaxN:
    """What AlphaMax-N estimates, one of each per sample.

    Attributes
    ----------
    unlabeled_prior, label_purity : ndarray of shape (samples,)
    """

    unlabeled_prior: FloatArray
    label_purity: FloatArray


def alphamax(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, where the likelihood of two histograms turns down.

    For a given share c the unlabeled rows are c times positives plus the rest. Up to the largest
    share the data allow, that fits as well as anything; beyond it, worse and worse. The elbow of
    the curve is the estimate. Biased upwards where no group of negatives is unlike the positives,
    and by the width of the bins.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        Between 0.005 and 0.995, in steps of 0.01.

    Notes
    -----
    Histograms of 12 bins on normal scores of the pooled ranks, so that only the order of the
    scores matters. The elbow is the last c whose log-likelihood is within 3 / n of its maximum, n
    the smaller of the two numbers of rows: the fall that sampling explains.

    References
    ----------
    Jain, White, Radivojac (2016), Estimating the class prior and posterior from noisy positives
    and unlabeled data, AlphaMax.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(3 * positive))
    >>> bool(abs(alphamax(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    _, labeled, unlabeled = binned_normal_scores(sample, bins=_BINS)
    return _elbow(labeled, unlabeled, rows=min(sample.n_labeled, sample.n_unlabeled))


def alphamax_n(sample: TwoSamples) -> AlphaMaxN:
    """Unlabeled prior and label purity when some labeled rows are negatives (AlphaMax-N).

    AlphaMax is run both ways. A, the share of labeled-like rows among the unlabeled, and B, one
    minus the share of unlabeled-like rows among the labeled, give
    unlabeled_prior = A B / (1 - A (1 - B)) and label_purity = B / (1 - A (1 - B)).

    Biased low on clean labels, since positives that score low look like mistaken labels (about
    .94 for 1.0 at AUC .80 and 1000 labeled rows); it brings no test of whether there is any
    noise. `pumonitor.prior.labels.label_noise` does and is what ``label_purity="auto"`` uses.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    AlphaMaxN
        Both 1 where the samples are alike.

    Warns
    -----
    NoBoundWarning
        If neither likelihood turns down, so that the samples are alike and say nothing.

    Notes
    -----
    Of samples alike A = 1 and B = 0, which leave 0 / 0: labels at random fit as well as labels
    that are all right, at every prior. Both are then 1, the largest, as for A = 1 and any other B.

    References
    ----------
    Jain, White, Radivojac (2016), AlphaMax-N.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [2000, 10_000])
    >>> positive = np.concatenate([np.arange(2000) < 1600, np.arange(10_000) < 2000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(4 * positive))
    >>> found = alphamax_n(TwoSamples.from_table(table))
    >>> bool(abs(found.label_purity[0] - 0.8) < 0.05)
    True
    >>> bool(abs(found.unlabeled_prior[0] - 0.2) < 0.05)
    True
    """
    _, labeled, unlabeled = binned_normal_scores(sample, bins=_BINS)
    rows = min(sample.n_labeled, sample.n_unlabeled)
    among_unlabeled = _elbow(labeled, unlabeled, rows=rows)
    clean = 1 - _elbow(unlabeled, labeled, rows=rows)
    both = 1 - among_unlabeled * (1 - clean)
    alike = (among_unlabeled == _GRID[-1]) & (clean == 1 - _GRID[-1])
    # Resamples are drawn to see what happens, and may end so; the data may not do so unsaid.
    if len(alike) == 1 and alike[0]:
        warnings.warn(
            "alphamax_n finds labeled and unlabeled rows alike: every prior and label purity "
            "fit, and its estimate is the largest, 1, which carries no information; give "
            "scores that tell positives apart, or more rows",
            NoBoundWarning,
            stacklevel=2,
        )
    return AlphaMaxN(
        unlabeled_prior=np.where(alike, 1.0, among_unlabeled * clean / both),
        label_purity=np.where(alike, 1.0, clean / both),
    )


def alphamax_n_prior(sample: TwoSamples) -> FloatArray:
    """The unlabeled prior of `alphamax_n` alone: the share of positives, whoever is labeled.

    For use where labels are known to be mistaken here and there, but not how often.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Warns
    -----
    NoBoundWarning
        If the samples are alike, so that the estimate is 1.

    Notes
    -----
    See `alphamax_n`.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [2000, 10_000])
    >>> positive = np.concatenate([np.arange(2000) < 1600, np.arange(10_000) < 2000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(4 * positive))
    >>> bool(abs(alphamax_n_prior(TwoSamples.from_table(table))[0] - 0.2) < 0.05)
    True
    """
    return alphamax_n(sample).unlabeled_prior


def likelihood_by_prior(component: FloatArray, mixture: FloatArray, grid: FloatArray) -> FloatArray:
    """Greatest log-likelihood per row for each share c on the grid, shape (samples, grid).

    With q and w the shares of component and mixture per bin, maximise
    sum q log(v / c) + sum w log(w - v + c q) over 0 <= v <= w with sum v = c: v is what of the
    mixture is component. The derivative is set equal to a multiplier m:
    m v^2 - (m d + q + w) v + q d = 0 with d = w + c q, whose smaller root falls in m, so that
    bisection finds the m at which the v sum to c.

    Parameters
    ----------
    component, mixture : ndarray of shape (samples, bins)
        Rows sum to 1.
    grid : ndarray of shape (grid,)
        In (0, 1).
    """
    q, w = component[:, np.newaxis, :], mixture[:, np.newaxis, :]
    share = grid[np.newaxis, :, np.newaxis]
    limit = w + share * q
    low = np.full((len(component), len(grid), 1), -_STEEPEST)
    high = -low
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        too_much = _part(np.sinh(middle), q, w, limit).sum(axis=2, keepdims=True) > share
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    part = _part(np.sinh(0.5 * (low + high)), q, w, limit)
    tiny = 1e-12  # a bin with rows of which no part is allowed: very unlikely, not impossible
    of_component = np.where(q > 0, q * np.log(np.maximum(part / share, tiny)), 0.0)
    of_mixture = np.where(w > 0, w * np.log(np.maximum(limit - part, tiny)), 0.0)
    return np.asarray((of_component + of_mixture).sum(axis=2))


def _part(multiplier: FloatArray, q: FloatArray, w: FloatArray, limit: FloatArray) -> FloatArray:
    """The smaller root v, in the form that does not cancel."""
    middle = multiplier * limit + q + w
    root = np.sqrt(np.maximum(middle**2 - 4 * multiplier * q * limit, 0.0))
    added = np.where(middle >= 0, middle + root, 1.0)
    from_above = 2 * q * limit / np.where(added > 0, added, 1.0)
    from_below = (middle - root) / np.where(multiplier < 0, 2 * multiplier, -1.0)
    return np.asarray(np.clip(np.where(middle >= 0, from_above, from_below), 0.0, w))


def _elbow(component: FloatArray, mixture: FloatArray, *, rows: float) -> FloatArray:
    """The last share whose log-likelihood is within what sampling explains of the greatest."""
    found = []
    for begin in range(0, len(component), _RESAMPLES_AT_ONCE):
        part = slice(begin, begin + _RESAMPLES_AT_ONCE)
        likelihood = likelihood_by_prior(component[part], mixture[part], _GRID)
        flat = likelihood >= likelihood.max(axis=1, keepdims=True) - _FALL / rows
        found.append(_GRID[len(_GRID) - 1 - np.argmax(flat[:, ::-1], axis=1)])
    return np.concatenate(found)
