"""Evidence that rows cannot be a part of others: somewhere they are more than these."""

from __future__ import annotations

from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray

_MOST_SHARE: Final = 0.7
_STEPS: Final = 300
_LEAST: Final = 1e-12
_BY_CHANCE: Final = 3.0
"""What chance makes of counts that just reach the share in several cells."""


def excess(part: FloatArray, *, of: FloatArray, share: float) -> float:
    """Log likelihood ratio against `part` being a sample of a share of what `of` is a sample of.

    Parameters
    ----------
    part, of : ndarray of shape (cells,)
        Counts of two independent samples, by score.
    share : float
        Share of the population behind `of` that the population behind `part` makes up; a share
        above 0.7 counts as 0.7, as then chance alone would look like an excess.

    Returns
    -------
    float
        0 or more, what chance would make of it left out; large where `part` has more rows in some
        cells than that share allows.

    Notes
    -----
    If g is the distribution of the part and h that of the rest, `of` is distributed as
    share g + (1 - share) h. Any h >= 0 is allowed, so the hypothesis says share g <= f cell by
    cell. g and h are fitted by expectation and maximisation, and compared with two distributions
    that are free.

    Examples
    --------
    Half of a population may be distributed otherwise than all of it, but not as here.

    >>> whole = np.array([10.0, 90.0])
    >>> excess(np.array([15.0, 35.0]), of=whole, share=0.5)
    0.0
    >>> round(excess(np.array([45.0, 5.0]), of=whole, share=0.5))
    19
    """
    share = min(share, _MOST_SHARE)
    kept = (part + of) > 0
    part, of = part[kept], of[kept]
    if not part.sum() or not of.sum():
        return 0.0
    g = (part + 0.5) / (part + 0.5).sum()
    h = (of + 0.5) / (of + 0.5).sum()
    for _ in range(_STEPS):
        mixed = share * g + (1 - share) * h
        own = of * share * g / mixed
        g = np.maximum((part + own) / (part.sum() + own.sum()), _LEAST)
        h = np.maximum((of - own) / (of - own).sum(), _LEAST)
    mixed = share * g + (1 - share) * h
    fitted = _log_likelihood(part, g) + _log_likelihood(of, mixed)
    free = _log_likelihood(part, part) + _log_likelihood(of, of)
    return max(free - fitted - _BY_CHANCE, 0.0)


def _log_likelihood(counts: FloatArray, shares: FloatArray) -> float:
    seen = counts > 0
    return float((counts[seen] * np.log(shares[seen] / shares.sum())).sum())
