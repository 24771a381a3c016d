"""Draws by weight at equal steps of its sum, which vary less than independent ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_systematically(
    log_weight: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Indices drawn by their weight, in random order.

    Parameters
    ----------
    log_weight : ndarray of shape (n,)
        Up to a constant.
    size : int
    rng : Generator

    Examples
    --------
    >>> drawn = draw_systematically(np.log([1.0, 3.0]), 8, np.random.default_rng(0))
    >>> np.bincount(drawn).tolist()
    [2, 6]
    """
    levels = np.cumsum(np.exp(log_weight - log_weight.max()))
    steps = (np.arange(size) + rng.random()) / size * levels[-1]
    return rng.permutation(np.minimum(np.searchsorted(levels, steps), len(levels) - 1))
