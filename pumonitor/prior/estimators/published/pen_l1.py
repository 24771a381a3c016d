"""penL1: prior by the penalised L1 divergence of positives to unlabeled (du Plessis et al.)."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.feature_samples import FeatureSamples
from pumonitor.prior.samples.points import points_of
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 80
_BASES = 300
_CENTRES = 150
_FOLDS = 5
_WIDTHS = np.logspace(-1.0, 1.0, 8)
_GRID = np.linspace(0.01, 0.99, 99)
_REGULARISERS = (1e-3, 10.0)


def pen_l1(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, where positives first fail to fit under them.

    For a given prior the divergence of prior times labeled density from the unlabeled density
    counts only what does not fit under it, and is least at the greatest prior that fits. Biased
    upwards where no region is free of negatives.

    Reads `TwoSamples.features`, at most 2000 labeled and 2000 unlabeled rows, or, without
    features, the scores' ranks. The kernel takes all features alike: many that say nothing hide
    the one that does.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        Between 0.01 and 0.99, in steps of 0.01.

    Notes
    -----
    With Gaussian bases phi_l and beta_l = prior E_P[phi_l] - E_U[phi_l], the divergence is
    1 - prior + sum_l max(0, beta_l)^2 / lambda, the value at the coefficients
    max(0, beta_l) / lambda. There are 300 bases in the even mixture of both samples, at rows drawn
    at random or at score cells; where there are fewer centres each stands for several. Width (8
    values from .1 to 10 times the median distance) and lambda (.001 to 10) have the best
    objective on held-out fifths, for each prior anew. Since that objective is a number over
    lambda, the best lambda is always one of the two ends, by the sign of the number.

    The paper's code has all bases at unlabeled rows. Where none of these is positive no basis is
    then near the labeled rows, nothing shows that they do not fit, and the estimate is .99.

    References
    ----------
    du Plessis, Niu, Sugiyama (2017), Class-prior estimation for learning from positive and
    unlabeled data, section 4; ACML 2015, equations 8 and 9.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(3 * positive))
    >>> bool(abs(pen_l1(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    data = points_of(sample, bins=_BINS)
    distances, bases = _to_centres(data)
    labeled, unlabeled = data.dealt(_FOLDS)
    held_out = np.full((len(labeled), len(_GRID)), -np.inf)
    overlap = np.zeros_like(held_out)
    for width in _WIDTHS * _median(distances, data):
        basis = np.exp(-distances / (2 * width**2))
        score = _held_out(labeled, unlabeled, basis, bases)
        means = _GRID[:, np.newaxis] * (data.labeled @ basis)[:, np.newaxis]
        means = means - (data.unlabeled @ basis)[:, np.newaxis]
        fitted = np.maximum(means, 0.0) ** 2 @ bases
        better = score > held_out
        held_out = np.where(better, score, held_out)
        overlap = np.where(better, fitted, overlap)
    regulariser = np.where(held_out > 0, *_REGULARISERS)
    return np.asarray(_GRID[np.argmin(1 - _GRID + overlap / regulariser, axis=1)])


def _to_centres(data: FeatureSamples) -> tuple[FloatArray, FloatArray]:
    """Squared distances of the points to the centres, and how many bases each centre stands for."""
    share = 0.5 * (data.labeled[0] + data.unlabeled[0])
    if data.are_rows:
        rng = np.random.default_rng(0)
        held = np.flatnonzero(share)
        at = rng.choice(held, min(_CENTRES, len(held)), replace=False)
    else:
        at = np.flatnonzero(share)
    centres = data.points[at]
    distances = (
        np.sum(data.points**2, axis=1)[:, np.newaxis]
        + np.sum(centres**2, axis=1)
        - 2 * data.points @ centres.T
    )
    return np.maximum(distances, 0.0), _BASES * share[at] / share[at].sum()


def _median(distances: FloatArray, data: FeatureSamples) -> float:
    """Median distance of an unlabeled row to a centre."""
    weight = np.broadcast_to(data.unlabeled[0][:, np.newaxis], distances.shape).ravel()
    order = np.argsort(distances, axis=None)
    reached = np.cumsum(weight[order])
    middle = distances.ravel()[order[np.searchsorted(reached, 0.5 * reached[-1])]]
    return float(np.sqrt(middle)) if middle > 0 else 1.0


def _held_out(
    labeled: FloatArray, unlabeled: FloatArray, basis: FloatArray, bases: FloatArray
) -> FloatArray:
    """Lambda times the held-out objective, per sample and prior.

    `labeled` and `unlabeled` are numbers of rows per sample, fold and point.
    """

    def in_fold_and_out(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of each basis in each fold, and in the other folds together."""
        sums, size = rows @ basis, rows.sum(axis=1, keepdims=True)
        others = np.maximum(size.sum() - size, 1e-9)
        return sums / np.maximum(size, 1e-9), (sums.sum(axis=0) - sums) / others

    found = []
    for positive_rows, mixture_rows in zip(labeled, unlabeled, strict=True):
        positive = in_fold_and_out(positive_rows)
        mixture = in_fold_and_out(mixture_rows)
        seen, learned = (
            _GRID[:, np.newaxis, np.newaxis] * of_positive - of_mixture
            for of_positive, of_mixture in zip(positive, mixture, strict=True)
        )
        found.append(np.einsum("gfb,gfb,b->g", np.maximum(learned, 0.0), seen, bases))
    return np.array(found)
