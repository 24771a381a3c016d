"""Alert rules for Prometheus, made from a configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import yaml

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.rule import AlertRule

_SERIES: Final = "monitor, rule, metric, severity, model_version, segment"
# Prometheus ends an alert whose data have gone; a scrape or two may be missed.
_KEPT: Final = "30m"
_DAY: Final = 86_400
# A version as `version_written` puts it into an address.
_OF_SERIES: Final = (
    '?version={{ reReplaceAll "^(-*)$" "${1}-" $labels.model_version | urlquery }}'
    "{{ with $labels.segment }}&segment={{ . | urlquery }}{{ end }}"
)


def prometheus_rules(
    monitors: Mapping[str, Monitor],
    rules: Mapping[str, Sequence[AlertRule]],
    *,
    pages: PageAddresses | None = None,
) -> str:
    """A rule file for Prometheus: the monitors' alerts, and alerts about the monitor itself.

    An alert is firing in Prometheus while it is firing in the state database, so that conditions
    are evaluated in one place. Further alerts report that no window was evaluated for too long and
    that metrics cannot be scraped. One alert always fires, for a service that expects it regularly.

    Parameters
    ----------
    monitors : mapping of str to Monitor
    rules : mapping of str to sequence of AlertRule
        Of each monitor.
    pages : PageAddresses, optional
        Of the pages that alerts link to (``page_url``).

    Returns
    -------
    str
        YAML for ``rule_files`` of Prometheus; ``promtool check rules`` accepts it.
    """
    groups = [_itself(monitors, pages)]
    groups += [
        {"name": f"pumonitor {name}", "rules": [_alert(name, rule, pages) for rule in some]}
        for name, some in rules.items()
        if some
    ]
    text: str = yaml.safe_dump(
        {"groups": groups}, sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
    )
    return text


def _alert(monitor: str, rule: AlertRule, pages: PageAddresses | None) -> dict[str, Any]:
    chosen = f"pumonitor_alert_firing{{monitor={_quoted(monitor)}, rule_key={_quoted(rule.key)}}}"
    annotations = {
        "summary": f"{_literal(monitor)}: {_literal(rule.name)}",
        "description": (
            "{{ $labels.metric }} of {{ $labels.monitor }}"
            "{{ with $labels.model_version }}, model version {{ . }}{{ end }}"
            "{{ with $labels.segment }}, {{ . }}{{ end }}. "
            "Cause and history: pumonitor alerts list {{ $labels.monitor }}"
        ),
    }
    if rule.runbook:
        annotations["runbook_url"] = _literal(rule.runbook)
    if pages is not None:
        annotations["page_url"] = _literal(pages.monitor(monitor)) + _OF_SERIES
    return {
        "alert": _name(monitor, rule.name),
        "expr": f"max by ({_SERIES}) ({chosen}) == 1",
        "keep_firing_for": _KEPT,
        "labels": {"severity": rule.severity},
        "annotations": annotations,
    }


def _itself(monitors: Mapping[str, Monitor], pages: PageAddresses | None) -> dict[str, Any]:
    return {
        "name": "pumonitor",
        "rules": [
            _about(
                "PumonitorGone",
                "absent_over_time(pumonitor_build_info[15m])",
                "pumonitor cannot be scraped: the models are not monitored",
            ),
            *(_nothing_evaluated(name, monitor, pages) for name, monitor in monitors.items()),
            _about(
                "PumonitorWindowsFail",
                "max by (monitor) (pumonitor_windows_failing) > 0",
                "{{ $labels.monitor }}: {{ $value }} windows fail. pumonitor doctor shows why",
                severity="warning",
            ),
            _about(
                "PumonitorRowsLost",
                "max by (monitor) (pumonitor_windows_with_lost_rows) > 0",
                "{{ $labels.monitor }}: of {{ $value }} windows rows are gone that were counted "
                "before. Their earlier results stay. pumonitor doctor shows what is gone",
                severity="warning",
            ),
            _about(
                "PumonitorMessagesWait",
                "max by (destination) (pumonitor_outbox_oldest_age_seconds) > 3600",
                "{{ $labels.destination }} has accepted no message for an hour",
                severity="warning",
            ),
            _about(
                "PumonitorMessagesRefused",
                "max by (destination) (pumonitor_outbox_set_aside) > 0",
                "{{ $labels.destination }} refused {{ $value }} messages: pumonitor doctor",
                severity="warning",
            ),
            _about(
                "PumonitorWatchdog",
                "vector(1)",
                "Always fires, so that a service outside can tell when alerts no longer arrive",
                severity="none",
                wait="0s",
            ),
        ],
    }


def _about(
    name: str,
    expression: str,
    summary: str,
    *,
    severity: str = "critical",
    wait: str = "10m",
    page: str | None = None,
) -> dict[str, Any]:
    """An alert about pumonitor itself."""
    return {
        "alert": name,
        "expr": expression,
        "for": wait,
        "labels": {"severity": severity},
        "annotations": {
            "summary": summary,
            **({} if page is None else {"page_url": _literal(page)}),
        },
    }


def _nothing_evaluated(name: str, monitor: Monitor, pages: PageAddresses | None) -> dict[str, Any]:
    return _about(
        "PumonitorNothingEvaluated",
        f"time() - pumonitor_last_success_timestamp_seconds{{monitor={_quoted(name)}}} > "
        f"{_longest_silence(monitor)}",
        f"{_literal(name)}: no window was evaluated during the length of two windows and a day. "
        "pumonitor doctor shows why",
        page=None if pages is None else pages.monitor(name),
    )


def _longest_silence(monitor: Monitor) -> int:
    """Seconds: two windows and a day."""
    window = monitor.windows.containing(datetime(2026, 1, 15, tzinfo=UTC))
    return round(2 * (window.end - window.start).total_seconds()) + _DAY


def _name(monitor: str, rule: str) -> str:
    """Alert name in Prometheus' style: Pumonitor, then the words of the monitor and of the rule."""
    words = re.findall(r"[A-Za-z0-9]+", f"{monitor} {rule}")
    return "Pumonitor" + "".join(word[:1].upper() + word[1:] for word in words)


def _quoted(text: str) -> str:
    """The text as a quoted string of PromQL."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


def _literal(text: str) -> str:
    """The text with braces escaped, so that Prometheus' templates leave it as it is."""
    return text.replace("{{", '{{ "{{" }}')
