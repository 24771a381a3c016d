"""Rules on a change from a reference: the condition, and the evidence of one window for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from pumonitor.monitor.rules.alerts.by_series import RuleContext, SeriesCondition
from pumonitor.monitor.rules.alerts.false_discovery import one_sided_p_value
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    KnownReference,
    Reading,
    Series,
    WindowView,
)
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.monitor.rules.alerts.usable import (
    Side,
    interval_of,
    side_of,
    stated,
    unusable,
    unusable_in_one_window,
)
from pumonitor.monitor.rules.reference.compared import Compared, compared
from pumonitor.monitor.rules.reference.one_prior import (
    PRIOR_FACTOR,
    PRIOR_TO_COMPARE,
    comparable,
    comparable_reference,
    stands_on,
)
from pumonitor.monitor.rules.reference.reference_windows import FEWEST_WINDOWS, ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.names import estimate_text, title
from pumonitor.plain_text import shown_duration
from pumonitor.text import with_interval

_SIDES: Final[Mapping[str, tuple[Side, ...]]] = {
    "drop": ("below",),
    "rise": ("above",),
    "change": ("below", "above"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(SeriesCondition):
    """Breach: the whole interval of the change from a reference exceeds the allowed amount.

    Attributes
    ----------
    direction : {"drop", "rise", "change"}
        "change" means a drop or a rise.
    amount : float
        Allowed change: in the metric's unit, or as a share of the reference if relative.
    relative : bool
    over : timedelta or None
        Compare with the windows of this time before; None: with the monitor's reference.

    Notes
    -----
    The interval includes the usual variation between windows of the reference
    (`pumonitor.monitor.rules.reference.reference_windows`), so a window within it is no breach.
    A class prior that was given once with an interval has the same error in all windows; that error
    cancels in the change. Class priors estimated by one method share an unknown part of their
    errors. It is not removed, so the interval of the change is then too wide: an alert can be late
    but not early.
    """

    direction: Literal["drop", "rise", "change"]
    amount: float
    relative: bool
    over: timedelta | None = None

    @property
    def fires(self) -> str:
        """When the rule fires."""
        against = (
            "the reference" if self.over is None else f"the {shown_duration(self.over)} before"
        )
        return f"a {self.direction} of more than {self.allowed} against {against}"

    @property
    def allowed(self) -> str:
        """The allowed change, as it is written."""
        return f"{100 * self.amount:g}%" if self.relative else f"{self.amount:g}"

    @property
    def needs_reference(self) -> bool:
        """Whether it compares with the monitor's reference."""
        return self.over is None

    def metrics(self, metric: str) -> tuple[str, ...]:
        """The estimates that the metric is a function of as well."""
        names = stands_on(metric)
        factors = (PRIOR_FACTOR, PRIOR_TO_COMPARE) if names else ()
        return tuple(dict.fromkeys((metric, *names, *factors)))

    def reads(self, view: WindowView, known_reference: KnownReference | None) -> Hashable:
        """Whether the reference is known at the window's moment."""
        return known_reference is not None and view.as_of >= known_reference.as_of

    def first_window(
        self, first: datetime, *, reference_end: datetime | None
    ) -> tuple[datetime, int]:
        """After the reference, or after the fewest windows that can be compared with."""
        if self.over is not None:
            return first, FEWEST_WINDOWS
        return (first if reference_end is None else max(first, reference_end)), 0

    def evidence(self, view: WindowView, series: Series, context: RuleContext) -> Evidence:
        """Test whether the whole interval of a metric's change exceeds the allowed change."""
        metric = context.rule.metric
        missing = unusable_in_one_window(view, series, metric)
        if missing is not None:
            return missing
        reference, why = (
            _from_reference(view, series, metric, context.known_reference)
            if self.over is None
            else _from_windows(view, series, metric, context.before, over=self.over)
        )
        if reference is not None:
            return _changed(view, series, context.rule, self, reference)
        now = interval_of(view.readings[series][metric])
        return Evidence(
            window=view.window,
            kind="insufficient",
            value=now.value,
            low=now.low,
            high=now.high,
            reason=why,
        )


def _from_reference(
    view: WindowView, series: Series, metric: str, known_reference: KnownReference | None
) -> tuple[ReferenceWindows | None, str]:
    if known_reference is not None and view.window.start < known_reference.end:
        return None, "the window is in the reference or before it"
    if known_reference is None or view.as_of < known_reference.as_of:
        return None, "the reference is not mature yet"
    reference = known_reference.windows(series)
    why = reference.why_none(metric, title(metric))
    return (reference, "") if why is None else (None, why)


def _from_windows(
    view: WindowView,
    series: Series,
    metric: str,
    before: Sequence[WindowView],
    *,
    over: timedelta,
) -> tuple[ReferenceWindows | None, str]:
    """Reference of the windows with a value in the time `over` before, or why there is none."""
    earlier = [
        one.readings[series]
        for one in before
        if one.window.end <= view.window.start
        and one.window.start >= view.window.start - over
        and unusable(one, series, metric) is None
    ]
    if len(earlier) < FEWEST_WINDOWS:
        return None, f"{len(earlier)} earlier windows have a value, and {FEWEST_WINDOWS} are needed"
    known = [comparable_reference(_known(metric, one, _estimated)) for one in earlier]
    return ReferenceWindows(windows=known), ""


def _known(
    metric: str, readings: Mapping[str, Reading], read: Callable[[Reading], Uncertain]
) -> dict[str, Uncertain]:
    """The metric and the estimates that it is a function of, as far as the window has them."""
    return {
        one: read(readings[one])
        for one in (metric, *stands_on(metric), PRIOR_FACTOR, PRIOR_TO_COMPARE)
        if one in readings and readings[one].value is not None
    }


def _changed(
    view: WindowView,
    series: Series,
    rule: AlertRule,
    condition: Change,
    reference: ReferenceWindows,
) -> Evidence:
    metric = rule.metric
    known = comparable(_known(metric, view.readings[series], interval_of))
    beside = compared(metric, known, reference)
    now, usual, moved_by = known[metric], beside.usual, beside.change
    wanted = _SIDES[condition.direction]
    found: list[tuple[EvidenceKind, float, float]] = []
    for side in wanted:
        moved = -condition.amount if side == "below" else condition.amount
        one = (
            compared(metric, known, reference, times=_factor(usual, moved))
            if condition.relative
            else compared(metric, known, reference, plus=moved)
        )
        kind = _kind_of_change(one, side, rule.resolve_on)
        p_value = min(len(wanted) * _tail(one, side), 1.0) if kind == "breach" else 1.0
        found.append((kind, one.limit, p_value))
    breaches = [one for one in found if one[0] == "breach"]
    # Without a breach, of two limits the nearer one is reported.
    kind, limit, p_value = (
        breaches[0] if breaches else min(found, key=lambda one: abs(one[1] - now.value))
    )
    if not breaches:
        kind = "good" if all(one[0] == "good" for one in found) else "insufficient"
    words = {"breach": "more than", "good": "within", "insufficient": "perhaps more than"}[kind]
    reason = (
        f"{stated(metric, now)}, {_by(moved_by)} than the reference of "
        f"{estimate_text(metric, usual)}, {words} the {condition.allowed} allowed"
    )
    return Evidence(
        window=view.window,
        kind=kind,
        value=now.value,
        low=now.low,
        high=now.high,
        limit=limit,
        reference=usual,
        reason=reason,
        p_value=p_value,
    )


def _kind_of_change(change: Compared, side: Side, resolve_on: str) -> EvidenceKind:
    """Which evidence a change is for one limit.

    The usual variation between windows is required for a breach and ignored for "good".
    """
    kind = side_of(change.change, side, 0.0, resolve_on)
    if kind != "breach" and side_of(change.measured, side, 0.0, resolve_on) == "good":
        return "good"
    return kind


def _tail(change: Compared, side: Side) -> float:
    """One-sided p-value of a breach."""
    return one_sided_p_value(
        change.change.value,
        near_end=change.change.high if side == "below" else change.change.low,
        limit=0.0,
        reach=change.reach,
        freedom=change.freedom,
    )


def _factor(usual: float, amount: float) -> float:
    # For a negative reference "lower" means a larger multiple.
    return 1 + math.copysign(amount, amount * usual)


def _estimated(reading: Reading) -> Uncertain:
    """The unclipped estimate with its interval, for means over windows."""
    found = interval_of(reading)
    if reading.unclipped is None:
        return found
    off = reading.unclipped - found.value
    low, high = found.low + off, found.high + off
    return Uncertain(value=reading.unclipped, low=low, high=high, se=found.se)


def _by(change: Uncertain) -> str:
    if change.value < 0:
        return f"{with_interval(-change.value, -change.high, -change.low)} lower"
    return f"{with_interval(change.value, change.low, change.high)} higher"
