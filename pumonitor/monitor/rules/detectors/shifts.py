"""Log likelihood ratios of shifts of a few sizes, for normal estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.seen import Seen

Direction = Literal["down", "up", "any"]

SIZES: Final = (0.35, 0.7, 1.4, 2.8, 5.6)
"""Sizes of the tested shifts, in standard deviations of a usual window."""


def signs_of(direction: Direction) -> FloatArray:
    """Signs of the changes in a direction: -1 for a fall, 1 for a rise.

    Raises
    ------
    ValueError
        If the direction is unknown.
    """
    if direction not in get_args(Direction):
        msg = f"direction must be one of {', '.join(get_args(Direction))}, got {direction!r}"
        raise ValueError(msg)
    signs = {"down": (-1.0,), "up": (1.0,), "any": (-1.0, 1.0)}
    return np.array(signs[direction])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shifts:
    """The tested shifts of each series.

    Attributes
    ----------
    signs : ndarray of shape (shifts,)
        -1 for a fall, 1 for a rise.
    shifts : ndarray of shape (series, shifts)
        Signed sizes in the unit of the estimates.
    """

    signs: FloatArray
    shifts: FloatArray

    @classmethod
    def of(cls, direction: Direction, *, spread: FloatArray) -> Shifts:
        """Shifts of `SIZES` times the standard deviation of a usual window of each series."""
        signs = np.repeat(signs_of(direction), len(SIZES))
        sizes = np.resize(SIZES, len(signs))
        return cls(signs=signs, shifts=signs * sizes * spread[:, np.newaxis])

    def log_ratios(self, seen: Seen) -> FloatArray:
        """Log likelihood ratio of each shift to no shift: d z - d^2 / 2 with d = shift / spread.

        Its exponential has mean 1 while nothing changes, whatever the spread.
        """
        size = self.shifts / seen.expected.spread[:, np.newaxis]
        return np.asarray(size * seen.expected.z[:, np.newaxis] - 0.5 * size**2)
