"""DEDPUL on binned densities, in time linear in the cells (Ivanov 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 256
# Half of Silverman's rule: .07 and .11 of the spread at 10,000 and 1000 rows, where the paper's
# code has .05 and .1 at any number of rows.
_BANDWIDTH = 0.45
# The paper's code has 50, and so no estimate much below .02.
_LARGEST_RATIO = 1000.0
_GRID = np.linspace(0.0, 1.0, 201)
# Beyond this the mean posterior is too far from the share for any turn of the curve to count.
_LARGEST_EXCESS = 0.05
_BISECTIONS = 40


def dedpul(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows from the ratio of the two score densities.

    r = f_p / f_u is at most 1 / a, and reaches it where no negative scores; EM finds the largest
    share that the smoothed, monotone ratio allows. Biased upwards where no region is pure, and at
    small samples in either direction.

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
    every step is linear, and without noise from row to row the paper's rolling medians have
    nothing to smooth. The bandwidth is that of the first resample when there are many. The ratio
    is capped at 1000 and, above the midpoint of the two means, never falls as the score rises. (The
    paper says "below": its own score is the probability of being unlabeled.)

    EM iterates a <- mean over U of min(1, a r) from a = 1 down to the largest fixed point. The
    mean is concave in a, so that bisection finds the point. There is none above 0 if r averages
    to 1 or less. Then a is where the mean leaves a most sharply, by second differences on a grid,
    at least the 1 / max r at which EM stops and at most the mean it begins with. Max r is over bins
    that hold unlabeled rows: where classes are far apart and no unlabeled row is positive these
    reach no further than the negatives, and the estimate is some hundredths above 0.

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
    return _shares(*_ratio(sample))


def dedpuls(samples: Sequence[TwoSamples]) -> FloatArray:
    """`dedpul` of several samples, each the only one of its rows."""
    ratios, unlabeled = zip(*map(_ratio, samples), strict=True)
    return _shares(np.concatenate(ratios), np.concatenate(unlabeled))


def _ratio(sample: TwoSamples) -> tuple[FloatArray, FloatArray]:
    """f_p / f_u, capped and rising, and the share of the unlabeled rows, per bin."""
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=_BINS)
    f_p = _smoothed(labeled, sample.n_labeled, centres)
    f_u = _smoothed(unlabeled, sample.n_unlabeled, centres)
    ratio = np.minimum(f_p / np.maximum(f_u, 1e-12), _LARGEST_RATIO)
    middle = 0.5 * (labeled + unlabeled) @ centres
    return _rising_above(middle, ratio, centres), unlabeled


def _shares(ratio: FloatArray, unlabeled: FloatArray) -> FloatArray:
    least = 1 / np.maximum(np.max(ratio, axis=1, where=unlabeled > 0, initial=1.0), 1.0)
    share = _largest_fixed_point(ratio, unlabeled, least)
    collapsed = np.sum(ratio * unlabeled, axis=1) <= 1
    if collapsed.any():
        turn = _sharpest_turn(ratio[collapsed], unlabeled[collapsed])
        share[collapsed] = np.maximum(turn, least[collapsed])
    # EM's first step: no more than this are positive even if any row that may be positive is.
    return np.minimum(share, _mean_posterior(np.ones(len(ratio)), ratio, unlabeled))


def _smoothed(share: FloatArray, rows: float, centres: FloatArray) -> FloatArray:
    from scipy import ndimage

    width = float(centres[1] - centres[0])
    variance = float(share[0] @ centres**2 - (share[0] @ centres) ** 2)
    bandwidth = _BANDWIDTH * max(variance, width**2) ** 0.5 * rows**-0.2
    return ndimage.gaussian_filter1d(
        share, sigma=max(bandwidth / width, 0.5), axis=1, mode="constant", truncate=5.0
    )


def _rising_above(middle: FloatArray, ratio: FloatArray, centres: FloatArray) -> FloatArray:
    """Above the midpoint of the means a higher score cannot mean a lower ratio."""
    above = centres >= middle[:, np.newaxis]
    rising = np.maximum.accumulate(np.where(above, ratio, 0.0), axis=1)
    return np.where(above, rising, ratio)


def _mean_posterior(share: FloatArray, ratio: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """Mean over the unlabeled rows of their probability of being positive, given the share."""
    return np.asarray(np.sum(np.minimum(1.0, share[:, np.newaxis] * ratio) * unlabeled, axis=1))


def _largest_fixed_point(ratio: FloatArray, unlabeled: FloatArray, least: FloatArray) -> FloatArray:
    low, high = least.copy(), np.ones(len(ratio))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = _mean_posterior(middle, ratio, unlabeled) > middle
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _sharpest_turn(ratio: FloatArray, unlabeled: FloatArray) -> FloatArray:
    excess = np.stack(
        [
            share - _mean_posterior(np.full(len(ratio), share), ratio, unlabeled)
            for share in _GRID.tolist()
        ],
        axis=1,
    )
    turn = excess[:, 2:] - 2 * excess[:, 1:-1] + excess[:, :-2]
    turn = np.where(excess[:, 1:-1] < _LARGEST_EXCESS, turn, -np.inf)
    return np.asarray(_GRID[1:-1][np.argmax(turn, axis=1)])
