"""Bayesian bootstrap of a table: each cell's share redrawn with Dirichlet weights.

A Dirichlet weight has the mean and variance of a multinomial count, takes weights as well as
counts, and leaves no cell at exactly zero, so that functions of a redrawn table keep a value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["share_resamples"]

FloatArray = NDArray[np.float64]


def share_resamples(
    share: FloatArray,
    effective_size: float,
    *,
    prior_share: FloatArray | None = None,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Redrawn shares, one resample a row.

    Parameters
    ----------
    share : ndarray of shape (cells,)
        Shares that sum to 1.
    effective_size : float
        Rows behind them.
    prior_share : ndarray of shape (cells,), optional
        Where one pseudo-row is spread, so that empty cells are uncertain too. The mean of the
        resamples stays `share`.

    Returns
    -------
    ndarray of shape (size, cells)
        Rows sum to 1.

    Examples
    --------
    >>> draws = share_resamples(np.array([0.2, 0.8]), 100.0, size=4000,
    ...                         rng=np.random.default_rng(0))
    >>> bool(abs(draws[:, 0].std() - (0.2 * 0.8 / 101) ** 0.5) < 0.002)
    True
    """
    concentration = share * effective_size
    if prior_share is not None:
        concentration = concentration + prior_share
    total = float(concentration.sum())
    weights = rng.standard_gamma(concentration, size=(size, len(share)))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights + (share - concentration / total))
