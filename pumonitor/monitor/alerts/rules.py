"""From the rules of a configuration to those that alerts follow."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pumonitor.monitor.config.configuration import Monitor
from pumonitor.monitor.config.sections import rules as rule_config
from pumonitor.monitor.config.sections.rules import Rule
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Change,
    Condition,
    Health,
    HealthKind,
    LabelDelay,
    Limit,
    Missing,
    PriorShift,
    Shift,
)
from pumonitor.monitor.windows.evaluation.baseline import baseline_period

__all__ = ["alert_rules"]

_YEAR: Final = timedelta(days=365.25)
_DAY: Final = timedelta(days=1)
_LABELS_ARE_USUAL: Final = timedelta(days=28)
"""Without a reference, how late labels usually come is told by the windows of so long."""

_LEAST_TO_LEARN: Final = 5
_NOT_MEANING: Final = {"to", "runbook", "name", "repeat"}
_SEEN_AT_ONCE: Final = frozenset({"no_data", "volume", "score_range"})
"""Predictions are there when their window ends; nothing is gained by waiting for labels."""


def alert_rules(monitor: Monitor, configuration: str) -> tuple[AlertRule, ...]:
    """What is judged for a monitor: each rule, its milder limit and its staleness.

    Parameters
    ----------
    monitor : Monitor
    configuration : str
        Hash of what its results depend on. Other results are judged by other rules.
    """
    found: list[AlertRule] = []
    for rule in monitor.rules:
        found.append(_rule(monitor, configuration, rule, part=""))
        if rule.warning is not None:
            found.append(_rule(monitor, configuration, rule, part="warning"))
        if rule.stale_for is not None:
            found.append(_rule(monitor, configuration, rule, part="stale"))
    return tuple(found)


def _rule(monitor: Monitor, configuration: str, rule: Rule, *, part: str) -> AlertRule:
    condition = Missing() if part == "stale" else _condition(monitor, rule, part)
    ((column, value),) = (rule.segment or {"": ""}).items()
    health = rule.health is not None and rule.health != "few_positives"
    name = rule.name or _name(rule, part)
    return AlertRule(
        key=_key(rule, configuration, part, condition),
        name=f"{name} ({part})" if part == "stale" or (part and rule.name) else name,
        metric=f"health:{rule.health}" if health else rule.metric or "labeled_positives",
        condition=condition,
        windows=rule.stale_for or 1 if part == "stale" else rule.windows,
        keep=0 if part == "stale" else rule.keep,
        severity="warning" if part else rule.severity,
        resolve_on=rule.resolve_on,
        provisional=rule.provisional or rule.health in _SEEN_AT_ONCE,
        segment=f"{column}={value}" if column else "",
        per=rule.per or "",
        false_discovery_rate=rule.false_discovery_rate,
        repeat=rule.repeat,
        to=rule.to,
        runbook=rule.runbook or "",
    )


def _condition(monitor: Monitor, rule: Rule, part: str) -> Condition:
    if rule.health == "label_delay":
        return _label_delay(monitor, rule)
    if rule.health is not None and rule.health != "few_positives":
        return _health(rule, rule.health)
    if rule.shift is not None:
        return _shift(monitor, rule)
    if rule.below is not None or rule.above is not None:
        limit = rule.below if rule.below is not None else rule.above
        if part == "warning" and rule.warning is not None:
            limit = rule.warning.amount
        return Limit(side="below" if rule.below is not None else "above", limit=limit or 0.0)
    name: Any = rule.condition
    given: Any = rule.warning if part == "warning" else getattr(rule, name)
    over = rule.compared_with
    return Change(
        direction=name,
        amount=given.amount,
        relative=given.relative,
        over=over if isinstance(over, timedelta) else None,
    )


def _health(rule: Rule, kind: HealthKind) -> Health:
    if rule.after is not None:
        return Health(kind=kind, limit=rule.after.total_seconds())
    if rule.change is not None:
        return Health(kind=kind, limit=rule.change.amount)
    return Health(kind=kind, limit=rule.above or 0.0)


def _shift(monitor: Monitor, rule: Rule) -> Shift | PriorShift:
    window = monitor.windows.containing(datetime(2026, 1, 1, tzinfo=UTC))
    period = baseline_period(monitor)
    windows_per_year = _YEAR / (window.end - window.start)
    if rule.metric == "class_prior" and monitor.is_prior_followed:
        return PriorShift(
            direction=rule.shift or "any",
            false_alarms_per_year=rule.false_alarms_per_year,
            windows_per_year=windows_per_year,
            reference_windows=period.windows,
            begins=period.end,
        )
    return Shift(
        direction=rule.shift or "any",
        false_alarms_per_year=rule.false_alarms_per_year,
        windows_per_year=windows_per_year,
        detector=rule.detector,
        reference_windows=max(period.windows, _LEAST_TO_LEARN),
        begins=period.start,
    )


def _label_delay(monitor: Monitor, rule: Rule) -> LabelDelay:
    window = monitor.windows.containing(datetime(2026, 1, 1, tzinfo=UTC))
    length = window.end - window.start
    period = baseline_period(monitor)
    taught_by = period.windows
    if monitor.reference is None:
        taught_by = min(taught_by, -(-_LABELS_ARE_USUAL // length))
    return LabelDelay(
        direction=rule.shift or "any",
        change=0.0 if rule.change is None else rule.change.amount,
        maturity=monitor.maturity,
        false_alarms_per_year=rule.false_alarms_per_year,
        windows_per_year=_YEAR / length,
        reference_windows=max(taught_by, _LEAST_TO_LEARN),
        windows_per_day=_DAY // length if _DAY % length == timedelta() else 0,
        begins=period.start,
    )


def _name(rule: Rule, part: str) -> str:
    """What it says, in short; the milder limit has its own number."""
    what = rule.health or rule.metric or ""
    if rule.health is not None:
        what = f"health {rule.health.replace('_', ' ')}"
    limit = getattr(rule, rule.condition) if rule.condition else None
    if part == "warning" and rule.warning is not None:
        limit = rule.warning if isinstance(limit, rule_config.Change) else rule.warning.amount
    words = [what]
    if isinstance(limit, rule_config.Change):
        amount = f"{100 * limit.amount:g}%" if limit.relative else f"{limit.amount:g}"
        words += [rule.condition, amount]
    elif rule.condition == "shift":
        words += ["shift", str(limit)]
    elif isinstance(limit, float | int):
        words += [rule.condition, f"{limit:g}"]
    if rule.segment:
        words += [f"{column}={value}" for column, value in rule.segment.items()]
    if rule.per:
        words.append(f"per {rule.per}")
    return " ".join(words)


def _key(rule: Rule, configuration: str, part: str, condition: Condition) -> str:
    """Hash of all that changes what a rule finds, however it is written."""
    meaning = rule.model_dump(mode="json", exclude=_NOT_MEANING, exclude_defaults=True)
    # What belongs to one of its parts alone is no part of the others.
    if part != "warning":
        meaning.pop("warning", None)
    if part != "stale":
        meaning.pop("stale_for", None)
    # The second versions look for lasting changes, and at the posterior of what is followed.
    second = rule.health == "label_delay" or isinstance(condition, PriorShift)
    version = 2 if second else 1
    text = json.dumps(
        {"version": version, "configuration": configuration, "part": part, "rule": meaning},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]
