"""For each rule of a monitor: its condition in words, and the first window it is evaluated on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, assert_never

from scipy import special

from pumonitor.monitor.alerts.false_alarms import QuietAlarms
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import DETECTORS
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.rules.alerts.evidence_prior import least_odds
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Change,
    Health,
    LabelDelay,
    Missing,
    PriorShift,
    Shift,
    WindowCondition,
)
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.ports import Window

FEW_TO_LEARN: Final = 10
"""Windows, below which a detector hardly knows how much windows differ."""

_USUAL: Final = 3
"""Earlier windows that say what is usual."""

_HEALTH: Final = {
    "no_data": "a window has no predictions",
    "stale": "results are overdue by more than {limit}",
    "lost_rows": "rows or labels are gone that were counted before",
    "few_positives": "too few positives are confirmed",
    "unmatched_labels": "more than {limit} of the labels belong to no prediction",
    "score_range": "scores leave their usual range",
    "volume": "predictions are {limit} more or less than usual",
    "audit_overdue": "no audit has been drawn for {limit}",
    "audit_unread": "cases of an audit have no verdict {limit} after the draw",
    "audit_conflicts": "more than {limit} cases of an audit have contradicting verdicts",
    "unfair_labels": "an audit says that confirmations follow the score (level .05)",
}
_NEEDS_USUAL: Final = ("score_range", "volume")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutlook:
    """Description of a rule: its condition, first window, destinations and false alarms.

    Attributes
    ----------
    rule, severity : str
    fires : str
        Condition in words.
    first_window : datetime or None
        Start of the first window that the rule can be evaluated on; None without predictions.
    judged_at : datetime or None
        When the rule is evaluated on that window.
    to : tuple of str or None
        Destinations; None for all.
    quiet : QuietAlarms or None
        False alarms in quiet windows. None without results, for detectors (their rate is chosen)
        and for rules on the health of the data.
    sees : str
        Detection delay of a detector for a fall, from the variation of quiet windows; "" if
        unknown.
    """

    rule: str
    severity: str
    fires: str
    first_window: datetime | None
    judged_at: datetime | None
    to: tuple[str, ...] | None
    quiet: QuietAlarms | None = None
    sees: str = ""


def rule_outlooks(
    monitor: Monitor,
    *,
    first: datetime | None,
    quiet: Mapping[str, QuietAlarms] | None = None,
    sights: Mapping[str, str] | None = None,
) -> list[RuleOutlook]:
    """Describe every rule of a monitor whose first prediction is at `first`.

    Parameters
    ----------
    monitor : Monitor
    first : datetime or None
    quiet : mapping of str to QuietAlarms, optional
    sights : mapping of str to str, optional
        By the rules' keys.
    """
    found = []
    for rule in alert_rules(monitor, configuration_hash(monitor)):
        window = None if first is None else _first_window(monitor, rule, first)
        wait = timedelta() if rule.provisional else monitor.maturity
        found.append(
            RuleOutlook(
                rule=rule.name,
                severity=rule.severity,
                fires=_fires(rule),
                first_window=None if window is None else window.start,
                judged_at=None if window is None else window.end + wait,
                to=rule.to,
                quiet=(quiet or {}).get(rule.key),
                sees=(sights or {}).get(rule.key, ""),
            )
        )
    return found


def _first_window(monitor: Monitor, rule: AlertRule, first: datetime) -> Window:
    condition = rule.condition
    start, skipped = first, 0
    match condition:
        case Change():
            if condition.over is not None:
                skipped = _USUAL
            elif (end := baseline_period(monitor).end) is not None:
                start = max(first, end)
        case PriorShift():
            start = first if condition.begins is None else max(first, condition.begins)
            skipped = condition.reference_windows if condition.begins is None else 0
        case Shift() | LabelDelay():
            start = first if condition.begins is None else max(first, condition.begins)
            skipped = condition.reference_windows
        case Health():
            skipped = _USUAL if condition.kind in _NEEDS_USUAL else 0
        case WindowCondition() | Missing():
            pass
        case _:
            assert_never(condition)
    grid = monitor.windows
    window = grid.containing(start)
    # Months differ in length: twice as much of them as is needed.
    ahead = grid.between(window.start, window.end + (skipped + 1) * 2 * _length(window))
    return next(islice(ahead, skipped, None))


def _length(window: Window) -> timedelta:
    return window.end - window.start


def _fires(rule: AlertRule) -> str:
    text = _condition(rule)
    if rule.windows > 1:
        text += f", {rule.windows} windows in a row"
    if rule.per:
        text += f", in a {rule.per}"
    return text


def short_to_learn(monitor: Monitor) -> str:
    """Why detectors see changes late, where they learn from few windows; "" where they do not."""
    learning = {
        rule.name: rule.condition.reference_windows
        for rule in alert_rules(monitor, configuration_hash(monitor))
        if isinstance(rule.condition, Shift) and rule.condition.reference_windows < FEW_TO_LEARN
    }
    if not learning:
        return ""
    windows = max(learning.values())
    wider = _reach(windows) / _reach(2 * FEW_TO_LEARN)
    return (
        f"{', '.join(learning)}: how much windows differ is learned from {windows} windows, those "
        "of the reference and those after it, and the first one after them is judged first; a "
        f"change must be some {wider:.1f} times as large as with {2 * FEW_TO_LEARN} windows to be "
        "seen as soon: make the reference longer"
    )


def _reach(windows: int) -> float:
    """Of a window's prediction, in standard deviations: Student's t of so many windows."""
    return float(special.stdtrit(windows - 1, 0.975)) * math.sqrt(1 + 1 / windows)


def _learned(windows: int) -> str:
    return f"learned from {windows} windows"


def _condition(rule: AlertRule) -> str:
    condition = rule.condition
    match condition:
        case WindowCondition():
            return condition.fires
        case Change():
            amount = f"{100 * condition.amount:g}%" if condition.relative else condition.amount
            against = (
                "the reference"
                if condition.over is None
                else f"the {shown_duration(condition.over)} before"
            )
            return f"a {condition.direction} of more than {amount} against {against}"
        case Shift():
            side = "" if condition.direction == "any" else f" {condition.direction}"
            rate = f"false alarms a year: {condition.false_alarms_per_year:g}"
            by = "" if condition.detector == DETECTORS[0] else f"{condition.detector}, "
            return f"a lasting change{side} ({by}{rate}; {_learned(condition.reference_windows)})"
        case PriorShift():
            side = {"up": " up", "down": " down", "any": ""}[condition.direction]
            odds = least_odds(condition.false_alarms_per_year, condition.windows_per_year)
            rate = f"false alarms a year: at most {condition.false_alarms_per_year:g}"
            return (
                "the probability that the share of positives has changed by a quarter or "
                f"more{side} is above {odds / (1 + odds):.4g} in two windows in a row ({rate})"
            )
        case LabelDelay():
            than_usual = {"up": "later", "down": "sooner", "any": "later or sooner"}
            by = f"{100 * condition.change:g}% " if condition.change else ""
            rate = f"false alarms a year: {condition.false_alarms_per_year:g}"
            learned = _learned(condition.reference_windows)
            when = f"{by}{than_usual[condition.direction]}"
            return f"labels arrive {when} than usual ({rate}; {learned})"
        case Health():
            limit = (
                shown_duration(timedelta(seconds=condition.limit))
                if condition.kind in ("stale", "audit_overdue", "audit_unread")
                else f"{condition.limit:g}"
                if condition.kind == "audit_conflicts"
                else f"{100 * condition.limit:g}%"
            )
            return _HEALTH[condition.kind].format(limit=limit)
        case Missing():
            return "there is no usable value"
        case _:
            assert_never(condition)
