"""Detector of a lasting change in one series, stepped window by window."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.change_size import ChangeSize
from pumonitor.monitor.rules.detectors.detection import Detection, Observation
from pumonitor.monitor.rules.detectors.scales import (
    Scale,
    check_scale,
    from_scale,
    on_scale,
    steadied,
    usual_error,
)
from pumonitor.monitor.rules.detectors.shifts import Direction, signs_of
from pumonitor.monitor.rules.detectors.standardise import Standardiser
from pumonitor.monitor.rules.detectors.watch import DETECTORS, DetectorState

DEFAULT_DETECTOR: Final = next(iter(DETECTORS))

_FEWEST: Final = 5
# The size of a change is estimated from at most this many windows.
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """An observation with a value and its standard error, 0 if not known."""

    index: int
    value: float
    error: float
    labeled: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """A window after the reference, with the filter's state before it and its prediction error."""

    read: _Read
    gap: int
    before: Standardiser
    off: float
    spread: float


class Detector:
    """Sequential detector of a lasting change in one series of estimates.

    Parameters
    ----------
    reference_windows : int
        Number of observations with a value that form the reference; at least 5.
    direction : {"down", "up", "any"}
        Direction of the changes to detect.
    false_alarms_per_year : float
        Chosen rate of false alarms while nothing changes.
    windows_per_year : float
        365 for daily windows.
    detector : {"shiryaev-roberts", "cusum", "betting"}
        "shiryaev-roberts" is the fastest. "betting" assumes no distribution of placements within
        their bounds; it only needs their mean.
    scale : {"plain", "logit", "log"}
        Scale on which errors are nearly normal (`scale_of` of the metric). Betting always uses
        "plain".

    Raises
    ------
    ValueError
        If an option is unknown or out of range.

    Notes
    -----
    - A window without a value only increases the distance to the next one.
    - During a breach the detector does not learn. The breach ends when windows are like the
      reference again, even after months. To accept the new level, configure a new reference.
    - A window more than four standard deviations off is not learned from.

    `python -m benchmarks.detection` measures false alarms and detection delays.

    Examples
    --------
    >>> values = [0.80, 0.82, 0.79, 0.81, 0.80, 0.81, 0.79, 0.80, 0.70, 0.71, 0.69]
    >>> detector = Detector(
    ...     reference_windows=6, direction="down", false_alarms_per_year=1, windows_per_year=52
    ... )
    >>> found = [
    ...     detector.step(Observation(index=at, value=value, se=0.01))
    ...     for at, value in enumerate(values)
    ... ]
    >>> [one.kind for one in found[5:]]
    ['learning', 'good', 'good', 'breach', 'breach', 'breach']
    >>> found[-1].since, round(found[-1].size, 2)
    (8, -0.1)
    """

    def __init__(
        self,
        *,
        reference_windows: int,
        direction: Direction,
        false_alarms_per_year: float,
        windows_per_year: float,
        detector: str = DEFAULT_DETECTOR,
        scale: Scale = "plain",
    ) -> None:
        if detector not in DETECTORS:
            msg = f"detector must be one of {', '.join(DETECTORS)}, got {detector!r}"
            raise ValueError(msg)
        signs_of(direction)
        check_scale(scale)
        if reference_windows < _FEWEST:
            msg = f"reference_windows must be at least {_FEWEST}, got {reference_windows}"
            raise ValueError(msg)
        for name, rate in (
            ("false_alarms_per_year", false_alarms_per_year),
            ("windows_per_year", windows_per_year),
        ):
            if not 0 < rate < math.inf:
                msg = f"{name} must be positive and finite, got {rate:g}"
                raise ValueError(msg)
        self._detector = detector
        self._bets = DETECTORS[detector].bets
        self._direction: Direction = direction
        self._windows_per_alarm = windows_per_year / false_alarms_per_year
        self._reference_windows = reference_windows
        self._scale: Scale = "plain" if self._bets else scale
        self._limit = DETECTORS[detector].statistic(1, 1, self._windows_per_alarm).limit
        self._last: int | None = None
        self._reference: tuple[_Read, ...] = ()
        self._usual_error: FloatArray | None = None
        self._usual_stated = 0.0
        self._watch: DetectorState | None = None
        self._last_seen = 0
        self._past: tuple[_Past, ...] = ()
        self._change: ChangeSize | None = None
        self._since = 0

    def copy(self) -> Detector:
        """A detector with the same state; stepping one does not affect the other."""
        return copy.copy(self)

    def step(self, observation: Observation) -> Detection:
        """Take in the next observation and return its detection.

        Raises
        ------
        ValueError
            If the index does not ascend, value or standard error are impossible, or "betting" gets
            no bounds.
        """
        index = observation.index
        if self._last is not None and index <= self._last:
            msg = f"indices must ascend, got window {index} after window {self._last}"
            raise ValueError(msg)
        _check(observation, bets=self._bets)
        self._last = index
        if observation.value is None or math.isnan(observation.value):
            return Detection(index=index, kind="missing", limit=self._limit)
        read = _Read(
            index=index,
            value=observation.value,
            error=_number(observation.se),
            labeled=observation.n_labeled,
        )
        if self._watch is None:
            self._reference = (*self._reference, read)
            if len(self._reference) == self._reference_windows:
                self._learn()
            return Detection(index=index, kind="learning", limit=self._limit)
        return self._detection(self._watch, read, observation.bounds)

    def _learn(self) -> None:
        """Learn level and variation from the complete reference."""
        errors = np.array([[one.error for one in self._reference]])
        known = np.array([one.labeled is not None for one in self._reference])
        if known.all() and (errors > 0).all():
            labeled = np.array([[float(one.labeled or 0) for one in self._reference]])
            self._usual_error = usual_error(errors, labeled)
        stated = errors[errors > 0]
        # Without standard errors the windows' standard deviation takes their place.
        spread = float(np.std([one.value for one in self._reference], ddof=1))
        self._usual_stated = float(np.median(stated)) if len(stated) else spread
        reference = [self._on_scale(one) for one in self._reference]
        self._watch = DetectorState.begun_after(
            np.array([[value for value, _ in reference]]),
            np.array([[error for _, error in reference]]),
            np.diff([one.index for one in self._reference], prepend=0),
            direction=self._direction,
            windows_per_alarm=self._windows_per_alarm,
            detector=self._detector,
        )
        self._last_seen = self._reference[-1].index

    def _on_scale(self, read: _Read) -> tuple[float, float]:
        """Value and standard error of an observation on the detector's scale."""
        error = np.array([read.error or self._usual_stated])
        if self._usual_error is not None and read.labeled is not None:
            error = steadied(error, np.array([read.labeled]), self._usual_error)
        value, error = on_scale(np.array([read.value]), error, self._scale)
        return float(value[0]), float(error[0])

    def _detection(
        self, watch: DetectorState, read: _Read, bounds: tuple[float, float] | None
    ) -> Detection:
        value, error = self._on_scale(read)
        gap = read.index - self._last_seen
        after = watch.after(
            np.array([value]),
            np.array([error]),
            gap=gap,
            bounds=None if bounds is None else np.array([bounds]),
        )
        self._watch, self._last_seen = after, read.index
        expected = after.expected
        if expected is None:  # for the type: a watch has seen the window it is after
            raise AssertionError
        past = _Past(
            read=read,
            gap=gap,
            before=watch.standardiser,
            off=value - float(expected.mean[0]),
            spread=float(expected.spread[0]),
        )
        self._follow(past, watch, after)
        on = bool(after.on[0])
        statistic = float(after.statistic.statistic()[0])
        if on:
            statistic = self._limit * float(after.left[0]) / after.full
        found = Detection(
            index=read.index,
            kind="breach" if on else "good",
            limit=self._limit,
            statistic=statistic,
            z=float(expected.z[0]),
            expected=from_scale(float(expected.mean[0]), self._scale),
        )
        return self._with_change(found, after) if on else found

    def _follow(self, past: _Past, watch: DetectorState, after: DetectorState) -> None:
        """Update the windows kept for, and the estimate of, the size of a change."""
        if not after.on[0]:
            self._change = None
            # The earliest window at which any of the changes may have begun.
            kept = after.windows - int(after.begun[0].min())
            self._past = (*self._past, past)[-min(kept, _LONGEST) :]
            return
        if not watch.on[0]:
            falls = after.evidence.signs[after.change[0]] < 0
            since = _since((*self._past, past), sign=-1.0 if falls else 1.0)
            first = since[0]
            self._since = first.read.index
            # Undo what was learned from windows of the change before it was detected.
            windows = past.read.index - first.read.index + first.gap
            self._watch = replace(after, standardiser=first.before.ahead(windows))
            self._change = ChangeSize.from_window(since[0].before)
            self._past = ()
        else:
            since = (past,)
        if self._change is not None:
            for one in since:
                value, error = self._on_scale(one.read)
                self._change = self._change.after(value, error, gap=one.gap)

    def _with_change(self, found: Detection, after: DetectorState) -> Detection:
        if self._change is None:
            return found
        before = self._change.before
        start = from_scale(before, self._scale)
        size, low, high = (
            from_scale(before + shift, self._scale) - start for shift in self._change.estimate()
        )
        falls = after.evidence.signs[after.change[0]] < 0
        return replace(
            found,
            expected=start,
            direction="down" if falls else "up",
            since=self._since,
            size=size,
            size_low=low,
            size_high=high,
        )


def detect(
    series: Sequence[Observation],
    *,
    reference_windows: int,
    direction: Direction,
    false_alarms_per_year: float,
    windows_per_year: float,
    detector: str = DEFAULT_DETECTOR,
    scale: Scale = "plain",
) -> list[Detection]:
    """Run a detector over a whole series.

    Parameters
    ----------
    series : sequence of Observation
        Sorted by index.
    reference_windows, direction, false_alarms_per_year, windows_per_year, detector, scale
        As in `Detector`.

    Returns
    -------
    list of Detection
        One for each observation.

    Raises
    ------
    ValueError
        If an option or an observation is invalid.
    """
    one = Detector(
        reference_windows=reference_windows,
        direction=direction,
        false_alarms_per_year=false_alarms_per_year,
        windows_per_year=windows_per_year,
        detector=detector,
        scale=scale,
    )
    return [one.step(observation) for observation in series]


def _since(past: tuple[_Past, ...], *, sign: float) -> tuple[_Past, ...]:
    """The windows since the most likely begin of a shift in the direction `sign`."""
    weights = np.array([one.spread**-2 for one in past])
    off = sign * np.cumsum((weights * [one.off for one in past])[::-1])[::-1]
    explained = off / np.sqrt(np.cumsum(weights[::-1])[::-1])
    return past[int(np.argmax(explained)) :]


def _number(number: float | None) -> float:
    return 0.0 if number is None or math.isnan(number) else number


def _check(observation: Observation, *, bets: bool) -> None:
    """Raise ValueError if the numbers of an observation are impossible."""
    value, where = observation.value, f"window {observation.index}"
    if value is None or math.isnan(value):
        return
    error = _number(observation.se)
    if math.isinf(value) or math.isinf(error) or error < 0:
        msg = (
            f"{where}: value must be finite and se finite and not negative, "
            f"got value={value:g}, se={error:g}; give value=None where there is none"
        )
        raise ValueError(msg)
    if not bets:
        return
    if observation.bounds is None:
        msg = f"{where}: betting needs bounds of a single placement, (0, 1) for aul and recall"
        raise ValueError(msg)
    low, high = observation.bounds
    if not low <= value <= high:
        msg = f"{where}: value must lie within its bounds, got {value:g} not in [{low:g}, {high:g}]"
        raise ValueError(msg)
