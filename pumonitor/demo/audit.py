"""A share estimated by checking a random sample by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

AUDITED_MAILS = 300

_AUDIT_SEED = 300


def audited_spam(truth: ArrayLike, *, size: int = AUDITED_MAILS) -> int:
    """How many of a random sample are positive.

    Parameters
    ----------
    truth, size
        As of `audited_share`.
    """
    rng = np.random.default_rng(_AUDIT_SEED)
    return int(rng.choice(np.asarray(truth), size=size, replace=False).sum())


def audited_share(truth: ArrayLike, *, size: int = AUDITED_MAILS) -> tuple[float, float, float]:
    """Share of positives in a random sample, with its 95% interval (Wilson).

    Parameters
    ----------
    truth : array-like of shape (n,)
        1 or 0; only `size` of them, drawn with a fixed seed, are looked at.
    size : int
        Rows checked, 0 < size <= n.

    Returns
    -------
    value, low, high : float

    Examples
    --------
    >>> value, low, high = audited_share([1, 0, 0, 0, 0] * 200)
    >>> low < 0.2 < high
    True
    """
    from scipy.stats import binomtest

    found = binomtest(audited_spam(truth, size=size), size)
    interval = found.proportion_ci(method="wilson")
    return float(found.statistic), float(interval.low), float(interval.high)
