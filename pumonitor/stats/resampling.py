"""Bayesian bootstrap of a table: the share of each cell redrawn.

A cell's weight is redrawn from a gamma distribution with the mean and the variance it has over
repeated samples; normalised, unweighted cells follow a Dirichlet distribution. It takes weights as
well as counts, and with a pseudo-row spread over the cells no cell is certain.
"""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray


def share_resamples(
    weight: FloatArray,
    squares: FloatArray,
    *,
    pseudo_row: FloatArray | None = None,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Redrawn shares, one resample a row.

    Parameters
    ----------
    weight, squares : ndarray of shape (cells,)
        Sum of the weights and of their squares in each cell; equal for rows without weights.
    pseudo_row : ndarray of shape (cells,), optional
        Shares that sum to 1, by which one row of average weight is spread over the cells, so that
        empty cells are uncertain too. The mean of the resamples stays the data's.

    Returns
    -------
    ndarray of shape (size, cells)
        Rows sum to 1. After the pseudo-row is taken off again a share can be just below 0.

    Examples
    --------
    >>> counts = np.array([20.0, 80.0])
    >>> draws = share_resamples(counts, counts, size=4000, rng=np.random.default_rng(0))
    >>> bool(abs(draws[:, 0].std() - (0.2 * 0.8 / 101) ** 0.5) < 0.002)
    True
    """
    redrawn = weight_resamples(weight, squares, pseudo_row=pseudo_row, size=size, rng=rng)
    redrawn /= redrawn.sum(axis=1, keepdims=True)
    if pseudo_row is None:
        return redrawn
    mean, _ = _with_pseudo_row(weight, squares, pseudo_row)
    return np.asarray(redrawn + (weight / weight.sum() - mean / mean.sum()))


def weight_resamples(
    weight: FloatArray,
    squares: FloatArray,
    *,
    pseudo_row: FloatArray | None = None,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """The redrawn weights of which `share_resamples` makes shares; their totals vary too.

    Parameters, shape
        As there.
    """
    mean, variance = weight, squares
    if pseudo_row is not None:
        mean, variance = _with_pseudo_row(weight, squares, pseudo_row)
    shape = np.divide(mean**2, variance, out=np.zeros_like(mean), where=variance > 0)
    scale = np.divide(variance, mean, out=np.zeros_like(mean), where=mean > 0)
    return np.asarray(rng.standard_gamma(shape, size=(size, len(weight))) * scale)


def _with_pseudo_row(
    weight: FloatArray, squares: FloatArray, pseudo_row: FloatArray
) -> tuple[FloatArray, FloatArray]:
    average = float(squares.sum()) / float(weight.sum())
    return weight + average * pseudo_row, squares + average**2 * pseudo_row
