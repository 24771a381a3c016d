"""The label frequency of all positives, where it is known besides: what it says of that by bin.

Confirmed rows weighted by 1 / e are the positives. So 1 / c is the mean of 1 / e over confirmed
rows, and exp(-logit c) is their mean of exp(v), v being -logit e.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.counts import AuditCounts

__all__ = ["confirmed_share", "level_of", "log_density", "with_departures"]

FloatArray = NDArray[np.float64]

_SUREST: Final = 0.02**2
"""Least variance of -logit c: draws could not be chosen by a c that is known still better."""


def confirmed_share(counts: AuditCounts) -> FloatArray:
    """Of each bin in the confirmed rows."""
    return np.asarray(counts.labeled / counts.labeled.sum())


def level_of(v: FloatArray, counts: AuditCounts) -> FloatArray:
    """-logit c of v, shape (bins, draws)."""
    share = confirmed_share(counts)[:, np.newaxis]
    return np.asarray(special.logsumexp(v, axis=0, b=share))


def with_departures(
    mean: FloatArray, squares: FloatArray, taus: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of -logit c where bins depart from a line by standard deviations tau.

    Parameters
    ----------
    mean, squares : ndarray
        Sum over bins of s exp(line) and of its square, s being the confirmed share of a bin.
    taus : ndarray of shape (taus,)

    Returns
    -------
    (ndarray, ndarray), with an axis more than `mean`, the first
        By the delta method: log mean + tau^2 (1 - W) / 2 and tau^2 W, W being squares / mean^2.
    """
    mean = np.maximum(mean, 1e-100)
    together = np.minimum(squares / mean**2, 1)
    square = taus.reshape(-1, *(1,) * mean.ndim) ** 2
    return np.log(mean) + 0.5 * square * (1 - together), square * together


def log_density(
    level: FloatArray, overall: tuple[float, float], spread: FloatArray | float = 0.0
) -> FloatArray:
    """Log density of -logit c, known by mean and variance, and spread by so much variance more."""
    mean, variance = overall
    whole = max(variance, _SUREST) + spread
    return np.asarray(-0.5 * ((level - mean) ** 2 / whole + np.log(whole)))
