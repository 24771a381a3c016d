"""Rules on the label delay: the condition, and its evidence by a sequential detector."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from scipy import special

from pumonitor.monitor.rules.alerts.health import predictions_of
from pumonitor.monitor.rules.alerts.rule import WHOLE, KnownReference, Series, Tests, WindowView
from pumonitor.monitor.rules.alerts.shift import SequentialCondition, start_of
from pumonitor.monitor.rules.alerts.snapshots import Snapshots
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.monitor.rules.detectors import Detection, Detector, Observation
from pumonitor.monitor.rules.labels.label_delays import MOST_TIMES, Arrived, MeanDelay, UsualDelays
from pumonitor.text import moment_cell, percent_text, times_text, with_interval

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.fold import RuleFold

_REACH: Final = float(special.ndtri(0.975))
_ROUNDING: Final = 1e-6
_FEWEST: Final = 5

# Mean delays have lighter tails than the estimates for which detectors were made cautious: state
# in both directions they had .3 to .6 false alarms where one was asked for, and with this factor .6
# to .9; in one direction .5 to .8 (`python -m benchmarks.monitoring.label_delay`).
_BOTH_DIRECTIONS: Final = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDelay(SequentialCondition):
    """Breach: the label delay has changed for good, as a sequential detector finds.

    With direction "up" it finds later labels.

    Attributes
    ----------
    change : float
        Allowed relative change: 0.5 allows delays between 0.5 and 1.5 times the usual ones.
    maturity : timedelta
        Labels with a longer delay are not counted.
    windows_per_day : int
        0 if windows are longer than a day.
    """

    is_of_all_rows = True
    key_version = 2  # since it detects lasting changes

    change: float
    maturity: timedelta
    windows_per_day: int = 0

    @property
    def fires(self) -> str:
        """When the rule fires."""
        than_usual = {"up": "later", "down": "sooner", "any": "later or sooner"}
        by = f"{100 * self.change:g}% " if self.change else ""
        return f"labels arrive {by}{than_usual[self.direction]} than usual ({self.accepted})"

    def metrics(self, metric: str) -> tuple[str, ...]:
        """Nothing but whether there are rows: delays are counts."""
        return ("predictions",)

    def reads(self, view: WindowView, known_reference: KnownReference | None) -> Hashable:
        """Counts by delay, and the moment, which decides which of them are complete."""
        return view.as_of, tuple(view.health.get("arrivals", ()))

    def tests(self, fold: RuleFold) -> Tests:
        """By a detector that keeps its state."""
        detector = LabelDelayDetector(self)

        def evidence(views: Sequence[WindowView], index: int) -> Mapping[Series, Evidence]:
            return {WHOLE: detector.evidence(views, index)}

        return evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """State after some windows: the usual delays and the detector, once both have been learned."""

    learning: tuple[Arrived, ...] = ()
    usual: UsualDelays | None = None
    detector: Detector | None = None


class LabelDelayDetector:
    """Detects a lasting change of the mean delay of labels that arrive within the maturity.

    Parameters
    ----------
    condition : LabelDelay

    Notes
    -----
    The usual delays are learned once, from the first `LabelDelay.reference_windows` windows. The
    detector goes on learning how much windows usually vary. A detected change is a breach unless
    its whole interval is within `LabelDelay.change`.
    `python -m benchmarks.monitoring.label_delay` measures detection delays and false alarms.
    """

    def __init__(self, condition: LabelDelay) -> None:
        self._condition = condition
        self._state = _State()
        self._snapshots: Snapshots[_State] = Snapshots()

    def evidence(self, views: Sequence[WindowView], index: int) -> Evidence:
        """Evidence of the window at `index`.

        If an earlier window has changed since the last call, call this for that window first.
        """
        if self._snapshots.done > index:
            self._state = self._snapshots.back_to(index) or _State()
        while self._snapshots.done < index:
            self._step(views[self._snapshots.done])
        return self._step(views[index], views[: index + 1])

    def _step(self, view: WindowView, views: Sequence[WindowView] = ()) -> Evidence:
        """Take in one more window."""
        arrived = self._arrived(view)
        missing = self._missing(view, arrived)
        if missing is None and arrived is not None:
            if self._state.detector is None:
                missing = self._learn(view, arrived)
            else:
                found = self._compared_with_usual(view, arrived, views)
                self._snapshots.keep(self._state)
                return found
        self._snapshots.keep(self._state)
        return missing or Evidence(
            window=view.window, kind="error", reason="the window has no labels"
        )

    def _arrived(self, view: WindowView) -> Arrived | None:
        *counts, _ = view.health.get("arrivals") or (0,)
        if view.failed or not counts:
            return None
        maturities = (view.as_of - view.window.end) / self._condition.maturity
        per_day = self._condition.windows_per_day
        return Arrived(
            index=view.window.index,
            counts=tuple(map(float, counts)),
            complete=min(int(maturities * len(counts) + _ROUNDING), len(counts)),
            weekday=view.window.index // per_day % 7 if per_day else None,
        )

    def _missing(self, view: WindowView, arrived: Arrived | None) -> Evidence | None:
        """Evidence with the reason why a window has no usable delays; None if it has."""

        def said(kind: EvidenceKind, reason: str) -> Evidence:
            return Evidence(window=view.window, kind=kind, reason=reason)

        if view.failed:
            return said("error", "the window could not be evaluated")
        if arrived is None:
            return said("insufficient", "the labels have no time at which they became known")
        begins = self._condition.begins
        if begins is not None and view.window.start < begins:
            return said("insufficient", "the window is before the reference")
        if arrived.labels == 0 and predictions_of(view) == 0:
            return said("no_data", "there are no predictions")
        if arrived.labels == 0:
            return said("no_data", "no label has arrived within the maturity")
        return None

    def _learn(self, view: WindowView, arrived: Arrived) -> Evidence:
        wanted = self._condition.reference_windows
        learning = (*self._state.learning, arrived)
        self._state = _State(learning=learning)
        usual = UsualDelays.of(learning) if len(learning) >= wanted else None
        read = [] if usual is None else [(one, usual.mean_of(one)) for one in learning]
        with_delay = [(one, delay) for one, delay in read if delay is not None]
        if usual is not None and len(with_delay) >= _FEWEST:
            detector = self._new_detector(len(with_delay))
            for one, delay in with_delay:
                detector.step(_observation(one, delay))
            self._state = _State(usual=usual, detector=detector)
        return Evidence(
            window=view.window,
            kind="insufficient",
            reason=f"the usual label delay is still being estimated from {wanted} windows",
        )

    def _new_detector(self, windows: int) -> Detector:
        condition = self._condition
        cautious = _BOTH_DIRECTIONS if condition.direction == "any" else 1.0
        return Detector(
            reference_windows=windows,
            direction=condition.direction,
            false_alarms_per_year=cautious * condition.false_alarms_per_year,
            windows_per_year=condition.windows_per_year,
        )

    def _compared_with_usual(
        self, view: WindowView, arrived: Arrived, views: Sequence[WindowView]
    ) -> Evidence:
        state = self._state
        if state.usual is None or state.detector is None:  # for the type: they come together
            raise AssertionError
        delay = state.usual.mean_of(arrived)
        if delay is None:
            reason = (
                "all labels of the window have the same delay, so that a change cannot be detected"
            )
            return Evidence(window=view.window, kind="insufficient", reason=reason)
        detector = state.detector.copy()
        detection = detector.step(_observation(arrived, delay))
        self._state = _State(usual=state.usual, detector=detector)
        since = start_of(views, len(views) - 1, detection.since) if views else None
        return _evidence(self._condition, view, state.usual, delay, detection, since)


def _observation(arrived: Arrived, delay: MeanDelay) -> Observation:
    return Observation(index=arrived.index, value=delay.value, se=delay.se, n_labeled=delay.labels)


def _evidence(
    condition: LabelDelay,
    view: WindowView,
    usual: UsualDelays,
    delay: MeanDelay,
    detection: Detection,
    since: datetime | None,
) -> Evidence:
    expected = usual.mean if detection.expected is None else detection.expected
    grows = (detection.direction or ("up" if delay.value > expected else "down")) == "up"
    reason = f"labels take {percent_text(delay.value)} of the maturity on average"
    kind: EvidenceKind = "good"
    if detection.kind == "breach" and detection.size is not None:
        times = _Times.of(usual, expected, detection)
        began = "" if since is None else f" since about {moment_cell(since)}"
        reason += f", and {percent_text(expected)} was usual: they take {times} as long{began}"
        kind = "breach"
        if times.within(condition.change):
            kind = "good"
            reason += f", within the {percent_text(condition.change)} allowed"
    else:
        reason += f", and {percent_text(expected)} is expected"
    limit = None
    if condition.change > 0:
        times_allowed = 1 + condition.change if grows else 1 - condition.change
        limit = expected + usual.mean_times(times_allowed) - usual.mean
    return Evidence(
        window=view.window,
        kind=kind,
        value=delay.value,
        low=max(delay.value - _REACH * delay.se, 0.0),
        high=delay.value + _REACH * delay.se,
        limit=limit,
        reference=expected,
        reason=reason,
        since=since,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """Factor between present and usual delays, with its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, usual: UsualDelays, expected: float, detection: Detection) -> _Times:
        # The detector's level before the change, which it went on learning, is the usual mean.
        before = usual.times(expected)

        def times(size: float | None) -> float:
            return usual.times(expected + (size or 0.0)) / before

        value = times(detection.size)
        low, high = (
            value if end is None else times(end)
            for end in (detection.size_low, detection.size_high)
        )
        return cls(value=value, low=min(low, high), high=max(low, high))

    def within(self, change: float) -> bool:
        """Whether the whole interval is within the allowed change."""
        return 1 - change < self.low and self.high < 1 + change

    def __str__(self) -> str:
        if self.value > 0.97 * MOST_TIMES:
            return f"at least {times_text(self.low)}"
        return with_interval(self.value, self.low, self.high, unit=" times")
