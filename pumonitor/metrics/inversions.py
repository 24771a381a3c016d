"""Share of inversions: how often an estimate picks the worse of two models."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray


def share_of_inversions(estimated: ArrayLike, truth: ArrayLike) -> float | FloatArray:
    """Share of pairs of models that the estimate orders against the truth.

    What model selection by an estimate costs: 0 when it ranks the models as the truth does, one
    half for a coin toss. It counts a wrong order of two nearly equal models as much as one of two
    models far apart.

    Parameters
    ----------
    estimated : array-like of shape (..., models)
        A metric of each model as estimated; higher is better. Leading axes are repetitions.
    truth : array-like of shape (..., models)
        The metric itself; broadcasts against `estimated`.

    Returns
    -------
    float or ndarray of shape (...)
        In [0, 1]. Pairs that tie in `truth` are left out, since neither order of them is wrong;
        pairs that tie in `estimated` alone count one half. NaN when all pairs tie in `truth`.

    Raises
    ------
    ValueError
        If there are fewer than two models, or any number is NaN or infinite.

    Notes
    -----
    Knight's algorithm for Kendall's tau, O(k log k) for k models: with models in the order of the
    truth, the inversions of the estimate are counted while it is merge-sorted. Equal to
    (1 - D) / 2 with D Somers' D of the estimate given the truth.

    References
    ----------
    Tabatabaei, Klein, Hoogendoorn (2020), section 5.2 (percentage of inversions; it leaves ties
    open).

    Examples
    --------
    >>> share_of_inversions([0.61, 0.70, 0.65], [0.60, 0.64, 0.68])
    0.3333333333333333
    >>> share_of_inversions([[0.1, 0.2, 0.3], [0.2, 0.2, 0.1]], [0.5, 0.6, 0.7]).round(3).tolist()
    [0.0, 0.833]
    """
    first, second = np.broadcast_arrays(
        _finite(estimated, name="estimated"), _finite(truth, name="truth")
    )
    models = first.shape[-1]
    if models < 2:
        msg = f"share_of_inversions compares two models or more, got {models}"
        raise ValueError(msg)
    # In the order of the truth; ties in it by the estimate, so that they show no inversion.
    order = np.lexsort((first, second), axis=-1)
    by_truth = np.take_along_axis(second, order, axis=-1)
    in_order = np.take_along_axis(first, order, axis=-1)
    by_estimate = np.sort(first, axis=-1)
    tied_truth = _tied_pairs(_same_as_before(by_truth))
    tied_both = _tied_pairs(_same_as_before(by_truth) & _same_as_before(in_order))
    tied_estimate = _tied_pairs(_same_as_before(by_estimate))
    wrong = _inversions(in_order) + 0.5 * (tied_estimate - tied_both)
    with np.errstate(invalid="ignore"):
        share = wrong / (0.5 * models * (models - 1) - tied_truth)
    return float(share) if share.ndim == 0 else np.asarray(share)


def _finite(values: ArrayLike, *, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        msg = f"{name} must hold one number per model, got the single number {float(array):g}"
        raise ValueError(msg)
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(part) for part in np.argwhere(bad)[0])
        msg = (
            f"{name} has {int(bad.sum())} values of {array.size} that are NaN or infinite, first "
            f"at index {where[0] if len(where) == 1 else where}: leave models without a value out"
        )
        raise ValueError(msg)
    return array


def _same_as_before(ordered: FloatArray) -> NDArray[np.bool_]:
    """Whether each value equals the one before it."""
    same = np.zeros(ordered.shape, dtype=bool)
    same[..., 1:] = ordered[..., 1:] == ordered[..., :-1]
    return same


def _tied_pairs(same: NDArray[np.bool_]) -> FloatArray:
    """Pairs inside runs: each value makes one with every earlier one of its run."""
    position = np.arange(same.shape[-1])
    begins = np.maximum.accumulate(np.where(same, 0, position), axis=-1)
    return np.asarray((position - begins).sum(axis=-1), dtype=np.float64)


def _inversions(values: FloatArray) -> FloatArray:
    """Pairs i < j with values[i] > values[j], counted while merging blocks twice as wide.

    In a merge of two sorted blocks of `width`, the j-th value from the right that ends up at
    position p has p - j of the left before it, hence width - (p - j) greater ones.
    """
    models = values.shape[-1]
    levels = (models - 1).bit_length()
    padding = [(0, 0)] * (values.ndim - 1) + [(0, 2**levels - models)]
    merged = np.pad(values, padding, constant_values=np.inf)
    shape = merged.shape
    total = np.zeros(values.shape[:-1])
    for level in range(levels):
        width = 2**level
        blocks = merged.reshape(*shape[:-1], -1, 2 * width)
        # Stable, and on two sorted runs a plain merge.
        order = np.argsort(blocks, axis=-1, kind="stable")
        position = np.arange(2 * width)
        of_right = np.sum(np.where(order >= width, position, 0), axis=-1)
        greater = width * width + width * (width - 1) // 2 - of_right
        total += greater.sum(axis=-1)
        merged = np.take_along_axis(blocks, order, axis=-1).reshape(shape)
    return total
