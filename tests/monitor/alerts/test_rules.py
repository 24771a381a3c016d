"""From the configuration to rules: what they judge, what they are called, and their keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import jsonschema
import pytest
import yaml

from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import configuration_schema, read_configuration_text
from pumonitor.monitor.rules.alerts.by_clock import LateResults
from pumonitor.monitor.rules.alerts.by_series import Missing
from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.health import UnusualVolume
from pumonitor.monitor.rules.alerts.label_delay import LabelDelay
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.shift import Shift

TEXT = """\
destinations:
  oncall: {{webhook: https://example.org}}
monitors:
  fraud:
    predictions: {{source: p.csv, id: id, time: time, score: score, segments: [country]}}
    positives: {{source: c.csv, id: id, known_at: known}}
    window: 1d
    maturity: 30d
    threshold: 0.5
    reference: {{start: 2026-01-01, end: 2026-02-01}}
    rules: [{rules}]
"""


def rules(text, configuration="c0ffee"):
    found = read_configuration_text(TEXT.format(rules=text), environment={}).configuration
    return alert_rules(found.monitors["fraud"], configuration)


def rule(text, **options):
    (found,) = rules(text, **options)
    return found


@pytest.mark.parametrize(
    ("text", "condition", "metric", "name"),
    [
        ("{metric: f1, below: 75%}", Limit(side="below", limit=0.75), "f1", "f1 below 0.75"),
        (
            "{metric: predictions, above: 500}",
            Limit(side="above", limit=500),
            "predictions",
            "predictions above 500",
        ),
        (
            "{metric: f1, drop: 10%, segment: {country: DE}}",
            Change(direction="drop", amount=0.1, relative=True),
            "f1",
            "f1 drop 10% country=DE",
        ),
        (
            "{metric: f1, change: 0.05, from: 4w, per: country}",
            Change(direction="change", amount=0.05, relative=False, over=timedelta(days=28)),
            "f1",
            "f1 change 0.05 per country",
        ),
        (
            "{metric: auc, shift: down, false_alarms_per_year: 2, detector: cusum}",
            Shift(
                direction="down",
                false_alarms_per_year=2,
                windows_per_year=365.25,
                detector="cusum",
                reference_windows=31,
                begins=datetime(2026, 1, 1, tzinfo=UTC),
            ),
            "auc",
            "auc shift down",
        ),
        (
            "{health: few_positives, below: 30}",
            Limit(side="below", limit=30),
            "labeled_positives",
            "health few positives below 30",
        ),
        (
            "{health: volume, change: 50%}",
            UnusualVolume(limit=0.5),
            "health:volume",
            "health volume change 50%",
        ),
        (
            "{health: label_delay, shift: up, false_alarms_per_year: 2}",
            LabelDelay(
                direction="up",
                change=0.0,
                maturity=timedelta(days=30),
                false_alarms_per_year=2.0,
                windows_per_year=365.25,
                reference_windows=31,
                windows_per_day=1,
                begins=datetime(2026, 1, 1, tzinfo=UTC),
            ),
            "health:label_delay",
            "health label delay shift up",
        ),
        (
            "{health: stale, after: 3d}",
            LateResults(limit=259200.0),
            "health:stale",
            "health stale",
        ),
    ],
)
def test_each_form_is_read(text, condition, metric, name):
    found = rule(text)
    assert (found.condition, found.metric) == (condition, metric)
    assert (found.name, found.repeat) == (name, timedelta(days=7))
    document = yaml.safe_load(TEXT.format(rules=text))
    document["monitors"]["fraud"].pop("reference")
    jsonschema.Draft202012Validator(configuration_schema()).validate(document)


def test_a_warning_and_staleness_are_rules_of_their_own():
    found = rules("{metric: f1, below: 0.75, warning: 0.8, stale_for: 7, for: 2, keep: 1}")
    assert [(one.name, one.severity, one.windows, one.keep) for one in found] == [
        ("f1 below 0.75", "critical", 2, 1),
        ("f1 below 0.8", "warning", 2, 1),
        ("f1 below 0.75 (stale)", "warning", 7, 0),
    ]
    assert found[1].condition == Limit(side="below", limit=0.8)
    assert found[2].condition == Missing()
    assert len({one.key for one in found}) == 3


def test_a_rule_is_about_all_rows_or_one_segment_or_each():
    for text, segment, per in (
        ("", "", ""),
        (", segment: {country: DE}", "country=DE", ""),
        (", per: country", "", "country"),
    ):
        found = rule(f"{{metric: f1, below: 0.75{text}}}")
        assert (found.segment, found.per) == (segment, per)


def test_what_predictions_say_is_judged_at_once():
    found = rules("{health: no_data}, {health: score_range}, {health: label_delay, change: 50%}")
    assert [one.provisional for one in found] == [True, True, False]


BASE = "{metric: f1, below: 0.75, for: 2}"


@pytest.mark.parametrize(
    "same",
    [
        "{for: 2, below: 75%, metric: f1}",
        "{metric: f1, below: 0.75, for: 2, keep: 0, severity: critical}",
        "{metric: f1, below: 0.75, for: 2, name: ranking, to: [oncall], repeat: never}",
        "{metric: f1, below: 0.75, for: 2, runbook: 'https://wiki'}",
        "{metric: f1, below: 0.75, for: 2, warning: 0.8}",
        "{metric: f1, below: 0.75, for: 2, stale_for: 3}",
    ],
)
def test_how_a_rule_is_written_and_sent_is_not_its_meaning(same):
    assert rules(same)[0].key == rule(BASE).key


@pytest.mark.parametrize(
    "other",
    [
        "{metric: f1, below: 0.76, for: 2}",
        "{metric: f1, below: 0.75}",
        "{metric: recall, below: 0.75, for: 2}",
        "{metric: f1, below: 0.75, for: 2, severity: warning}",
        "{metric: f1, below: 0.75, for: 2, per: country}",
    ],
)
def test_a_rule_of_another_meaning_has_another_key(other):
    assert rule(other).key != rule(BASE).key


def test_a_rule_about_other_results_is_another_rule():
    assert rule(BASE).key != rule(BASE, configuration="other").key
    # A new key would end every alert that is firing: change it on purpose only.
    assert rule(BASE).key == "f69a9f0c24b3e87fdb9e5cbed2f4144c"
