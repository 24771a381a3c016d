"""Tests whether a window's confirmed share differs from that of earlier windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray

FEWEST_WINDOWS: Final = 8
"""With fewer windows the usual variation between them is not known well enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedShare:
    """Number of confirmed positives and of rows in a window."""

    labeled: int
    rows: int


def share_moved(now: ConfirmedShare, before: Sequence[ConfirmedShare]) -> float:
    """P-value of the null hypothesis that a window's confirmed share is as in earlier windows.

    Parameters
    ----------
    now : ConfirmedShare
    before : sequence of ConfirmedShare
        Earlier windows in which nothing changed, at the same label age as `now`.

    Returns
    -------
    float
        1 if there are fewer than 8 earlier windows with rows, or `now` has none.

    Notes
    -----
    The statistic is the window's share less the mean of the others, over its standard error. That
    includes the binomial variance of each window and the variance between windows (DerSimonian and
    Laird), with the residuals scaled as by Hartung and Knapp. It has Student's distribution with
    one degree of freedom less than windows. The test is done on the arcsine scale and on the log
    scale, and the larger p-value is returned: shares that vary by factors are skewed on the first
    scale, and few labels are skewed the other way on the second. Checked with 8 to 30 windows of 3
    to 200 labels and a standard deviation between windows of 0, .1, .3 or .6 of the logarithm: 0 to
    .8 of 1,000 unchanged windows had a p-value below .001 (60,000 windows each).

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
    """P-value of the null hypothesis that the true class prior is at most `class_prior`.

    It is the probability of as many or more confirmed positives if that share of rows is positive.

    Examples
    --------
    >>> confirmed_beyond(ConfirmedShare(labeled=40, rows=1000), 0.02) < 0.001
    True
    """
    if now.labeled < 1:
        return 1.0
    return float(special.betainc(now.labeled, now.rows - now.labeled + 1, class_prior))


def _p_value(values: FloatArray, variances: FloatArray) -> float:
    """Two-sided p-value of the last value given the others."""
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
