"""Convert the rules of a configuration to alert rules."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from pumonitor.monitor.config.sections import rules as config
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rule_values import Change
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Condition,
    Health,
    LabelDelay,
    Missing,
    PriorShift,
    Shift,
)
from pumonitor.monitor.windows.evaluation.baseline import baseline_period

_YEAR: Final = timedelta(days=365.25)
_DAY: Final = timedelta(days=1)
_LABELS_ARE_USUAL: Final = timedelta(days=28)
"""Without a reference, the usual label delay is learned from the windows of this time."""

_LEAST_TO_LEARN: Final = 5
_NOT_MEANING: Final = {"to", "runbook", "name", "repeat"}
_SEEN_AT_ONCE: Final = (config.NoData, config.Volume, config.ScoreRange)
"""Rules evaluated as soon as a window ends, as they do not depend on labels."""

Part = Literal["", "warning", "stale"]
"""Part of a configured rule: itself (""), its milder limit, or missing values of its metric."""


def alert_rules(monitor: Monitor, configuration: str) -> tuple[AlertRule, ...]:
    """Alert rules of a monitor: for each configured rule itself, its `warning` and its `stale_for`.

    Parameters
    ----------
    monitor : Monitor
    configuration : str
        Hash of the configuration. It is part of a rule's key, so results of another configuration
        have other alerts.
    """
    found: list[AlertRule] = []
    for rule in monitor.rules:
        found.append(_rule(monitor, configuration, rule, part=""))
        if _warning(rule) is not None:
            found.append(_rule(monitor, configuration, rule, part="warning"))
        if isinstance(rule, config.MetricRule) and rule.stale_for is not None:
            found.append(_rule(monitor, configuration, rule, part="stale"))
    return tuple(found)


def _rule(monitor: Monitor, configuration: str, rule: config.Rule, *, part: Part) -> AlertRule:
    condition = Missing() if part == "stale" else _condition(monitor, rule, part)
    name = rule.name or _name(rule, part)
    made = AlertRule(
        key=_key(rule, configuration, part, condition),
        name=f"{name} ({part})" if part == "stale" or (part and rule.name) else name,
        metric=_metric(rule),
        condition=condition,
        severity="warning" if part else rule.severity,
        repeat=rule.repeat,
        to=rule.to,
        runbook=rule.runbook or "",
    )
    if isinstance(rule, config.WindowRule):
        provisional = rule.provisional or isinstance(rule, _SEEN_AT_ONCE)
        made = replace(made, windows=rule.windows, keep=rule.keep, provisional=provisional)
    if isinstance(rule, config.SegmentRule):
        ((column, value),) = (rule.segment or {"": ""}).items()
        made = replace(
            made,
            segment=f"{column}={value}" if column else "",
            per=rule.per or "",
            false_discovery_rate=rule.false_discovery_rate,
        )
    if isinstance(rule, config.MetricRule):
        audited = rule.evidence == "audited"
        made = replace(made, resolve_on=rule.resolve_on, audited=audited)
        if part == "stale":
            made = replace(made, windows=rule.stale_for or 1, keep=0)
    return made


def _metric(rule: config.Rule) -> str:
    if isinstance(rule, config.MetricRule):
        return rule.metric
    if isinstance(rule, config.UnfairLabels):
        return f"health:{rule.audit}"
    return "labeled_positives" if isinstance(rule, config.FewPositives) else f"health:{rule.health}"


def _warning(rule: config.Rule) -> Change | None:
    return rule.warning if isinstance(rule, config.WithWarning) else None


def _condition(monitor: Monitor, rule: config.Rule, part: Part) -> Condition:
    warning = _warning(rule) if part == "warning" else None
    match rule:
        case config.ShiftRule():
            return _shift(monitor, rule)
        case config.SingleWindowRule():
            return rule.tested(warning)
        case config.FewPositives():
            return Limit(side="below", limit=rule.below)
        case config.LabelDelay():
            return _label_delay(monitor, rule)
        case config.AuditOverdue() | config.AuditUnread() | config.AuditConflicts():
            return _of_audits(monitor, rule)
        case config.UnfairLabels():
            return Health(kind=rule.audit)
        case _:
            return _health(rule)


def _health(rule: config.HealthRule) -> Health:
    match rule:
        case config.Stale():
            return Health(kind=rule.health, limit=rule.after.total_seconds())
        case config.Volume():
            return Health(kind=rule.health, limit=rule.change.amount)
        case config.UnmatchedLabels():
            return Health(kind=rule.health, limit=rule.above)
        case config.NoData() | config.LostRows() | config.ScoreRange():
            return Health(kind=rule.health)
        case _:
            msg = f"{rule.health} has a condition of its own"
            raise ValueError(msg)


def _of_audits(
    monitor: Monitor, rule: config.AuditOverdue | config.AuditUnread | config.AuditConflicts
) -> Health:
    match rule:
        case config.AuditOverdue():
            assert monitor.audits is not None  # noqa: S101 (checked in the configuration)
            assert monitor.audits.every is not None  # noqa: S101 (checked in the configuration)
            return Health(kind=rule.health, limit=monitor.audits.every.total_seconds())
        case config.AuditUnread():
            return Health(kind=rule.health, limit=rule.after.total_seconds())
        case config.AuditConflicts():
            return Health(kind=rule.health, limit=rule.above)


def _shift(monitor: Monitor, rule: config.ShiftRule) -> Shift | PriorShift:
    window = monitor.windows.containing(datetime(2026, 1, 1, tzinfo=UTC))
    period = baseline_period(monitor)
    windows_per_year = _YEAR / (window.end - window.start)
    if rule.metric == "class_prior" and monitor.is_prior_followed:
        return PriorShift(
            direction=rule.shift,
            false_alarms_per_year=rule.false_alarms_per_year,
            windows_per_year=windows_per_year,
            reference_windows=period.windows,
            begins=period.end,
        )
    return Shift(
        direction=rule.shift,
        false_alarms_per_year=rule.false_alarms_per_year,
        windows_per_year=windows_per_year,
        detector=rule.detector,
        reference_windows=max(period.windows, _LEAST_TO_LEARN),
        begins=period.start,
    )


def _label_delay(monitor: Monitor, rule: config.LabelDelay) -> LabelDelay:
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


def _name(rule: config.Rule, part: Part) -> str:
    """Default name of a rule: its metric and condition in words."""
    if isinstance(rule, config.MetricRule):
        words = [rule.metric]
    elif isinstance(rule, config.UnfairLabels):
        words = [f"audit {rule.audit.replace('_', ' ')}"]
    else:
        words = [f"health {rule.health.replace('_', ' ')}"]
    words += _limit_in_words(rule, _warning(rule) if part == "warning" else None)
    if isinstance(rule, config.SegmentRule):
        words += [f"{column}={value}" for column, value in (rule.segment or {}).items()]
        words += [f"per {rule.per}"] if rule.per else []
    return " ".join(words)


def _limit_in_words(rule: config.Rule, warning: Change | None) -> list[str]:
    match rule:
        case config.MetricRule():
            return rule.in_words(warning)
        case config.LabelDelay() if rule.shift is not None:
            return ["shift", rule.shift]
        case config.LabelDelay() if rule.change is not None:
            return ["change", rule.change.in_words]
        case config.Volume():
            return ["change", rule.change.in_words]
        case config.FewPositives():
            return ["below", f"{rule.below:g}"]
        case config.UnmatchedLabels() | config.AuditConflicts():
            return ["above", f"{rule.above:g}"]
        case _:
            return []


def _key(rule: config.Rule, configuration: str, part: Part, condition: Condition) -> str:
    """Hash of everything that changes a rule's evidence, whatever its layout in the file."""
    meaning = rule.model_dump(mode="json", exclude=_NOT_MEANING, exclude_defaults=True)
    # Keys of one part do not change the hash of the others.
    if part != "warning":
        meaning.pop("warning", None)
    if part != "stale":
        meaning.pop("stale_for", None)
    # Version 2: label delays detect lasting changes, class prior shifts use the posterior.
    second = isinstance(rule, config.LabelDelay) or isinstance(condition, PriorShift)
    version = 2 if second else 1
    text = json.dumps(
        {"version": version, "configuration": configuration, "part": part, "rule": meaning},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]
