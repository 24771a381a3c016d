"""Kinds of rules: what a file said before there were kinds means the same, to the last hash."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import configuration_hash, read_configuration_text
from pumonitor.monitor.config.sections.rules import KINDS, keys_of
from pumonitor.monitor.inspection.rule_outlook import rule_outlooks
from pumonitor.monitor.rules.alerts.fold import RuleFold

HEAD = """\
state: sqlite:///state.db
monitors:
  fraud:
    predictions: {source: p.csv, id: id, time: at, score: s, segments: [country]}
    positives: {source: q.csv, id: id, known_at: known}
    window: 1d
    maturity: 3d
    threshold: 0.5
    reference: {start: 2026-01-01, end: 2026-02-01}
    rules:
"""

RULES = (
    "{metric: f1, below: 0.75}",
    "{metric: f1, below: 0.6, warning: 0.7, for: 2, keep: 1, resolve_on: estimate, "
    "provisional: true}",
    "{metric: mcc, above: -0.5, severity: info, health:, drop:, segment:}",
    "{metric: auc, drop: 0.05}",
    "{metric: auc, drop: 10%, from: 28d, warning: 5%, stale_for: 3}",
    "{metric: auc, rise: 0.05, from: reference, per: country, false_discovery_rate: 0.1}",
    "{metric: auc, change: 5%, segment: {country: DE}, name: moved, repeat: never}",
    "{metric: aul, shift: down, false_alarms_per_year: 2}",
    "{metric: aul, shift: any, detector: betting, per: country}",
    "{metric: class_prior, shift: up}",
    "{metric: labeled_positives, below: 30, severity: warning, runbook: 'https://r.example'}",
    "{health: no_data, for: 2}",
    "{health: stale, after: 3d, severity: warning}",
    "{health: few_positives, below: 30, per: country}",
    "{health: unmatched_labels, above: 5%}",
    "{health: score_range, provisional: true}",
    "{health: volume, change: 50%, keep: 2}",
    "{health: label_delay, change: 50%}",
    "{health: label_delay, shift: up, false_alarms_per_year: 0.5}",
)
"""Every kind, with keys left empty where they may be."""

STORED = {
    "f1 below 0.75": "194cea9f966037eb8eae0d60f9a7baa5",
    "f1 below 0.6": "64bea17d9ce864890a683a1410ffc398",
    "f1 below 0.7": "008532d4b2a60a5ca494e4e8e2441335",
    "mcc above -0.5": "6619aaf699f229f2b444484b8c8398e6",
    "auc drop 0.05": "d3a3c5ca792af0f0470046c4d1ca765c",
    "auc drop 10%": "b5d9a02eec16bc9a2316623137d9a71b",
    "auc drop 5%": "20e586e46c82601a7319b996f69c0dec",
    "auc drop 10% (stale)": "77496b91f3dce564d45988740108b10f",
    "auc rise 0.05 per country": "6c1f26750f93d6c592848258bd175d3a",
    "moved": "d665c650c195bb68cbbc0f33b3c973c0",
    "aul shift down": "bd09d97bba5c1b99889e1795438a0125",
    "aul shift any per country": "863f3097d51f90b34368d377b5f4ed20",
    "class_prior shift up": "4944830dce98f0a662777bebfb02d196",
    "labeled_positives below 30": "f5cb8cf78dd969d1edea472f5a0c603f",
    "health no data": "a5d0739115f429a50af338281b248b8f",
    "health stale": "42cd338d0c2e49ee1d9e9b0c2b111053",
    "health few positives below 30 per country": "9a6abaf0c22f7b935cef8a9e0a906841",
    "health unmatched labels above 0.05": "f6f195fcd44f1dbeec85e7a9a1d0b8e5",
    "health score range": "a447f4c5ac9d2fadfd0e6df0cd366060",
    "health volume change 50%": "fef11a27d86ca4ead333f76a81163778",
    "health label delay change 50%": "80f651cc71982aeaa87cc369650e443d",
    "health label delay shift up": "db9855bccfaf13471af2118438a6f85e",
}
"""Names of the rules that alerts follow, with the keys that ledgers hold of them."""


def monitor():
    text = HEAD + "".join(f"      - {rule}\n" for rule in RULES)
    return read_configuration_text(text).configuration.monitors["fraud"]


def test_keys_of_rules_are_those_that_ledgers_hold():
    rules = alert_rules(monitor(), "c0ffee")
    assert {one.name: one.key for one in rules} == STORED
    assert len(rules) == len(STORED)


def test_the_hash_of_a_configuration_stays():
    assert configuration_hash(monitor()) == "7abecce8688ce88599491d0d069b1dd1"


ONE_OF_EACH = {
    "limit rule": {"metric": "f1", "below": 0.5},
    "change rule": {"metric": "f1", "drop": 0.1},
    "shift rule": {"metric": "aul", "shift": "down"},
    "health: no_data": {"health": "no_data"},
    "health: stale": {"health": "stale", "after": "3d"},
    "health: lost_rows": {"health": "lost_rows"},
    "health: few_positives": {"health": "few_positives", "below": 30},
    "health: unmatched_labels": {"health": "unmatched_labels", "above": "5%"},
    "health: score_range": {"health": "score_range"},
    "health: volume": {"health": "volume", "change": "50%"},
    "health: label_delay": {"health": "label_delay", "shift": "up"},
}
VALUES = {
    "from": "28d", "detector": "cusum", "after": "3d", "warning": 0.6, "for": 2, "keep": 1,
    "provisional": "true", "resolve_on": "estimate", "false_alarms_per_year": 2, "stale_for": 3,
    "segment": "{country: DE}", "per": "country", "false_discovery_rate": 0.1, "metric": "auc",
}  # fmt: skip


def read(rule):
    text = ", ".join(f"{key}: {value}" for key, value in rule.items())
    return read_configuration_text(HEAD + f"      - {{{text}}}\n").configuration


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_a_key_of_another_kind_is_refused_by_its_name_with_those_there_are(kind):
    rule = ONE_OF_EACH[kind]
    assert isinstance(read(rule).monitors["fraud"].rules[0], KINDS[kind])
    wrong = [key for key in VALUES if key not in keys_of(kind)]
    assert wrong, "each kind lacks keys that others have"
    shown = kind if ": " in kind else f"a rule with {list(rule)[1]}"
    for key in wrong:
        with pytest.raises(InputError) as caught:
            read({**rule, key: VALUES[key]})
        said = str(caught.value)
        assert said.count("\n") == 0
        assert f"rules[0], line 11: has {key}, which {shown} does not have: its keys are " in said
        listed = said.rpartition("its keys are ")[2].split(", ")
        assert set(rule) <= set(listed) <= set(keys_of(kind))


OF_AUDITS = {
    "health: audit_overdue": {"health": "audit_overdue"},
    "health: audit_unread": {"health": "audit_unread", "after": "3d"},
    "health: audit_conflicts": {"health": "audit_conflicts", "above": 3},
    "audit: unfair_labels": {"audit": "unfair_labels"},
}
FIRST = datetime(2026, 3, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_answers_what_check_and_the_fold_ask_about_it(kind):
    rule = {**ONE_OF_EACH, **OF_AUDITS}[kind]
    text = ", ".join(f"{key}: {value}" for key, value in rule.items())
    head = HEAD.replace("    window: 1d\n", "    window: 1d\n    audits: {every: 10d}\n")
    given = read_configuration_text(head + f"      - {{{text}}}\n").configuration.monitors["fraud"]
    (made,) = alert_rules(given, "c0ffee")
    (outlook,) = rule_outlooks(given, first=FIRST)
    assert made.condition.fires
    assert outlook.fires == made.condition.fires
    assert not outlook.fires.endswith(".")
    assert outlook.first_window >= FIRST.replace(hour=0)
    assert type(made.condition).__doc__.startswith("Breach: ")
    if made.goes_by_the_clock:
        assert made.metrics == ()
        with pytest.raises(ValueError, match="is not evaluated by window"):
            RuleFold(made)
    else:
        assert made.metrics
        RuleFold(made).refold([], 0)
