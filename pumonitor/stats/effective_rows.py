"""Effective number of weighted rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def effective_rows(weight: NDArray[np.float64], squares: NDArray[np.float64]) -> float:
    """The number of rows of equal weight whose sum is known as well as that of weighted ones.

    It is the squared sum of weights over the sum of their squares; without weights the number of
    rows.

    Parameters
    ----------
    weight, squares : ndarray
        Sums of the weights and of their squares, by cell.

    References
    ----------
    Kish (1965), Survey Sampling.

    Examples
    --------
    >>> effective_rows(np.array([1.0, 3.0]), np.array([1.0, 9.0]))
    1.6
    """
    return float(weight.sum()) ** 2 / float(squares.sum())
