"""Both samples binned on the normal scores of the pooled ranks: free of the scale of the scores."""

from __future__ import annotations

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.two_samples import TwoSamples

_REACH = 4.0


def binned_normal_scores(
    sample: TwoSamples, *, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bin centres on the normal-score scale and the labeled and unlabeled share per bin.

    A cell's rank is its mid-rank in the even mixture of the two samples (of the first resample,
    when there are many), so that any increasing change of the scores gives the same bins.

    Returns
    -------
    centres : ndarray of shape (bins,)
    labeled, unlabeled : ndarray of shape (samples, bins)
    """
    pooled = 0.5 * (sample.labeled[0] + sample.unlabeled[0])
    rank = np.cumsum(pooled) - 0.5 * pooled
    normal = special.ndtri(np.clip(rank, 1e-9, 1 - 1e-9))
    edges = np.linspace(-_REACH, _REACH, bins + 1)
    of_cell = np.clip(np.searchsorted(edges, normal, side="right") - 1, 0, bins - 1)
    starts = np.flatnonzero(np.concatenate([[True], of_cell[1:] != of_cell[:-1]]))

    def summed(share: FloatArray) -> FloatArray:
        # Cells ascend, hence so do bins: sum runs of equal bins.
        total = np.zeros((len(share), bins))
        total[:, of_cell[starts]] = np.add.reduceat(share, starts, axis=1)
        return total

    return 0.5 * (edges[1:] + edges[:-1]), summed(sample.labeled), summed(sample.unlabeled)
