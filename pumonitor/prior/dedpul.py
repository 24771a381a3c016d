"""DEDPUL on binned densities, in time linear in the cells (Ivanov 2020)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from pumonitor.prior.normal_scores import binned_normal_scores
from pumonitor.prior.two_samples import TwoSamples

__all__ = ["dedpul"]

FloatArray = NDArray[np.float64]

_BINS = 256
_STEPS = 400
_ROWS = 400
_COLLAPSED = 0.8


def dedpul(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows from the ratio of the two score densities.

    r = f_p / f_u is at most 1 / a, and reaches it where no negative scores; EM finds the largest
    share that the smoothed, monotone ratio allows. Biased where no region is pure, and at small
    samples in either direction.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Notes
    -----
    Densities are Gaussian-smoothed histograms of 256 bins on normal scores of the pooled ranks,
    in place of kernel density estimates of logits: nothing depends on the scale of the scores,
    and every step is linear. The ratio is made monotone below the midpoint of the two means and
    smoothed by a rolling median over the unlabeled rows; EM iterates
    a <- mean over U of min(1, a r) from a = 1 down to its largest fixed point. If that collapses
    (a ratio that exceeds every 1 / a somewhere), the estimate is the a at which the mean
    posterior leaves a most sharply, by second differences on a grid.

    References
    ----------
    Ivanov (2020), DEDPUL: difference-of-estimated-densities-based PU learning, sections 3-4.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(2 * positive))
    >>> bool(abs(dedpul(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=_BINS)
    width = float(centres[1] - centres[0])
    f_p = _smoothed(labeled, sample.n_labeled, centres, width)
    f_u = _smoothed(unlabeled, sample.n_unlabeled, centres, width)
    ratio = f_p / np.maximum(f_u, 1e-300)
    ratio = np.where(f_u > 1e-12, ratio, 0.0)
    ratio = _monotone_below(ratio, labeled, unlabeled, centres)
    at_rows = ndimage.median_filter(
        _at_unlabeled_rows(ratio, unlabeled), size=(1, _ROWS // 20 + 1), mode="nearest"
    )
    share = np.ones(len(ratio))
    for _ in range(_STEPS):
        share = np.minimum(1.0, share[:, np.newaxis] * at_rows).mean(axis=1)
    turn = _sharpest_turn(at_rows)
    share = np.where(share < _COLLAPSED * turn, turn, share)
    return np.clip(share, 0.0, 1.0)


def _smoothed(share: FloatArray, rows: float, centres: FloatArray, width: float) -> FloatArray:
    mean = share @ centres
    spread = np.sqrt(np.maximum(share @ centres**2 - mean**2, width**2))
    bandwidth = float(0.9 * np.median(spread) * rows**-0.2)
    return ndimage.gaussian_filter1d(
        share, sigma=max(bandwidth / width, 0.5), axis=1, mode="constant", truncate=4.0
    )


def _monotone_below(
    ratio: FloatArray, labeled: FloatArray, unlabeled: FloatArray, centres: FloatArray
) -> FloatArray:
    """Below the midpoint of the means a lower score cannot mean a higher ratio."""
    middle = 0.5 * (labeled @ centres + unlabeled @ centres)
    below = centres[np.newaxis] < middle[:, np.newaxis]
    # Held down from the right: the least ratio between here and the midpoint.
    falling = np.minimum.accumulate(np.where(below, ratio, np.inf)[:, ::-1], axis=1)[:, ::-1]
    return np.where(below, falling, ratio)


def _at_unlabeled_rows(ratio: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """The ratio at equally spaced unlabeled rows, ascending by score."""
    wanted = (np.arange(_ROWS) + 0.5) / _ROWS
    running = np.cumsum(unlabeled, axis=1)
    taken = [
        row[np.minimum(np.searchsorted(reached, wanted), _BINS - 1)]
        for row, reached in zip(ratio, running, strict=True)
    ]
    return np.array(taken)


def _sharpest_turn(ratio: FloatArray) -> FloatArray:
    grid = np.linspace(0.0, 1.0, 201)
    excess = np.stack(
        [point - np.minimum(1.0, point * ratio).mean(axis=1) for point in grid], axis=1
    )
    second = excess[:, 2:] - 2 * excess[:, 1:-1] + excess[:, :-2]
    return np.asarray(grid[1:-1][np.argmax(second, axis=1)])
