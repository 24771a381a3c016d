"""ROC slope: the least slope of the chord from a point of the ROC curve to (1, 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.prior.samples.two_samples import TwoSamples

THRESHOLDS = 200
_LEVEL = 0.1


def roc_slope(sample: TwoSamples) -> NDArray[np.float64]:
    """Share of positives among unlabeled rows as the least ratio of binomial bounds.

    min over t of (upper bound of q_u) / (lower bound of q_p). Biased upwards, much at small
    samples: it is a bound rather than a centre.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Notes
    -----
    Clopper-Pearson bounds at level 0.1 each, at 200 thresholds equally spaced in the share above
    them of both samples together.

    References
    ----------
    Blanchard, Lee, Scott (2010); Scott (2015); Sanderson, Scott (2014).

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([10, 90], [850, 150], edges=[0.0, 0.5, 1.0])
    >>> [round(float(a), 4) for a in roc_slope(TwoSamples.from_table(table))]
    [0.1947]
    """
    return upper_bound(sample, level=_LEVEL)


def upper_bound(sample: TwoSamples, *, level: float) -> NDArray[np.float64]:
    """Least ratio of an upper bound of q_u to a lower bound of q_p, each missed with `level`.

    With a level of (1 - confidence) / 400, two bounds at 200 thresholds, it bounds the unlabeled
    prior with that confidence whatever the densities are.
    """
    labeled_above, unlabeled_above = sample.above()
    # Evenly spaced in the rows of both samples together, the last with a part of them above it:
    # above a threshold that leaves two or three rows the ratio is anything.
    both_above = 0.5 * (labeled_above[0] + unlabeled_above[0])
    shares = np.linspace(1, 1 / THRESHOLDS, THRESHOLDS)
    last = np.searchsorted(-both_above, -shares, side="right") - 1
    cells = np.unique(np.maximum(last, 0))
    # Of thresholds with the same labeled rows above, the highest has the least ratio.
    labeled = labeled_above[:, cells]
    cells = cells[np.append((labeled[:, 1:] != labeled[:, :-1]).any(axis=0), True)]
    hits_p = labeled_above[:, cells] * sample.n_labeled
    hits_u = unlabeled_above[:, cells] * sample.n_unlabeled
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(
            hits_p > 0.5,
            special.betaincinv(np.maximum(hits_p, 1e-9), sample.n_labeled - hits_p + 1, level),
            0.0,
        )
        upper = np.where(
            hits_u < sample.n_unlabeled - 0.5,
            special.betaincinv(
                hits_u + 1, np.maximum(sample.n_unlabeled - hits_u, 1e-9), 1 - level
            ),
            1.0,
        )
        ratio = np.where(lower > 0, upper / lower, np.inf)
    return np.asarray(np.minimum(ratio.min(axis=1), 1.0))
