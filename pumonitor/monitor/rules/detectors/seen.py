"""One window of many series, with what was expected of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.rules.detectors.standardise import Expected

__all__ = ["Seen"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What there is to judge a window by.

    Attributes
    ----------
    value : ndarray of shape (series,)
    expected : Expected
    level, level_spread : ndarray of shape (series,)
        The level known from earlier windows, and its standard deviation; 0 where nobody bets.
    bounds : ndarray of shape (series, 2)
        What a single placement can be; NaN where nobody said.
    """

    value: FloatArray
    expected: Expected
    level: FloatArray
    level_spread: FloatArray
    bounds: FloatArray
