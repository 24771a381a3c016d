"""Rows reviewed at random with chances that differ among rows of one score.

Why their verdicts are weighted: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.reviews.counts import KINDS

_KNOWN_AS: Final = {
    "positive_complained": "known_positive",
    "positive_silent": "known_positive",
    "cleared_complained": "known_positive",
    "cleared_silent": "known_negative",
}
_AS_KNOWN: Final = np.array([KINDS.index(_KNOWN_AS.get(kind, kind)) for kind in KINDS])
_POSITIVE: Final = KINDS.index("known_positive")
_NEGATIVE: Final = KINDS.index("known_negative")
_ALIKE: Final = 1e-9


def differ(probability: FloatArray) -> bool:
    """Whether the chances with which rows were drawn differ; NaN where a row was not."""
    drawn = probability[~np.isnan(probability)]
    return len(drawn) > 0 and bool(np.ptp(drawn) > _ALIKE * drawn.max())


def as_known(kinds: NDArray[np.intp], probability: FloatArray) -> NDArray[np.intp]:
    """Kinds of rows where those that were drawn are known, and leave their bin."""
    return np.where(np.isnan(probability), kinds, _AS_KNOWN[kinds])


def sums_of_odds(
    kinds: NDArray[np.intp],
    probability: FloatArray,
    *,
    rows: NDArray[np.int64] | None = None,
    index: NDArray[np.intp],
    size: int,
) -> FloatArray:
    """By bin or cell, of drawn rows the odds w of not being drawn: what `effective_verdicts` reads.

    Rows that were drawn and have no verdict stand for others as well: those with one stand for
    these too, each for as many times more as all w are more than theirs.

    Parameters
    ----------
    kinds : ndarray of shape (groups,)
        Those of `as_known`.
    probability : ndarray of shape (groups,)
    rows : ndarray of shape (groups,), optional
        How many rows are so; one each without it.
    index : ndarray of shape (groups,)
        Bin or cell of each, of which there are `size`.

    Returns
    -------
    ndarray of shape (5, size)
        How many with a verdict have w above 0, their sum of w and of its square, and both sums of
        positive ones alone. They add up over bins.
    """
    odds = np.where(np.isnan(probability), 0.0, (1 - probability) / probability)
    number = (odds > 0) * (np.ones(len(kinds)) if rows is None else rows)
    is_positive = kinds == _POSITIVE
    decided = np.where(is_positive | (kinds == _NEGATIVE), number, 0)
    of_decided = float(decided @ odds)
    if of_decided > 0:
        odds = odds * (float(number @ odds) / of_decided)
    number = decided
    weights = [number * odds**power for power in (0, 1, 2)]
    weights += [is_positive * weight for weight in weights[1:]]
    return np.stack(
        [np.bincount(index, weights=weight, minlength=size) for weight in weights]
    ).astype(np.float64)


def effective_verdicts(sums: FloatArray, open_rows: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Positive and negative verdicts that tell as much of the rows of each bin that were not drawn.

    Notes
    -----
    With w the odds of not being drawn, the sum of w over drawn positives is an unbiased estimate
    of the positives among the N rows that were not (Horvitz and Thompson, 1952). With n drawn rows,
    u = w n / N and D = sum u^2 / sum u over all bins, it is as exact as n / D rows drawn with equal
    chances. D is one number: of each bin by itself it would be large just where a row of small
    chance was drawn, and such bins would count for little.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(open_rows > 0, sums[0] / open_rows, 0.0)

    def effect(total: FloatArray, squares: FloatArray) -> float:
        below = float((scale * total).sum())
        return float((scale**2 * squares).sum()) / below if below > 0 else 0.0

    design = max(effect(sums[1], sums[2]), effect(sums[3], sums[4]), 1e-300)
    positive = sums[3] * scale / design
    return positive, np.maximum(sums[0] / design - positive, 0.0)
