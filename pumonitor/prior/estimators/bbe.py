"""BBE: best bin estimation (Garg et al. 2021)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior.samples.two_samples import TwoSamples

_CONFIDENCE = 0.1
_GAP = 0.01


def bbe(sample: TwoSamples) -> NDArray[np.float64]:
    """Share of positives among unlabeled rows from the purest top of the ranking.

    At threshold t, q_u / q_p (shares of unlabeled and of labeled rows at or above t) is an upper
    bound of the unlabeled prior, tight where no negative scores that high. The t is chosen at
    which the bound plus its sampling error is least. Biased upwards when no region is pure.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Notes
    -----
    minimise q_u / q_p + (1 + g) / q_p (sqrt(ln(4/d) / 2 n_u) + sqrt(ln(4/d) / 2 n_p)) with d = 0.1,
    g = 0.01; the estimate is q_u / q_p there. Linear in the cells.

    References
    ----------
    Garg, Wu, Smola, Balakrishnan, Lipton (2021), Mixture proportion estimation and PU learning:
    a modern approach, Algorithm 1.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([10, 90], [850, 150], edges=[0.0, 0.5, 1.0])
    >>> [round(float(a), 4) for a in bbe(TwoSamples.from_table(table))]
    [0.1667]
    """
    labeled_above, unlabeled_above = sample.above()
    error = sum(
        math.sqrt(math.log(4 / _CONFIDENCE) / (2 * rows))
        for rows in (sample.n_unlabeled, sample.n_labeled)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = unlabeled_above / labeled_above
        bound = np.where(labeled_above > 0, ratio + (1 + _GAP) * error / labeled_above, np.inf)
    best = np.argmin(bound, axis=1)
    return np.asarray(np.minimum(ratio[np.arange(len(ratio)), best], 1.0))
