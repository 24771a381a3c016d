"""What detectors, and the rule of standard tools, say of simulated streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.simulated import Streams
from pumonitor.monitor.rules.detectors import DEFAULT_DETECTOR, Direction, Scale, scale_of
from pumonitor.monitor.rules.detectors.scales import on_scale, steadied, usual_error
from pumonitor.monitor.rules.detectors.watch import DETECTORS, DetectorState

__all__ = [
    "REFERENCE",
    "WINDOWS_PER_YEAR",
    "Series",
    "begun",
    "continued",
    "false_alarms",
    "onsets",
    "series_of",
    "with_error",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

REFERENCE: Final = 60
WINDOWS_PER_YEAR: Final = 365


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One metric of all streams, on the scale it is judged on.

    Attributes
    ----------
    values, errors : ndarray of shape (streams, windows)
    bounds : ndarray of shape (streams, windows, 2) or None
    """

    values: FloatArray
    errors: FloatArray
    bounds: FloatArray | None

    @property
    def windows(self) -> int:
        """How many there are."""
        return int(self.values.shape[1])


def series_of(
    streams: Streams, metric: str, *, detector: str = DEFAULT_DETECTOR, scale: Scale | None = None
) -> Series:
    """As `Detector` prepares it, on the metric's own scale or on another."""
    usual = usual_error(streams.errors[metric][:, :REFERENCE], streams.labeled[:, :REFERENCE])
    errors = steadied(streams.errors[metric], streams.labeled, usual[:, np.newaxis])
    if DETECTORS[detector].bets:
        scale = "plain"
    values, errors = on_scale(streams.values[metric], errors, scale or scale_of(metric))
    return Series(values=values, errors=errors, bounds=streams.bounds.get(metric))


def begun(
    series: Series, *, direction: Direction, detector: str = DEFAULT_DETECTOR
) -> DetectorState:
    """After the reference, for one false alarm a year."""
    return DetectorState.begun_after(
        series.values[:, :REFERENCE],
        series.errors[:, :REFERENCE],
        np.ones(REFERENCE, dtype=np.intp),
        direction=direction,
        windows_per_alarm=WINDOWS_PER_YEAR,
        detector=detector,
    )


def continued(
    watch: DetectorState, series: Series, windows: range, *, first_gap: int = 1
) -> Iterator[DetectorState]:
    """After each of these windows."""
    for window in windows:
        watch = watch.after(
            series.values[:, window],
            series.errors[:, window],
            gap=first_gap if window == windows.start else 1,
            bounds=None if series.bounds is None else series.bounds[:, window],
        )
        yield watch


def onsets(on: BoolArray) -> NDArray[np.intp]:
    """How often each stream went from no alarm to one."""
    return np.asarray(np.sum(np.diff(on, axis=1, prepend=False) & on, axis=1))


def false_alarms(
    series: Series, *, direction: Direction, detector: str = DEFAULT_DETECTOR
) -> NDArray[np.intp]:
    """Of each stream, in all windows after the reference."""
    watch = begun(series, direction=direction, detector=detector)
    windows = range(REFERENCE, series.windows)
    return onsets(np.array([one.on for one in continued(watch, series, windows)]).T)


def with_error(alarms: NDArray[np.intp]) -> str:
    """Their mean and its standard error."""
    return f"{alarms.mean():.2f} ({alarms.std(ddof=1) / np.sqrt(len(alarms)):.2f})"
