"""Convert the rules of a configuration to alert rules."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Literal

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import Rule
from pumonitor.monitor.config.sections.rules_of_metrics import RuleBasis
from pumonitor.monitor.rules.alerts.by_series import Missing
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.windows.evaluation.baseline import baseline_period

_NOT_MEANING: Final = {"to", "runbook", "name", "repeat"}

Part = Literal["", "warning", "stale"]
"""Part of a configured rule: itself (""), its milder limit, or missing values of its metric."""

_PARTS: Final[tuple[tuple[Part, str], ...]] = (("warning", "warning"), ("stale", "stale_for"))
"""The others with the key that makes them."""


def alert_rules(monitor: Monitor, configuration: str) -> tuple[AlertRule, ...]:
    """Alert rules of a monitor: for each configured rule itself, its `warning` and its `stale_for`.

    Parameters
    ----------
    monitor : Monitor
    configuration : str
        Hash of the configuration. It is part of a rule's key, so results of another configuration
        have other alerts.
    """
    window = monitor.windows.containing(datetime(2026, 1, 1, tzinfo=UTC))
    period = baseline_period(monitor)
    basis = RuleBasis(
        window=window.end - window.start,
        maturity=monitor.maturity,
        begins=period.start,
        ends=period.end,
        windows=period.windows,
        is_prior_followed=monitor.is_prior_followed,
        audits_every=None if monitor.audits is None else monitor.audits.every,
    )
    found: list[AlertRule] = []
    for rule in monitor.rules:
        parts = [part for part, key in _PARTS if getattr(rule, key, None) is not None]
        found += [_rule(basis, configuration, rule, part) for part in ("", *parts)]
    return tuple(found)


def _rule(basis: RuleBasis, configuration: str, rule: Rule, part: Part) -> AlertRule:
    warning = getattr(rule, "warning", None) if part == "warning" else None
    condition = Missing() if part == "stale" else rule.make_condition(basis, warning)
    key, value = rule.subject
    words = [value if key == "metric" else f"{key} {value.replace('_', ' ')}"]
    words += [*rule.in_words(warning), *getattr(rule, "segments_in_words", ())]
    name = rule.name or " ".join(words)
    made = AlertRule(
        key=_key(rule, configuration, part, version=condition.key_version),
        name=f"{name} ({part})" if part == "stale" or (part and rule.name) else name,
        metric=rule.tested_metric,
        condition=condition,
        **rule.settings(),
    )
    if part == "stale":
        made = replace(made, windows=getattr(rule, "stale_for", 1), keep=0)
    return replace(made, severity="warning") if part else made


def _key(rule: Rule, configuration: str, part: Part, *, version: int) -> str:
    """Hash of everything that changes a rule's evidence, whatever its layout in the file."""
    meaning = rule.model_dump(mode="json", exclude=_NOT_MEANING, exclude_defaults=True)
    # Keys of one part do not change the hash of the others.
    for other, key in _PARTS:
        if part != other:
            meaning.pop(key, None)
    text = json.dumps(
        {"version": version, "configuration": configuration, "part": part, "rule": meaning},
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]
