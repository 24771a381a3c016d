"""Check rules against their monitor, against each other and against the destinations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from pumonitor.errors import did_you_mean
from pumonitor.monitor.config.sections.rules import (
    AuditOverdue,
    ChangeRule,
    MetricRule,
    Rule,
    SegmentRule,
    ShiftRule,
)
from pumonitor.monitor.config.text.problems import WithinError
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.names import VALUE

_LEAST_WINDOWS: Final = 3


def check_audits_are_meant(rules: Sequence[Rule]) -> None:
    """Refuse `audit_overdue` where the configuration does not say how often an audit is meant.

    Raises
    ------
    ValueError
        For the first such rule, with its number.
    """
    for number, rule in enumerate(rules):
        if isinstance(rule, AuditOverdue):
            msg = (
                f"rules[{number}] says when an audit is overdue, but not how often there is to be "
                "one: add audits: {every: 30d} to the monitor"
            )
            raise WithinError(msg, number)


def check_values_are_known(rules: Sequence[Rule]) -> None:
    """Refuse rules on estimates by value where no column says what rows are worth.

    Raises
    ------
    ValueError
        For the first such rule, with its number.
    """
    for number, rule in enumerate(rules):
        if isinstance(rule, MetricRule) and rule.metric in VALUE:
            msg = (
                f"rules[{number}] is on {rule.metric}, which needs what each row is worth: add "
                "its column to predictions, value: COLUMN"
            )
            raise WithinError(msg, number)


def check_rules(
    rules: Sequence[Rule],
    *,
    has_reference: bool,
    segments: Collection[str] | None,
    window: timedelta | None,
    is_prior_followed: bool = False,
) -> None:
    """Check rules against their monitor and against each other.

    Parameters
    ----------
    rules : sequence of Rule
    has_reference : bool
        Whether the monitor has a reference.
    segments : collection of str or None
        The monitor's segment columns; None if they are invalid.
    window : timedelta or None
        Length of a window; None if it is invalid.
    is_prior_followed : bool
        Whether the class prior is followed, so that a shift of it needs no detector.

    Raises
    ------
    ValueError
        For the first invalid rule, with its number.
    """
    seen: dict[str, int] = {}
    names: dict[str, int] = {}
    for number, rule in enumerate(rules):
        over = rule.compared_with if isinstance(rule, ChangeRule) else None
        if over == "reference" and not has_reference:
            msg = (
                f"rules[{number}] compares with the reference, but the monitor has no "
                "reference: add one"
            )
            raise WithinError(msg, number)
        of_prior = isinstance(rule, ShiftRule) and rule.metric == "class_prior"
        if of_prior and is_prior_followed and "detector" in rule.model_fields_set:
            msg = (
                f"rules[{number}] has a detector, but changes of a class prior that is followed "
                "are detected by its posterior: leave out detector"
            )
            raise WithinError(msg, number)
        if isinstance(over, timedelta) and window is not None and over < _LEAST_WINDOWS * window:
            msg = (
                f"rules[{number}] compares with the windows of the {shown_duration(over)} before, "
                f"but {_LEAST_WINDOWS} windows are needed, which take "
                f"{shown_duration(_LEAST_WINDOWS * window)}"
            )
            raise WithinError(msg, number)
        for column in _columns(rule):
            if segments is not None and column not in segments:
                hint = did_you_mean(column, segments)
                msg = (
                    f"rules[{number}] has a segment column that is not among the segments of "
                    f"predictions: {column!r}{hint}"
                )
                raise WithinError(msg, number)
        meaning = rule.model_dump_json(exclude={"to", "runbook", "name", "repeat"})
        if meaning in seen:
            msg = f"rules[{number}] is the same as rules[{seen[meaning]}]: leave one out"
            raise WithinError(msg, number)
        seen[meaning] = number
        if rule.name is not None and rule.name in names:
            msg = f"rules[{number}] has the same name as rules[{names[rule.name]}]: {rule.name!r}"
            raise WithinError(msg, number)
        if rule.name is not None:
            names[rule.name] = number


def _columns(rule: Rule) -> tuple[str, ...]:
    """Segment columns that a rule names."""
    if not isinstance(rule, SegmentRule):
        return ()
    return (*(rule.segment or {}), *([] if rule.per is None else [rule.per]))


def check_destinations(
    rules: Sequence[Rule], destinations: Collection[str], *, monitor: str
) -> None:
    """Check that every destination named in a rule exists.

    Raises
    ------
    ValueError
        For the first rule with an unknown destination, with its number.
    """
    for number, rule in enumerate(rules):
        for name in rule.to or ():
            if name not in destinations:
                hint = did_you_mean(name, destinations)
                there = f" (there are {', '.join(destinations) or 'none'})"
                msg = (
                    f"{monitor}.rules[{number}] has an unknown destination: {name!r}{hint or there}"
                )
                raise WithinError(msg, monitor, "rules", number)
