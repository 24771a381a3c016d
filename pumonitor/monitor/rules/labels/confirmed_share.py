"""Whether the share of rows that gets confirmed is still what it was in quiet windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

__all__ = ["FEWEST_WINDOWS", "ConfirmedShare", "confirmed_beyond", "share_moved"]

FloatArray = NDArray[np.float64]

FEWEST_WINDOWS: Final = 8
"""Of fewer it is not known how much windows differ by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedShare:
    """Confirmed positives among the rows of a window."""

    labeled: int
    rows: int


def share_moved(now: ConfirmedShare, before: Sequence[ConfirmedShare]) -> float:
    """P-value of "the share confirmed comes from where those of earlier windows came from".

    Parameters
    ----------
    now : ConfirmedShare
    before : sequence of ConfirmedShare
        Of windows in which nothing had changed, their labels as old as those of `now`.

    Returns
    -------
    float
        1 where there are fewer than 8 windows, or none with rows.

    Notes
    -----
    The window's share less the mean of the others, over its standard error: the binomial variance
    of each and the variance between windows (DerSimonian and Laird), the residuals scaled as by
    Hartung and Knapp, Student's t with one degree of freedom less than windows. Taken on the
    arcsine scale and on that of logarithms, and the larger p-value of both: shares that differ
    by factors are skewed on the first, few labels are skewed the other way on the second. With 8
    to 30 windows of 3 to 200 labels that differ by themselves with a standard deviation of 0, .1,
    .3 or .6 of the logarithm, equal windows and unequal, a p-value below .001 came in 0 to .8 of
    1,000 windows in which nothing had changed (60,000 each).

    References
    ----------
    DerSimonian, Laird (1986), Meta-analysis in clinical trials; Hartung, Knapp (2001), A refined
    method for the meta-analysis of controlled clinical trials with binary outcome.

    Examples
    --------
    >>> usual = [ConfirmedShare(labeled=n, rows=1000) for n in (21, 18, 25, 19, 22, 16, 24, 20)]
    >>> share_moved(ConfirmedShare(labeled=27, rows=1000), usual) > 0.05
    True
    >>> share_moved(ConfirmedShare(labeled=90, rows=1000), usual) < 0.001
    True
    """
    earlier = [one for one in before if one.rows > 0]
    if now.rows == 0 or len(earlier) < FEWEST_WINDOWS:
        return 1.0
    labeled = np.array([*(one.labeled for one in earlier), now.labeled], dtype=np.float64)
    rows = np.array([*(one.rows for one in earlier), now.rows], dtype=np.float64)
    on_arcsine = np.arcsin(np.sqrt((labeled + 0.375) / (rows + 0.75)))
    usual = (labeled[:-1].sum() + 0.5) / rows[:-1].sum()
    on_log = np.log((labeled + 0.5) / rows)
    return max(
        _p_value(on_arcsine, 0.25 / (rows + 0.5)),
        _p_value(on_log, 1 / (usual * rows + 0.5)),
    )


def confirmed_beyond(now: ConfirmedShare, class_prior: float) -> float:
    """P-value of "no more rows are positive than this": as many or more are confirmed by chance.

    Examples
    --------
    >>> confirmed_beyond(ConfirmedShare(labeled=40, rows=1000), 0.02) < 0.001
    True
    """
    return float(stats.binom.sf(now.labeled - 1, now.rows, class_prior))


def _p_value(values: FloatArray, variances: FloatArray) -> float:
    """Of the last value among the others."""
    others, own = values[:-1], variances[:-1]
    degrees = len(others) - 1
    weights = 1 / own
    total = weights.sum()
    mean = weights @ others / total
    room = total - weights @ weights / total
    between = max((weights @ (others - mean) ** 2 - degrees) / room, 0.0)
    weights = 1 / (own + between)
    total = weights.sum()
    mean = weights @ others / total
    scale = max(weights @ (others - mean) ** 2 / degrees, 1.0)
    error = np.sqrt(scale * (between + variances[-1] + 1 / total))
    return float(2 * special.stdtr(degrees, -abs(values[-1] - mean) / error))
