"""Whether two score distributions of the same population agree, by two moments of the rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray

LEVEL = 0.001
"""Level of every test of significance among the diagnostics: with a handful of them, clean data
set off one in less than one run of a hundred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftTest:
    """Outcome of a test of two differences that should both be zero.

    Attributes
    ----------
    shift : float
        P(a row of one scores higher than a row of the other), ties one half, less 1/2.
    spread : float
        Positive when the one lies further out at both ends; between -1/2 and 1/2.
    p_value : float
        Of both being zero.
    """

    shift: float
    spread: float
    p_value: float

    @property
    def size(self) -> float:
        """The larger of the two in absolute value."""
        return max(abs(self.shift), abs(self.spread))


def rank_moments(one: FloatArray, other: FloatArray) -> FloatArray:
    """Rank r of each cell in the even mixture of two distributions, and (2 r - 1)^2 / 2.

    Shape (2, cells). Means of both moments are compared: the difference of the mean ranks is
    P(one higher than other) - 1/2, and the two are uncorrelated if the distributions are equal.
    """
    mixture = 0.5 * (one / one.sum() + other / other.sum())
    rank = np.cumsum(mixture) - 0.5 * mixture
    return np.stack([rank, 0.5 * (2 * rank - 1) ** 2])


def shift_test(
    difference: FloatArray,
    covariance: FloatArray,
    *,
    rows: float | None = None,
    slack: FloatArray | None = None,
) -> ShiftTest:
    """Chi-square test with two degrees of freedom, or Hotelling's for a covariance of few rows.

    Parameters
    ----------
    difference : ndarray of shape (2,)
    covariance : ndarray of shape (2, 2)
        Of the differences when they are zero on average.
    rows : float, optional
        Effective rows the covariance was estimated from; with up to two nothing is significant.
    slack : ndarray of shape (2,), optional
        What something known (bins, for example) can contribute to each difference at most; it is
        taken off before testing.

    Examples
    --------
    >>> test = shift_test(np.array([0.03, 0.0]), np.diag([0.01**2, 0.01**2]))
    >>> round(test.p_value, 4)  # exp(-9 / 2)
    0.0111
    """
    left = difference
    if slack is not None:
        left = np.sign(difference) * np.maximum(np.abs(difference) - slack, 0.0)
    ridge = 1e-12 * max(float(np.trace(covariance)), 1e-300)
    statistic = float(left @ np.linalg.solve(covariance + ridge * np.eye(2), left))
    if rows is None:
        p_value = float(special.chdtrc(2, statistic))
    elif rows <= 2:
        p_value = 1.0
    else:
        freedom = rows - 2
        p_value = float(special.fdtrc(2, freedom, statistic * freedom / (2 * (rows - 1))))
    return ShiftTest(shift=float(left[0]), spread=float(left[1]), p_value=p_value)
