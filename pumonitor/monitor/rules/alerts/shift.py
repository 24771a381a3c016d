"""Rules on a lasting shift: the condition, and its evidence by one detector per series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pumonitor.monitor.rules.alerts.false_discovery import alarm_together
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Condition,
    Reading,
    Series,
    Tests,
    WindowView,
)
from pumonitor.monitor.rules.alerts.snapshots import Snapshots
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.rules.alerts.usable import unusable
from pumonitor.monitor.rules.detectors import (
    DEFAULT_DETECTOR,
    Detection,
    Detector,
    Observation,
    auc_bounds,
    scale_of,
)
from pumonitor.names import estimate_text, title
from pumonitor.text import moment_cell, with_interval

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.fold import RuleFold


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialCondition(Condition):
    """What all rules on lasting changes are told.

    Attributes
    ----------
    direction : {"down", "up", "any"}
    false_alarms_per_year, windows_per_year : float
    reference_windows : int
        Number of windows from which the usual level is learned.
    begins : datetime or None
        Windows that start earlier are ignored.
    """

    direction: Literal["down", "up", "any"]
    false_alarms_per_year: float
    windows_per_year: float
    reference_windows: int
    begins: datetime | None = None

    @property
    def chosen_rate(self) -> float:
        """The accepted false alarms per year."""
        return self.false_alarms_per_year

    @property
    def accepted(self) -> str:
        """False alarms and what is learned from, in words."""
        return (
            f"false alarms a year: {self.false_alarms_per_year:g}; "
            f"learned from {self.reference_windows} windows"
        )

    def first_window(
        self, first: datetime, *, reference_end: datetime | None
    ) -> tuple[datetime, int]:
        """After those that it learns from."""
        del reference_end
        return (first if self.begins is None else max(first, self.begins)), self.reference_windows


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(SequentialCondition):
    """Breach: a sequential detector has detected a lasting change.

    Attributes
    ----------
    detector : str
        Name in `pumonitor.monitor.rules.detectors.DETECTORS`.
    """

    detector: str

    @property
    def fires(self) -> str:
        """When the rule fires."""
        side = "" if self.direction == "any" else f" {self.direction}"
        by = "" if self.detector == DEFAULT_DETECTOR else f"{self.detector}, "
        return f"a lasting change{side} ({by}{self.accepted})"

    def metrics(self, metric: str) -> tuple[str, ...]:
        """Bets are on placements, which AUL and the class prior give."""
        return (metric, "aul", "class_prior") if self.detector == "betting" else (metric,)

    def tests(self, fold: RuleFold) -> Tests:
        """By detectors that keep their state."""
        return ShiftDetectors(fold.rule, self).evidence


@dataclass(slots=True)
class _SeriesState:
    """State of one series: the reference windows so far, then the detector made from them."""

    learning: tuple[Observation, ...] = ()
    detector: Detector | None = None

    def copy(self) -> _SeriesState:
        return _SeriesState(self.learning, None if self.detector is None else self.detector.copy())


class ShiftDetectors:
    """The detectors of one rule, one per series, with snapshots of earlier windows.

    Parameters
    ----------
    rule : AlertRule
    condition : Shift

    Notes
    -----
    With one alert per segment, m segments share the rule's rate of false alarms: the limit of each
    detector is m times as high. k segments whose statistics reach a k-th of it alarm together
    (e-BH). Their statistics then add up to at least m limits of a single series, so the mean time
    to the first false alarm among all m is at least that of a single series. m is the number of
    segments at the end of the reference; a segment that appears later counts for its own limit
    only.
    """

    def __init__(self, rule: AlertRule, condition: Shift) -> None:
        self._rule = rule
        self._condition = condition
        self._states: dict[Series, _SeriesState] = {}
        self._snapshots: Snapshots[dict[Series, _SeriesState]] = Snapshots()

    def evidence(self, views: Sequence[WindowView], index: int) -> dict[Series, Evidence]:
        """Evidence of the window at `index` for every series seen so far.

        If an earlier window has changed since the last call, call this for that window first.
        """
        self._go_to(views, index)
        found = self._step(views[index])
        return self._with_e_values(views, index, found)

    def _go_to(self, views: Sequence[WindowView], index: int) -> None:
        if self._snapshots.done > index:
            kept = self._snapshots.back_to(index) or {}
            self._states = {series: one.copy() for series, one in kept.items()}
        while self._snapshots.done < index:
            self._step(views[self._snapshots.done])

    def _step(self, view: WindowView) -> dict[Series, Detection | None]:
        """Step every detector by one window; None for a series without a usable value."""
        found: dict[Series, Detection | None] = {}
        for series in sorted({*self._states, *filter(self._rule.covers, view.readings)}):
            state = self._states.setdefault(series, _SeriesState())
            found[series] = None
            if self._counts(view) and unusable(view, series, self._rule.metric) is None:
                found[series] = self._observe(series, state, view)
        self._snapshots.keep({s: one.copy() for s, one in self._states.items()})
        return found

    def _counts(self, view: WindowView) -> bool:
        begins = self._condition.begins
        return begins is None or view.window.start >= begins

    def _observe(self, series: Series, state: _SeriesState, view: WindowView) -> Detection | None:
        observation = self._observation(series, view)
        if observation is None:
            return None
        if state.detector is None:
            state.learning = (*state.learning, observation)
            if len(state.learning) < self._condition.reference_windows:
                return Detection(
                    index=observation.index,
                    kind="learning",
                    statistic=None,
                    limit=math.inf,
                    z=None,
                    expected=None,
                )
            state.detector = self._new_detector(series)
            for earlier in state.learning[:-1]:
                state.detector.step(earlier)
            state.learning = ()
        return state.detector.step(observation)

    def _new_detector(self, series: Series) -> Detector:
        sharing = sum(one[0] == series[0] for one in self._states) if self._rule.per else 1
        condition = self._condition
        return Detector(
            reference_windows=condition.reference_windows,
            direction=condition.direction,
            false_alarms_per_year=condition.false_alarms_per_year / sharing,
            windows_per_year=condition.windows_per_year,
            detector=condition.detector,
            scale=scale_of(self._rule.metric),
        )

    def _observation(self, series: Series, view: WindowView) -> Observation | None:
        readings = view.readings[series]
        reading = readings[self._rule.metric]
        # The unclipped estimate: clipping would make the series appear less variable than it is.
        value = reading.value if reading.unclipped is None else reading.unclipped
        bounds = None
        if self._condition.detector == "betting":
            found = _placements(self._rule.metric, readings)
            if found is None:
                return None
            value, bounds = found
        return Observation(
            index=view.window.index,
            value=value,
            se=reading.se,
            n_labeled=reading.n_labeled,
            bounds=bounds,
        )

    def _with_e_values(
        self, views: Sequence[WindowView], index: int, found: Mapping[Series, Detection | None]
    ) -> dict[Series, Evidence]:
        together: frozenset[Series] = frozenset()
        if self._rule.per:
            shares = {
                series: math.inf
                if detection.kind == "breach"
                else (detection.statistic or 0.0) / detection.limit
                for series, detection in found.items()
                if detection is not None and detection.kind in ("good", "breach")
            }
            together = alarm_together(shares, rate=self._rule.false_discovery_rate)
        return {
            series: self._evidence_of(views, index, series, detection, series in together, found)
            for series, detection in found.items()
        }

    def _evidence_of(
        self,
        views: Sequence[WindowView],
        index: int,
        series: Series,
        detection: Detection | None,
        with_others: bool,  # noqa: FBT001
        found: Mapping[Series, Detection | None],
    ) -> Evidence:
        view = views[index]
        if detection is None or detection.kind == "missing":
            missing = unusable(view, series, self._rule.metric)
            reason = (
                "placements cannot be computed without AUL and a class prior below 1"
                if self._counts(view)
                else "the window is before the reference"
            )
            return missing or Evidence(window=view.window, kind="insufficient", reason=reason)
        reading = view.readings[series][self._rule.metric]
        kind = "insufficient"
        if detection.kind == "breach" or with_others:
            kind = "breach"
        elif detection.kind == "good":
            # After a joint alarm a segment is good only below the limit that joint alarms need.
            sharing = sum(one[0] == series[0] for one in found) if self._rule.per else 1
            settled = (detection.statistic or 0.0) < detection.limit / sharing
            kind = "good" if settled else "insufficient"
        since = start_of(views, index, detection.since)
        return Evidence(
            window=view.window,
            kind=kind,  # type: ignore[arg-type]
            value=reading.value,
            low=reading.low,
            high=reading.high,
            reference=detection.expected,
            reason=_reason(
                self._rule.metric,
                reading,
                detection,
                since,
                needed=self._condition.reference_windows,
            ),
            since=since,
        )


def _reason(
    metric: str, reading: Reading, detection: Detection, since: datetime | None, *, needed: int
) -> str:
    stated = f"{title(metric)} is {estimate_text(metric, reading.value)}"
    if detection.kind == "learning":
        return f"{stated}; the usual value is still being estimated from {needed} windows"
    expected = f"{stated}, and {estimate_text(metric, detection.expected)} is expected"
    if detection.kind != "breach":
        return expected
    falls = detection.direction == "down"
    began = "" if since is None else f" since about {moment_cell(since)}"
    size = ""
    if detection.size is not None:
        # Of a fall the interval is turned round; where it may be none, one end is negative.
        ends = (detection.size, detection.size_low, detection.size_high)
        value, low, high = (None if end is None else -end if falls else end for end in ends)
        low, high = (high, low) if falls else (low, high)
        size = f" by {with_interval(value or 0.0, low, high)}"
    return f"{stated}; it has {'fallen' if falls else 'risen'}{size}{began}"


def start_of(views: Sequence[WindowView], index: int, number: int | None) -> datetime | None:
    """Start of the window with this number, searched backwards from `index`; None if missing."""
    if number is None:
        return None
    while index >= 0 and views[index].window.index > number:
        index -= 1
    found = views[index].window if index >= 0 else None
    return found.start if found is not None and found.index == number else None


def _placements(
    metric: str, readings: Mapping[str, Reading]
) -> tuple[float, tuple[float, float]] | None:
    """Mean placement of a window's positives and the bounds of one placement; None if unknown.

    With impure labels an estimate can be outside [0, 1] and is clipped. The mean of the clipped
    estimate is constant while nothing changes, and betting needs no more than that.
    """
    aul, prior = readings.get("aul"), readings.get("class_prior")
    value = (aul if metric == "auc" else readings[metric]) or Reading(value=None)
    if value.value is None:
        return None
    held = min(max(value.value, 0.0), 1.0)
    if metric != "auc":
        return held, (0.0, 1.0)
    if prior is None or prior.value is None or not 0 <= prior.value < 1:
        return None
    return (held - 0.5 * prior.value) / (1 - prior.value), auc_bounds(prior.value)
