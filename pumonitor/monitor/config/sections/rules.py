"""Rules as a discriminated union: find the kind of a mapping and refuse keys of other kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args

from pydantic import BeforeValidator, Discriminator

from pumonitor.errors import nearest
from pumonitor.monitor.config.sections.rules_of_audits import AuditOverdue, AuditRule
from pumonitor.monitor.config.sections.rules_of_health import HealthRule
from pumonitor.monitor.config.sections.rules_of_metrics import (
    DETECTORS,
    AnyRule,
    ChangeRule,
    LimitRule,
    MetricRule,
    RuleOfMetric,
    SegmentRule,
    ShiftRule,
)
from pumonitor.monitor.config.text.problems import WithinError

__all__ = [
    "DETECTORS",
    "KINDS",
    "AuditOverdue",
    "ChangeRule",
    "LimitRule",
    "MetricRule",
    "Rule",
    "SegmentRule",
    "ShiftRule",
    "keys_of",
    "meant_keys",
]

KINDS: Final[Mapping[str, type[AnyRule]]] = {
    tag.tag: model for model, tag in map(get_args, get_args(RuleOfMetric | HealthRule | AuditRule))
}
"""Discriminator tag to model; pydantic puts the tag into the place of an error."""

_OF_METRICS: Final = {
    key: kind
    for kind, model in KINDS.items()
    if issubclass(model, MetricRule)
    for key in model.made_by
}
"""A rule on a metric has exactly one of these keys, which determines its kind."""

_LIMITS: Final = {**dict.fromkeys(_OF_METRICS), "after": None}
_EXAMPLES: Final = {"after": "3d", "below": "30", "above": "5%", "change": "50%", "shift": "up"}
_NOT_NULL: Final = frozenset(
    {"from", "detector", "false_alarms_per_year", "for", "keep", "severity", "resolve_on"}
    | {"provisional", "false_discovery_rate", "repeat"}
)


def keys_of(kind: str) -> list[str]:
    """Keys of a kind of rule, with the ones that determine the kind first."""
    names = [field.alias or name for name, field in KINDS[kind].model_fields.items()]
    first = ("metric", "health", "audit", *_LIMITS)
    return sorted(names, key=lambda name: first.index(name) if name in first else len(first))


_KEYS: Final = {kind: keys_of(kind) for kind in KINDS}
_ALL_KEYS: Final = frozenset[str]().union(*_KEYS.values())


def meant_keys(name: str, kind: str) -> list[str]:
    """Keys that a misspelt one may mean: those of the kind, or else of any kind."""
    return nearest(name, _KEYS[kind]) or nearest(name, sorted(_ALL_KEYS))


def _kind_of(given: Any) -> str:
    """The tag of a mapping that passed `_of_one_kind`, or of a model."""
    if isinstance(given, AnyRule):
        return next(kind for kind, model in KINDS.items() if model is type(given))
    for key in ("health", "audit"):
        if key in given:
            return f"{key}: {given[key]}"
    # With misspelt keys only, the errors are those of a limit rule, which has none of them.
    return next((kind for key, kind in _OF_METRICS.items() if key in given), "limit rule")


def _of_one_kind(given: Any) -> Any:
    """Return the mapping without empty keys, after checking that it is of one kind.

    Raises
    ------
    ValueError
        If it is of no kind, or has keys of another kind.
    """
    if not isinstance(given, dict):
        msg = "must be a mapping: keys with values, indented"
        raise ValueError(msg)
    rule = {key: value for key, value in given.items() if value is not None or key in _NOT_NULL}
    if "health" in rule:
        _of_health(rule)
    elif "audit" in rule:
        _of_audit(rule)
    else:
        _of_a_metric(rule)
    return rule


def _of_health(rule: dict[str, Any]) -> None:
    kind, health = f"health: {rule['health']}", rule["health"]
    if kind not in KINDS:
        *others, last = (
            repr(one.removeprefix("health: ")) for one in KINDS if one.startswith("health: ")
        )
        msg = f"health must be {', '.join(others)} or {last}"
        raise WithinError(msg, "health")
    _refuse_keys_of_others(rule, kind, kind, _KEYS[kind])
    takes = [key for key in _KEYS[kind] if key in _LIMITS]
    limits = [key for key in takes if key in rule]
    if len(limits) > 1:
        msg = f"has {' and '.join(limits)}: with health: {health} give only one of them"
        raise ValueError(msg)
    if takes and not limits and not _unknown(rule):
        examples = " or ".join(f"{key}: {_EXAMPLES[key]}" for key in takes)
        msg = f"needs {' or '.join(takes)} with health: {health}, such as {examples}"
        raise ValueError(msg)


def _of_audit(rule: dict[str, Any]) -> None:
    kind = f"audit: {rule['audit']}"
    if kind not in KINDS:
        msg = "audit must be 'unfair_labels'"
        raise WithinError(msg, "audit")
    _refuse_keys_of_others(rule, kind, kind, _KEYS[kind])


def _of_a_metric(rule: dict[str, Any]) -> None:
    given = [key for key in _OF_METRICS if key in rule]
    unknown = _unknown(rule)
    if "metric" not in rule and not unknown:
        msg = "must have a metric or a health"
        raise ValueError(msg)
    if not given and unknown:
        return
    if len(given) != 1:
        got = f"has {' and '.join(given)}" if given else "has none of them"
        msg = f"must have one of {', '.join(_OF_METRICS)}: it {got}"
        raise ValueError(msg)
    kind = _OF_METRICS[given[0]]
    others = {key for key in _OF_METRICS if key != given[0]}
    allowed = [key for key in _KEYS[kind] if key not in others]
    _refuse_keys_of_others(rule, f"a rule with {given[0]}", kind, allowed)


def _unknown(rule: Mapping[str, Any]) -> list[str]:
    return [str(key) for key in rule if key not in _ALL_KEYS]


def _refuse_keys_of_others(
    rule: Mapping[str, Any], shown: str, kind: str, allowed: list[str]
) -> None:
    wrong = [key for key in rule if key in _ALL_KEYS and key not in _KEYS[kind]]
    if wrong:
        msg = f"has {wrong[0]}, which {shown} does not have: its keys are {', '.join(allowed)}"
        raise WithinError(msg, wrong[0])


Rule = Annotated[
    RuleOfMetric | HealthRule | AuditRule,
    Discriminator(_kind_of),
    BeforeValidator(_of_one_kind),
]
