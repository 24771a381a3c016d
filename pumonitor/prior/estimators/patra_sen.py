"""Patra-Sen: how far the unlabeled rows less a share of positives are from a distribution."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 128
_STEP = 0.0025
# One step beyond 0 and two beyond 1, so that an elbow at either end is inside the grid.
_GRID: FloatArray = np.arange(-1.0, round(1 / _STEP) + 3) * _STEP


def patra_sen(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, beyond which the rest is no distribution.

    What remains of the unlabeled distribution function without a share a of positives, F_u - a F_p,
    must not fall. Its distance to the nearest function that does not fall stays near 0 up to the
    unlabeled prior and rises beyond it; the elbow is the estimate. Biased upwards, much where
    classes overlap: the distance rises slowly.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1], in steps of 0.0025.

    Notes
    -----
    In the paper's terms the positives are the known component, the negatives the unknown one with
    share 1 - a, and (1 - a) d(1 - a), with d the distance from (F_u - a F_p) / (1 - a) to its
    isotonic fit, is the distance here. The elbow is the largest second difference. Distribution
    functions are taken at 128 bins of equal mid-rank in the even mixture of the two samples (of
    the first resample, when there are many), which is also the weight: weighted by unlabeled rows
    alone, as in the paper, a small prior would hardly count. Linear in the cells.

    References
    ----------
    Patra, Sen (2016), Estimation of a two-component mixture model with applications to multiple
    testing, section 3 (distance) and 5 (elbow).

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(3 * positive))
    >>> bool(abs(patra_sen(TwoSamples.from_table(table))[0] - 0.3) < 0.03)
    True
    """
    pooled = 0.5 * (sample.labeled[0] + sample.unlabeled[0])
    bin_of_cell = np.floor((np.cumsum(pooled) - 0.5 * pooled) * _BINS)
    starts = np.flatnonzero(np.concatenate([[True], bin_of_cell[1:] != bin_of_cell[:-1]]))
    labeled, unlabeled, weights = (
        np.add.reduceat(share, starts, axis=-1)
        for share in (sample.labeled, sample.unlabeled, pooled)
    )
    distance = np.array(
        [
            distance_to_isotonic(known, mixture, weights=weights, grid=_GRID)
            for known, mixture in zip(labeled, unlabeled, strict=True)
        ]
    )
    turn = distance[:, 2:] - 2 * distance[:, 1:-1] + distance[:, :-2]
    return np.asarray(np.clip(_GRID[1:-1][np.argmax(turn, axis=1)], 0.0, 1.0))


def distance_to_isotonic(
    known: FloatArray, mixture: FloatArray, *, weights: FloatArray, grid: FloatArray
) -> FloatArray:
    """Weighted L2 distance of F_mixture - a F_known to its isotonic fit in [0, 1 - a], for each a.

    Parameters
    ----------
    known, mixture, weights : ndarray of shape (bins,)
        Shares; each sums to 1.
    grid : ndarray of shape (grid,)
        Shares a of the known component.

    Returns
    -------
    ndarray of shape (grid,)
    """
    from scipy import optimize

    remainder = np.cumsum(mixture) - grid[:, np.newaxis] * np.cumsum(known)
    # All fits in one call: each curve lies above the one before, and none is pooled with another.
    apart = 3.0 * np.arange(len(grid))[:, np.newaxis]
    positive = np.maximum(weights, 1e-12)
    fit = optimize.isotonic_regression(
        (remainder + apart).ravel(), weights=np.tile(positive, len(grid))
    )
    # What remains sums to 1 - a.
    nearest = np.clip(
        fit.x.reshape(remainder.shape) - apart, 0.0, np.maximum(1 - grid[:, np.newaxis], 0.0)
    )
    return np.asarray(np.sqrt((remainder - nearest) ** 2 @ positive))
