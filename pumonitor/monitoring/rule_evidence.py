"""What one window says about a limit, or about a change against a reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scipy import special

from pumonitor.monitoring.alerts import Evidence, EvidenceKind
from pumonitor.monitoring.attribution import difference, difference_at_one_prior, stands_on
from pumonitor.monitoring.false_discovery import one_sided_p_value
from pumonitor.monitoring.rules import (
    COUNTS,
    AlertRule,
    Baseline,
    Change,
    Limit,
    Reading,
    Series,
    WindowView,
    metric_title,
    shown,
)
from pumonitor.monitoring.uncertain import Known, Uncertain
from pumonitor.monitoring.usable import unfit_to_judge, unusable

__all__ = ["Judged", "change_evidence", "limit_evidence", "trailing_mean"]

_LEAST_WINDOWS: Final = 3
_LEAST_ERROR: Final = 0.1
_REACH: Final = float(special.ndtri(0.975))

Side = Literal["below", "above"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Evidence of one window and series.

    Attributes
    ----------
    evidence : Evidence
    p_value : float
        Of "it is on the good side"; 1 where the evidence is no breach.
    """

    evidence: Evidence
    p_value: float = 1.0


def limit_evidence(view: WindowView, series: Series, rule: AlertRule, condition: Limit) -> Judged:
    """Whether the whole interval is beyond a number."""
    missing = unfit_to_judge(view, series, rule.metric)
    if missing is not None:
        return Judged(evidence=missing)
    now = _interval(view.readings[series][rule.metric])
    kind = _side_of(now, condition.side, condition.limit, rule.resolve_on)
    whole = "" if now.low == now.high else "all of it "
    words = {"breach": whole, "good": "not ", "insufficient": "which may be "}[kind]
    return Judged(
        evidence=Evidence(
            window=view.window,
            kind=kind,
            value=now.value,
            low=now.low,
            high=now.high,
            limit=condition.limit,
            reason=f"{_stated(rule.metric, now)}, {words}{condition.side} {condition.limit:g}",
        ),
        p_value=_p_value(now, condition.side, condition.limit) if kind == "breach" else 1.0,
    )


def change_evidence(
    view: WindowView,
    series: Series,
    rule: AlertRule,
    condition: Change,
    *,
    baseline: Baseline | None,
    before: Sequence[WindowView],
) -> Judged:
    """Whether the whole interval of the change is beyond what is allowed.

    Parameters
    ----------
    view : WindowView
    series : tuple of str
    rule : AlertRule
    condition : Change
    baseline : Baseline or None
        Read where the condition compares with the monitor's reference.
    before : sequence of WindowView
        Earlier windows; read where it compares with those.

    Notes
    -----
    A class prior that was given once, with an interval, is the same in both: what it may be off by
    is no part of the change (`pumonitor.monitoring.attribution.difference_at_one_prior`). Priors
    estimated by one method also have errors in common, of an unknown share: with those the
    interval of the change is too wide and an alert late, never early.
    """
    missing = unfit_to_judge(view, series, rule.metric)
    if missing is not None:
        return Judged(evidence=missing)
    now = _interval(view.readings[series][rule.metric])
    parts: Mapping[str, Known] = {}
    if condition.over is None:
        reference, why = _from_baseline(view, series, rule.metric, baseline)
        if baseline is not None and reference is not None:
            parts = baseline.known(series)
    else:
        earlier = [
            one.readings[series]
            for one in before
            if one.window.end <= view.window.start
            and one.window.start >= view.window.start - condition.over
            and unusable(one, series, rule.metric) is None
        ]
        reference = trailing_mean([one[rule.metric] for one in earlier])
        why = f"{len(earlier)} windows before it have a value, {_LEAST_WINDOWS} are needed"
        parts = _trailing_parts(rule.metric, earlier)
    if reference is None:
        return Judged(
            evidence=Evidence(
                window=view.window,
                kind="insufficient",
                value=now.value,
                low=now.low,
                high=now.high,
                reason=why,
            )
        )
    difference_of = _Difference(
        metric=rule.metric,
        now=now,
        reference=reference,
        parts_now=_parts(rule.metric, view.readings[series]),
        parts_before=parts,
    )
    return _changed(view, rule, condition, difference_of)


def trailing_mean(readings: Sequence[Reading]) -> Uncertain | None:
    """Mean of earlier windows, weighted by how well each is known and how much they vary.

    None with fewer than 3.

    Notes
    -----
    Weights 1 / (s^2 + t^2), where t^2 is the variance between windows beyond that of sampling. No s
    is less than a tenth of the usual one.

    References
    ----------
    DerSimonian, Laird (1986), Meta-analysis in clinical trials.

    Examples
    --------
    >>> found = trailing_mean([Reading(value=v, se=0.01) for v in (0.8, 0.84, 0.82, 0.78)])
    >>> round(found.value, 3), round(found.se, 4)
    (0.81, 0.0129)
    """
    if len(readings) < _LEAST_WINDOWS:
        return None
    values = [_estimated(one) for one in readings]
    # Counts have no sampling error of their own: what varies is between windows. Among numbers that
    # have one none is exact, and a window whose few rows agree by chance is not all there is.
    stated = sorted(one.se for one in values if one.se > 0)
    usual = stated[len(stated) // 2] if stated else 0.0
    floor = max(1e-9 * max(*(abs(one.value) for one in values), 1e-300), _LEAST_ERROR * usual)
    errors = [max(one.se, floor) for one in values]
    weights = [1 / error**2 for error in errors]
    total = sum(weights)
    mean = sum(w * one.value for w, one in zip(weights, values, strict=True)) / total
    spread = sum(w * (one.value - mean) ** 2 for w, one in zip(weights, values, strict=True))
    room = total - sum(w * w for w in weights) / total
    between = max((spread - (len(values) - 1)) / room, 0.0)
    weights = [1 / (error**2 + between) for error in errors]
    total = sum(weights)
    mean = sum(w * one.value for w, one in zip(weights, values, strict=True)) / total
    se = math.sqrt(1 / total)
    reach = float(special.stdtrit(len(values) - 1, 0.975))
    return Uncertain(value=mean, low=mean - reach * se, high=mean + reach * se, se=se)


def _from_baseline(
    view: WindowView, series: Series, metric: str, baseline: Baseline | None
) -> tuple[Uncertain | None, str]:
    if baseline is None or view.as_of < baseline.as_of:
        return None, "the reference is not mature yet"
    known = baseline.known(series).get(metric)
    if known is None:
        return None, f"the reference has no {metric_title(metric)}"
    se = (known.high - known.low) / (2 * _REACH)
    return Uncertain(value=known.value, low=known.low, high=known.high, se=se), ""


def _parts(metric: str, readings: Mapping[str, Reading]) -> dict[str, Known]:
    """What the metric is a function of, as far as the window has it."""
    return {
        one: _interval(readings[one])
        for one in stands_on(metric)
        if one in readings and readings[one].value is not None
    }


def _trailing_parts(metric: str, earlier: Sequence[Mapping[str, Reading]]) -> dict[str, Known]:
    """Means of what the metric is a function of; none unless all windows have one class prior."""
    names = stands_on(metric)
    if not names or any(
        one not in readings or readings[one].value is None for readings in earlier for one in names
    ):
        return {}
    priors = [_interval(readings["class_prior"]) for readings in earlier]
    if any(one != priors[0] for one in priors):
        return {}
    means = {one: trailing_mean([readings[one] for readings in earlier]) for one in names}
    found: dict[str, Known] = {one: mean for one, mean in means.items() if mean is not None}
    return found | {"class_prior": priors[0]} if found else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """A window's number less that of the reference, with what both stand on."""

    metric: str
    now: Uncertain
    reference: Uncertain
    parts_now: Mapping[str, Known]
    parts_before: Mapping[str, Known]

    def from_moved(self, amount: float, *, relative: bool) -> tuple[Uncertain, Uncertain]:
        """The reference and what is allowed, and the window less both."""
        moved = _moved(self.reference, amount, relative=relative)
        apart = difference(self.now, moved)
        times = _factor(self.reference, amount) if relative else 1.0
        together = difference_at_one_prior(
            self.metric, self.parts_now, self.parts_before, times=times
        )
        if together is None:
            return moved, apart
        # A mean of ratios is not the ratio of the means: the change is the one that is told.
        off = apart.value - together.value
        return moved, Uncertain(
            value=apart.value, low=together.low + off, high=together.high + off, se=together.se
        )


def _changed(
    view: WindowView, rule: AlertRule, condition: Change, difference_of: _Difference
) -> Judged:
    now, reference = difference_of.now, difference_of.reference
    sides: tuple[tuple[Side, float], ...] = (("below", -1.0), ("above", 1.0))
    wanted = {"drop": sides[:1], "rise": sides[1:], "change": sides}[condition.direction]
    kinds: list[EvidenceKind] = []
    found: list[tuple[float, float]] = []
    for side, sign in wanted:
        moved, change = difference_of.from_moved(
            sign * condition.amount, relative=condition.relative
        )
        kinds.append(_side_of(change, side, 0.0, rule.resolve_on))
        p_value = 1.0
        if kinds[-1] == "breach":
            p_value = min(len(wanted) * _p_value(change, side, 0.0), 1.0)
        found.append((moved.value, p_value))
    kind: EvidenceKind = "insufficient"
    if "breach" in kinds:
        kind = "breach"
    elif all(one == "good" for one in kinds):
        kind = "good"
    if kind == "breach":
        limit, p_value = found[kinds.index("breach")]
    else:
        # Of two limits the one that is nearer.
        limit, p_value = min(found, key=lambda one: abs(one[0] - now.value))
    _, moved_by = difference_of.from_moved(0.0, relative=False)
    allowed = f"{100 * condition.amount:g}%" if condition.relative else f"{condition.amount:g}"
    words = {"breach": "more than", "good": "within", "insufficient": "perhaps more than"}[kind]
    reason = (
        f"{_stated(rule.metric, now)}, {_by(moved_by)} than the reference of "
        f"{shown(reference.value)}, {words} the {allowed} allowed"
    )
    return Judged(
        evidence=Evidence(
            window=view.window,
            kind=kind,
            value=now.value,
            low=now.low,
            high=now.high,
            limit=limit,
            reference=reference.value,
            reason=reason,
        ),
        p_value=p_value if kind == "breach" else 1.0,
    )


def _moved(reference: Uncertain, amount: float, *, relative: bool) -> Uncertain:
    """The reference and what is allowed, with the reference's own interval."""
    if relative:
        factor = _factor(reference, amount)
        return Uncertain(
            value=reference.value * factor,
            low=reference.low * factor,
            high=reference.high * factor,
            se=reference.se * abs(factor),
        )
    return Uncertain(
        value=reference.value + amount,
        low=reference.low + amount,
        high=reference.high + amount,
        se=reference.se,
    )


def _factor(reference: Uncertain, amount: float) -> float:
    # What is lower than a negative number is more of it.
    return 1 + math.copysign(amount, amount * reference.value)


def _side_of(number: Uncertain, side: Side, limit: float, resolve_on: str) -> EvidenceKind:
    if side == "below":
        bad = number.high < limit
        good = (number.value if resolve_on == "estimate" else number.low) >= limit
    else:
        bad = number.low > limit
        good = (number.value if resolve_on == "estimate" else number.high) <= limit
    return "breach" if bad else "good" if good else "insufficient"


def _p_value(number: Uncertain, side: Side, limit: float) -> float:
    near_end = number.high if side == "below" else number.low
    return one_sided_p_value(number.value, near_end=near_end, limit=limit, reach=_REACH)


def _interval(reading: Reading) -> Uncertain:
    """A reading that has a value; without an interval it is taken to be exact."""
    value = math.nan if reading.value is None else reading.value
    low = value if reading.low is None else reading.low
    high = value if reading.high is None else reading.high
    se = (high - low) / (2 * _REACH) if reading.se is None else reading.se
    return Uncertain(value=value, low=low, high=high, se=se)


def _estimated(reading: Reading) -> Uncertain:
    """As it came out, for means over windows."""
    found = _interval(reading)
    if reading.unclipped is None:
        return found
    off = reading.unclipped - found.value
    low, high = found.low + off, found.high + off
    return Uncertain(value=reading.unclipped, low=low, high=high, se=found.se)


def _stated(metric: str, now: Uncertain) -> str:
    if metric in COUNTS:
        return f"there are {shown(now.value)} {metric_title(metric).lower()}"
    if now.low == now.high:
        return f"{metric_title(metric)} is {shown(now.value)}"
    ends = f"{shown(now.low)} to {shown(now.high)}"
    return f"{metric_title(metric)} is {shown(now.value)} ({ends})"


def _by(change: Uncertain) -> str:
    if change.value < 0:
        return f"{shown(-change.value)} ({shown(-change.high)} to {shown(-change.low)}) lower"
    return f"{shown(change.value)} ({shown(change.low)} to {shown(change.high)}) higher"
