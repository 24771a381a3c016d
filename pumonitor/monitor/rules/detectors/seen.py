"""One window of many series, with the filter's prediction for it."""

from __future__ import annotations

from dataclasses import dataclass

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.standardise import Expected


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """A window's values and what earlier windows predicted.

    Attributes
    ----------
    value : ndarray of shape (series,)
    expected : Expected
        Prediction from earlier windows, and the standardised value.
    level, level_spread : ndarray of shape (series,)
        Level estimated from earlier windows, and its standard deviation; 0 unless betting.
    bounds : ndarray of shape (series, 2)
        Bounds of a single placement; NaN if not given.
    """

    value: FloatArray
    expected: Expected
    level: FloatArray
    level_spread: FloatArray
    bounds: FloatArray
