"""Rows reviewed at random with chances that differ among rows of one score.

Why their verdicts are weighted: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.reviews.counts import KINDS

__all__ = ["as_known", "differ", "effective_verdicts", "sums_of_odds"]

FloatArray = NDArray[np.float64]

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
    place: NDArray[np.intp],
    places: int,
) -> FloatArray:
    """By bin or cell: odds of not being drawn of positive and of negative rows, and their squares.

    Parameters
    ----------
    kinds : ndarray of shape (groups,)
        Those of `as_known`.
    probability : ndarray of shape (groups,)
    rows : ndarray of shape (groups,), optional
        How many rows are so; one each without it.
    place : ndarray of shape (groups,)
        Bin or cell of each, of so many `places`.

    Returns
    -------
    ndarray of shape (3, places)
        They add up over bins.
    """
    odds = np.where(np.isnan(probability), 0.0, (1 - probability) / probability)
    number = np.ones(len(kinds)) if rows is None else rows
    is_told = (kinds == _POSITIVE) | (kinds == _NEGATIVE)
    weights = (
        number * odds * (kinds == _POSITIVE),
        number * odds * (kinds == _NEGATIVE),
        number * odds**2 * is_told,
    )
    return np.stack(
        [np.bincount(place, weights=weight, minlength=places) for weight in weights]
    ).astype(np.float64)


def effective_verdicts(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positive and negative verdicts that tell as much of the rows of a bin that were not drawn.

    Of weights w their number is (sum w)^2 / (sum w^2), as many as there are where all are equal
    (Kish, 1965).
    """
    total = sums[0] + sums[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(sums[2] > 0, total / sums[2], 0.0)
    return sums[0] * scale, sums[1] * scale
