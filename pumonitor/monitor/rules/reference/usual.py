"""What is usual of a metric in the windows of a reference, and how far they differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.monitor.rules.reference.uncertain import Uncertain

__all__ = ["LEVEL", "REACH", "FloatArray", "Usual", "exact"]

FloatArray = NDArray[np.float64]
LEVEL: Final = 0.95
REACH: Final = float(special.ndtri(0.975))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """A metric in the windows of a reference.

    Attributes
    ----------
    value : float
        Mean of the windows' values.
    below, above : float
        Standard deviations of what windows differ by, beyond their own sampling errors, to each
        side of the mean.
    mean_error : float
        Standard error of the mean.
    windows : int
    confidence_level : float

    Notes
    -----
    The windows' spread S is known from so many windows, so its multiple is Student's with
    ``windows - 1`` degrees of freedom. A new window with a sampling error like theirs then has the
    prediction interval of a normal sample, value -/+ t S sqrt(1 + 1 / windows). Where the values
    vary less than their stated errors s, these are partly in common, as those of one followed class
    prior are, and their mean is no better known for being one of many: its variance is S^2 over the
    number of windows, and s^2 - S^2. Days that rank badly are further off than days that rank well,
    so S^2 is at least the mean square of the deviations to its own side: AUL of quiet days (50
    confirmed, 30 or 60 windows) was below the interval in 3.0 to 3.4% of them, and in 4.6% before.
    """

    value: float
    below: float
    above: float
    mean_error: float
    windows: int
    confidence_level: float = LEVEL

    @classmethod
    def of(
        cls, values: FloatArray, errors: FloatArray, *, confidence_level: float = LEVEL
    ) -> Usual:
        """From the windows' values and their standard errors by sampling.

        Every window counts the same: weights by stated errors follow the values, since a share
        that is low by chance states a small error, and the mean would be too low.

        Examples
        --------
        >>> usual = Usual.of(np.array([0.80, 0.84, 0.82, 0.78]), np.full(4, 0.01))
        >>> round(usual.value, 3), round(usual.below, 4), round(usual.mean_error, 4)
        (0.81, 0.0238, 0.0129)
        """
        spread, stated = float(np.var(values, ddof=1)), float(np.mean(errors**2))
        off = values - np.mean(values)
        sides = (max(spread, _mean_square_above_0(side * off)) for side in (-1, 1))
        below, above = (math.sqrt(max(side - stated, 0.0)) for side in sides)
        return cls(
            value=float(np.mean(values)),
            below=below,
            above=above,
            mean_error=math.sqrt(spread / len(values) + max(stated - spread, 0.0)),
            windows=len(values),
            confidence_level=confidence_level,
        )

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the windows' spread."""
        return self.windows - 1

    @property
    def reach(self) -> float:
        """Standard deviations from the middle to the end of an interval."""
        return float(special.stdtrit(self.freedom, 0.5 + 0.5 * self.confidence_level))

    @property
    def low(self) -> float:
        """Lower end of where a window of the reference is without its sampling error."""
        return self.value - self.reach * math.hypot(self.below, self.mean_error)

    @property
    def high(self) -> float:
        """Upper end of it."""
        return self.value + self.reach * math.hypot(self.above, self.mean_error)


def _mean_square_above_0(values: FloatArray) -> float:
    """Of those above 0, and half of those at it."""
    number = float(np.sum(values > 0) + 0.5 * np.sum(values == 0))
    return float(np.sum(np.maximum(values, 0.0) ** 2)) / number if number else 0.0


def exact(value: float) -> Uncertain:
    """A number that is known."""
    return Uncertain(value=value, low=value, high=value, se=0.0)
