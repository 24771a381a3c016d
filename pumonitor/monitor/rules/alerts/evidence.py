"""Evidence of one window for rules on a change from a reference, and its parts in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, Literal

from scipy import special

from pumonitor.monitor.rules.alerts.false_discovery import one_sided_p_value
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Change,
    KnownReference,
    Reading,
    Series,
    WindowView,
    shown,
    shown_with_ends,
)
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind, SeriesEvidence
from pumonitor.monitor.rules.alerts.usable import unusable, unusable_in_one_window
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
from pumonitor.names import COUNTS, title

REACH: Final = float(special.ndtri(0.975))

Side = Literal["below", "above"]

_SIDES: Final[Mapping[str, tuple[Side, ...]]] = {
    "drop": ("below",),
    "rise": ("above",),
    "change": ("below", "above"),
}


def change_evidence(
    view: WindowView,
    series: Series,
    rule: AlertRule,
    condition: Change,
    *,
    known_reference: KnownReference | None,
    before: Sequence[WindowView],
) -> SeriesEvidence:
    """Test whether the whole interval of a metric's change exceeds the allowed change.

    Parameters
    ----------
    view : WindowView
    series : tuple of str
    rule : AlertRule
    condition : Change
    known_reference : KnownReference or None
        The monitor's reference; used when `condition.over` is None.
    before : sequence of WindowView
        Earlier windows; used when `condition.over` is given.

    Notes
    -----
    The interval includes the usual variation between windows of the reference
    (`pumonitor.monitor.rules.reference.reference_windows`), so a window within it is no breach.
    A class prior that was given once with an interval has the same error in all windows; that error
    cancels in the change. Class priors estimated by one method share an unknown part of their
    errors. It is not removed, so the interval of the change is then too wide: an alert can be late
    but not early.
    """
    missing = unusable_in_one_window(view, series, rule.metric)
    if missing is not None:
        return SeriesEvidence(evidence=missing)
    reference, why = (
        _from_reference(view, series, rule.metric, known_reference)
        if condition.over is None
        else _from_windows(view, series, rule.metric, before, over=condition.over)
    )
    if reference is None:
        now = interval_of(view.readings[series][rule.metric])
        return SeriesEvidence(
            evidence=Evidence(
                window=view.window,
                kind="insufficient",
                value=now.value,
                low=now.low,
                high=now.high,
                reason=why,
            )
        )
    return _changed(view, series, rule, condition, reference)


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
) -> SeriesEvidence:
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
    allowed = f"{100 * condition.amount:g}%" if condition.relative else f"{condition.amount:g}"
    words = {"breach": "more than", "good": "within", "insufficient": "perhaps more than"}[kind]
    reason = (
        f"{stated(metric, now)}, {_by(moved_by)} than the reference of "
        f"{shown(usual)}, {words} the {allowed} allowed"
    )
    return SeriesEvidence(
        evidence=Evidence(
            window=view.window,
            kind=kind,
            value=now.value,
            low=now.low,
            high=now.high,
            limit=limit,
            reference=usual,
            reason=reason,
        ),
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


def side_of(number: Uncertain, side: Side, limit: float, resolve_on: str) -> EvidenceKind:
    """On which side of a limit a metric is, with its whole interval or as `resolve_on` says."""
    if side == "below":
        bad = number.high < limit
        good = (number.value if resolve_on == "estimate" else number.low) >= limit
    else:
        bad = number.low > limit
        good = (number.value if resolve_on == "estimate" else number.high) <= limit
    return "breach" if bad else "good" if good else "insufficient"


def interval_of(reading: Reading) -> Uncertain:
    """The value of a reading with its interval; without an interval it counts as exact."""
    value = math.nan if reading.value is None else reading.value
    low = value if reading.low is None else reading.low
    high = value if reading.high is None else reading.high
    se = (high - low) / (2 * REACH) if reading.se is None else reading.se
    return Uncertain(value=value, low=low, high=high, se=se)


def _estimated(reading: Reading) -> Uncertain:
    """The unclipped estimate with its interval, for means over windows."""
    found = interval_of(reading)
    if reading.unclipped is None:
        return found
    off = reading.unclipped - found.value
    low, high = found.low + off, found.high + off
    return Uncertain(value=reading.unclipped, low=low, high=high, se=found.se)


def stated(metric: str, now: Uncertain) -> str:
    """The metric with its value and interval, as a clause."""
    if metric in COUNTS:
        return f"there are {shown(now.value)} {title(metric).lower()}"
    if now.low == now.high:
        return f"{title(metric)} is {shown(now.value)}"
    return f"{title(metric)} is {shown_with_ends(now.value, now.low, now.high)}"


def _by(change: Uncertain) -> str:
    if change.value < 0:
        return f"{shown_with_ends(-change.value, -change.high, -change.low)} lower"
    return f"{shown_with_ends(change.value, change.low, change.high)} higher"
