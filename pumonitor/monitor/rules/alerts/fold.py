"""Fold a rule over its windows: evidence and states of each of its alerts, kept in memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, assert_never

from pumonitor.monitor.rules.alerts.evidence import change_evidence
from pumonitor.monitor.rules.alerts.evidence_delay import LabelDelayDetector
from pumonitor.monitor.rules.alerts.evidence_health import WHOLE, health_evidence
from pumonitor.monitor.rules.alerts.evidence_prior import prior_shift_evidence
from pumonitor.monitor.rules.alerts.evidence_shift import ShiftDetectors
from pumonitor.monitor.rules.alerts.false_discovery import rejected
from pumonitor.monitor.rules.alerts.rule import (
    AUDITED_SHARE,
    AlertRule,
    Change,
    Health,
    KnownReference,
    LabelDelay,
    Missing,
    PriorShift,
    Reading,
    Series,
    Shift,
    WindowCondition,
    WindowView,
)
from pumonitor.monitor.rules.alerts.states import (
    UNKNOWN,
    AlertState,
    Evidence,
    SeriesEvidence,
    step,
)
from pumonitor.monitor.rules.alerts.usable import unusable
from pumonitor.monitor.rules.alerts.usual import OVER

_LEAST_READ: Final = 0.25
FOUR_LOOKS: Final = 1.3
"""How many times as wide intervals are that hold at four looks together.

For exact intervals it would be 2.361 / 1.960 (Pocock 1977, table 1). Those of a part of an audit
miss in up to 8% where they should in 5: with 1.20 something was wrong at one of four looks in 6 to
8% of audits, with 1.3 in 4 to 6% (``python -m benchmarks.audits --only looks``).
"""


class RuleFold:
    """Evidence and states of a rule's alerts after each window, in order of time.

    Both are functions of the windows alone. They are kept, so that a new or revised window requires
    a fold of the windows from it on, not of the earlier ones.

    Parameters
    ----------
    rule : AlertRule
    known_reference : KnownReference or None
        The monitor's reference.

    Attributes
    ----------
    evidence : list of mapping of series to Evidence
        One entry per window.
    states : list of mapping of series to AlertState
        One entry per window. A series is included from the first window that has it.
    """

    def __init__(self, rule: AlertRule, *, known_reference: KnownReference | None = None) -> None:
        self.rule = rule
        self.known_reference = known_reference
        self.evidence: list[Mapping[Series, Evidence]] = []
        self.states: list[Mapping[Series, AlertState]] = []
        self._shift = (
            ShiftDetectors(rule, rule.condition) if isinstance(rule.condition, Shift) else None
        )
        self._delay = (
            LabelDelayDetector(rule.condition) if isinstance(rule.condition, LabelDelay) else None
        )

    def refold(self, views: Sequence[WindowView], start: int) -> None:
        """Fold the windows from `start` on again. Earlier windows must be unchanged."""
        if self.rule.audited:
            views = [audited_view(one, self.rule.metric) for one in views]
        del self.evidence[start:], self.states[start:]
        for index in range(start, len(views)):
            before = self.states[-1] if self.states else {}
            found = self._found(views, index, before)
            self.evidence.append(found)
            self.states.append(
                {
                    series: step(
                        before.get(series, UNKNOWN),
                        one,
                        windows=self.rule.windows,
                        keep=self.rule.keep,
                    )
                    for series, one in found.items()
                }
            )

    def reads(self, view: WindowView) -> Hashable:
        """Return everything that the rule reads of a window; if it is equal, no fold is needed."""
        condition = self.rule.condition
        health: Hashable = None
        if isinstance(condition, LabelDelay):
            # The moment decides which steps of the delays are complete.
            health = (view.as_of, _frozen(view.health.get("arrivals", ())))
        if isinstance(condition, Health):
            health = tuple((name, _frozen(value)) for name, value in sorted(view.health.items()))
        known_reference = self.known_reference
        has_reference = known_reference is not None and view.as_of >= known_reference.as_of
        return (
            view.failed,
            has_reference if isinstance(condition, Change) else None,
            health,
            frozenset(
                (series, tuple(readings.get(metric) for metric in self.rule.metrics))
                for series, readings in view.readings.items()
                if isinstance(condition, Health | LabelDelay | Missing) or self.rule.covers(series)
            ),
        )

    def _found(
        self,
        views: Sequence[WindowView],
        index: int,
        before: Mapping[Series, AlertState],
    ) -> Mapping[Series, Evidence]:
        rule, view = self.rule, views[index]
        condition = rule.condition
        if isinstance(condition, Health):
            return {WHOLE: health_evidence(view, condition, before=_within(views, index, OVER))}
        if isinstance(condition, LabelDelay):
            assert self._delay is not None  # noqa: S101 (made in __init__ for such a condition)
            return {WHOLE: self._delay.evidence(views, index)}
        if isinstance(condition, Shift):
            assert self._shift is not None  # noqa: S101 (made in __init__ for such a condition)
            return self._shift.evidence(views, index)
        if isinstance(condition, PriorShift):
            return prior_shift_evidence(views, index, rule, condition, earlier=self.evidence)
        # Sorted, so that the result does not depend on the order of the series.
        known = sorted({*before, *filter(rule.covers, view.readings)})
        if isinstance(condition, Missing):
            return {series: _missing(view, series, rule.metric) for series in known}
        found = {series: self._series_evidence(views, index, series, condition) for series in known}
        if rule.per:
            found = _few_false_discoveries(found, rate=rule.false_discovery_rate)
        return {series: one.evidence for series, one in found.items()}

    def _series_evidence(
        self,
        views: Sequence[WindowView],
        index: int,
        series: Series,
        condition: WindowCondition | Change,
    ) -> SeriesEvidence:
        view = views[index]
        match condition:
            case WindowCondition():
                return condition.evidence(view, series, self.rule)
            case Change():
                return change_evidence(
                    view,
                    series,
                    self.rule,
                    condition,
                    known_reference=self.known_reference,
                    before=() if condition.over is None else _within(views, index, condition.over),
                )
            case _:
                assert_never(condition)


def _within(views: Sequence[WindowView], index: int, over: timedelta) -> Sequence[WindowView]:
    """Earlier windows that begin at most `over` before this one."""
    earliest = views[index].window.start - over
    first = index
    while first > 0 and views[first - 1].window.start >= earliest:
        first -= 1
    return views[first:index]


def _missing(view: WindowView, series: Series, metric: str) -> Evidence:
    """A breach if there is no usable value, unless another model version has taken over."""
    found = unusable(view, series, metric)
    reading = view.readings.get(series, {}).get(metric)
    if found is None or (reading is not None and reading.assumed):
        value = None if reading is None else reading.value
        return Evidence(
            window=view.window, kind="good", value=value, reason="the metric has a value"
        )
    others = any(one != series and one[1] == series[1] for one in view.readings)
    if found.kind == "no_data" and others:
        reason = "another model version has replaced this one"
        return Evidence(window=view.window, kind="no_data", reason=reason)
    return Evidence(window=view.window, kind="breach", reason=found.reason)


def _few_false_discoveries(
    segments: Mapping[Series, SeriesEvidence], *, rate: float
) -> dict[Series, SeriesEvidence]:
    """Turn breaches that Benjamini-Hochberg does not reject into "insufficient" evidence.

    A segment stays a breach only if its interval is beyond the limit and its hypothesis is
    rejected. Other segments enter the procedure with a p-value of 1, which keeps it valid.
    """
    asked = {
        series: one.p_value
        for series, one in segments.items()
        if one.evidence.kind in ("breach", "good", "insufficient")
        and one.evidence.value is not None
    }
    versions = {series[0] for series in asked}
    stand_up: set[Series] = set()
    for version in versions:
        own = {series: p for series, p in asked.items() if series[0] == version}
        stand_up |= rejected(own, rate=rate)
    return {
        series: one
        if one.evidence.kind != "breach" or series in stand_up
        else _unsure(one, segments)
        for series, one in segments.items()
    }


def _unsure(one: SeriesEvidence, segments: Mapping[Series, SeriesEvidence]) -> SeriesEvidence:
    found = one.evidence
    reason = f"{found.reason}, which may be chance as there are {len(segments)} segments"
    return SeriesEvidence(evidence=replace(found, kind="insufficient", reason=reason, since=None))


def _frozen(value: object) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple(_frozen(one) for one in value)
    return value


def audited_view(view: WindowView, metric: str) -> WindowView:
    """The window without a value of the metric, unless a quarter of its audit has been read.

    Verdicts come in one after the other, and each can be a look at the same window. So intervals
    are as wide as they must be for four looks, at a quarter, half, three quarters and all of the
    verdicts.
    """
    return replace(
        view,
        readings={series: _audited(own, metric) for series, own in view.readings.items()},
    )


def _audited(readings: Mapping[str, Reading], metric: str) -> Mapping[str, Reading]:
    read = readings.get(AUDITED_SHARE)
    if read is None or read.value is None:
        why = "no audit was drawn from the window"
    elif read.value < _LEAST_READ:
        why = f"{read.value:.0%} of the cases of its audit have a verdict, and a quarter must"
    else:
        return {name: _for_looks(one) for name, one in readings.items()}
    return {**readings, metric: Reading(value=None, reason=why)}


def _for_looks(one: Reading) -> Reading:
    if one.value is None or one.low is None or one.high is None:
        return one
    return replace(
        one,
        low=one.value - FOUR_LOOKS * (one.value - one.low),
        high=one.value + FOUR_LOOKS * (one.high - one.value),
        se=None if one.se is None else FOUR_LOOKS * one.se,
    )
