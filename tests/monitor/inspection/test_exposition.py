"""What Prometheus scrapes and the rules it is given, judged by Prometheus' own tools."""

import json
import math
import shutil
import subprocess
from datetime import timedelta
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.inspection.exposition import exposition, in_text_format
from pumonitor.monitor.inspection.prometheus_rules import prometheus_rules
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.serving.health import health_server
from tests.monitor.monitored_shop import FIRST, MATURITY, SETTLED, write_shop

RULES = """\
    rules:
      - {metric: f1, below: 0.99, warning: 0.999, runbook: "https://example.org/f1?a={{b}}"}
      - {metric: aul, below: 0.01}
      - {metric: recall, below: 0.01, per: country, name: 'recall "low" {{ now }}'}
"""
promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs promtool (Debian: apt install prometheus)"
)


def with_rules(folder):
    path = write_shop(folder, days=2, with_segments=True, panes="[]", class_prior=0.1)
    path.write_text(path.read_text() + RULES)
    return read_configuration(path).configuration


def rules_of(monitors, *, pages=None):
    rules = {name: alert_rules(one, configuration_hash(one)) for name, one in monitors.items()}
    return prometheus_rules(monitors, rules, pages=pages)


def test_the_text_is_that_of_the_client_of_prometheus():
    gauge = GaugeMetricFamily("pumonitor_x", "One thing.", labels=["monitor", "rule"])
    for value in (1.0, 0.1, 1e-9, 123456789.0, math.inf):
        gauge.add_metric(['back\\slash "quoted"\nline, {braces}', "\u2028 \u202e"], value)
    plain = GaugeMetricFamily("pumonitor_plain", "Without labels.", value=2)
    empty = GaugeMetricFamily("pumonitor_empty", "Nothing.", labels=["monitor"])
    found = SimpleNamespace(collect=lambda: [gauge, plain, empty])
    assert in_text_format(found.collect()) == generate_latest(found)


@pytest.fixture(scope="module")
def scraped(tmp_path_factory):
    """The text after a run, and the same parsed."""
    configuration = with_rules(tmp_path_factory.mktemp("shop"))
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        assert jobs.run().failures == []
        told = exposition(jobs.ledger, monitors=jobs.monitors, clock=lambda: SETTLED)
        with (
            health_server("127.0.0.1:0", ready=jobs.ledger.ready, metrics=told) as port,
            urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer,
        ):
            assert answer.headers["Content-Type"].startswith("text/plain")
            text = answer.read().decode()
        results = jobs.ledger.results("card-fraud", segment="", metrics=["f1"])
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return text, families, results


def sample(families, name, **labels):
    (found,) = [
        one
        for one in families[name].samples
        if all(one.labels[key] == value for key, value in labels.items())
    ]
    return found.value


def test_estimates_are_those_of_the_newest_mature_window(scraped):
    _, families, results = scraped
    newest = max(results, key=lambda row: row.window_start)
    for bound in ("value", "low", "high"):
        told = sample(families, "pumonitor_estimate", metric="f1", bound=bound, segment="")
        assert told == getattr(newest, bound)
    ended = sample(families, "pumonitor_window_end_timestamp_seconds", segment="")
    assert ended == newest.window_end.timestamp()


def test_alerts_are_told_with_their_state(scraped):
    _, families, _ = scraped
    f1 = {"metric": "f1", "severity": "critical"}
    assert sample(families, "pumonitor_alert_firing", **f1) == 1
    assert sample(families, "pumonitor_alert_state", **f1, state="firing") == 1
    assert sample(families, "pumonitor_alert_state", **f1, state="ok") == 0
    assert sample(families, "pumonitor_alert_firing", metric="aul") == 0
    assert sample(families, "pumonitor_alert_firing", segment="country=DE") == 0


def test_the_monitor_tells_of_itself_and_no_number_is_infinite(scraped):
    _, families, _ = scraped
    assert sample(families, "pumonitor_windows_unfinished") == 0
    assert sample(families, "pumonitor_oldest_unfinished_window_age_seconds") == 0
    assert sample(families, "pumonitor_last_success_timestamp_seconds") > FIRST.timestamp()
    numbers = [one.value for family in families.values() for one in family.samples]
    assert len(numbers) > 100
    assert all(math.isfinite(number) for number in numbers)


def test_work_that_is_overdue_has_its_age(tmp_path):
    configuration = with_rules(tmp_path)
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        jobs.plan("card-fraud")
        now = SETTLED + timedelta(hours=5)
        text = exposition(jobs.ledger, monitors=jobs.monitors, clock=lambda: now)().decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    oldest = sample(families, "pumonitor_oldest_unfinished_window_age_seconds")
    assert oldest == (now - (FIRST + timedelta(days=1) + MATURITY)).total_seconds()
    assert families["pumonitor_last_success_timestamp_seconds"].samples == []


def test_without_a_state_database_a_scrape_fails_and_the_process_lives(tmp_path):
    configuration = with_rules(tmp_path)
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        told = exposition(jobs.ledger, monitors=jobs.monitors, clock=lambda: SETTLED)
        jobs.ledger.close()  # connections that are open would go on
        (tmp_path / "state.db").write_bytes(b"no database any more" * 1000)
        with health_server("127.0.0.1:0", ready=jobs.ledger.ready, metrics=told) as port:
            with pytest.raises(HTTPError) as refused:
                urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10)
            assert refused.value.code == 503
            refused.value.close()
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
                assert answer.status == 200


@promtool
def test_promtool_accepts_the_metrics(scraped):
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=scraped[0],
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def rule_file(tmp_path):
    path = tmp_path / "pumonitor.rules.yml"
    path.write_text(rules_of(with_rules(tmp_path).monitors))
    return path


def test_every_rule_has_its_alert_and_the_monitor_its_own(rule_file):
    itself, card_fraud = yaml.safe_load(rule_file.read_text())["groups"]
    assert [rule["alert"] for rule in card_fraud["rules"]] == [
        "PumonitorCardFraudF1Below099",
        "PumonitorCardFraudF1Below0999",
        "PumonitorCardFraudAulBelow001",
        "PumonitorCardFraudRecallLowNow",
    ]
    names = {rule["alert"] for rule in itself["rules"]}
    assert {"PumonitorGone", "PumonitorNothingEvaluated", "PumonitorWatchdog"} <= names
    assert card_fraud["rules"][1]["labels"] == {"severity": "warning"}


@promtool
def test_promtool_accepts_the_rules(rule_file):
    done = subprocess.run(
        ["promtool", "check", "rules", rule_file], text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "SUCCESS" in done.stdout


UNIT_TEST = """\
rule_files: [pumonitor.rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'pumonitor_alert_firing{{monitor="card-fraud", rule="aul", rule_key="{key}",
          metric="aul", severity="critical", model_version="", segment=""}}'
        values: "0x4 1x10 _x20 0x80"
      - series: 'pumonitor_build_info{{version="1"}}'
        values: "1x200"
      - series: 'pumonitor_last_success_timestamp_seconds{{monitor="card-fraud"}}'
        values: "0x5000"
    alert_rule_test:
      - {{alertname: PumonitorCardFraudAulBelow001, eval_time: 3m, exp_alerts: []}}
      - alertname: PumonitorCardFraudAulBelow001
        eval_time: 6m
        exp_alerts: [{alert}]
      - alertname: PumonitorCardFraudAulBelow001   # its data have gone: still firing
        eval_time: 20m
        exp_alerts: [{alert}]
      - {{alertname: PumonitorCardFraudAulBelow001, eval_time: 90m, exp_alerts: []}}
      - {{alertname: PumonitorNothingEvaluated, eval_time: 71h, exp_alerts: []}}
      - alertname: PumonitorNothingEvaluated
        eval_time: 73h
        exp_alerts:
          - exp_labels: {{severity: critical, monitor: card-fraud}}
            exp_annotations:
              summary: "card-fraud: no window was evaluated during the length of two
                windows and a day. pumonitor doctor shows why"
      - alertname: PumonitorGone
        eval_time: 240m
        exp_alerts:
          - exp_labels: {{severity: critical}}
            exp_annotations:
              summary: "pumonitor cannot be scraped: the models are not monitored"
"""
ALERT = """{exp_labels: {severity: critical, monitor: card-fraud, rule: aul, metric: aul},
          exp_annotations: {summary: "card-fraud: aul below 0.01", description: "aul of card-fraud.
          Cause and history: pumonitor alerts list card-fraud"}}"""


@promtool
@pytest.mark.slow
def test_prometheus_keeps_an_alert_whose_data_go_and_notices_silence(rule_file):
    """Prometheus evaluates the rules on made-up series."""
    groups = yaml.safe_load(rule_file.read_text())["groups"]
    expression = groups[1]["rules"][2]["expr"]
    key = expression.partition('rule_key="')[2].partition('"')[0]
    path = rule_file.with_name("unit.yml")
    path.write_text(UNIT_TEST.format(key=key, alert=ALERT))
    done = subprocess.run(
        ["promtool", "test", "rules", path.name],
        cwd=path.parent,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


LINKED = """\
rule_files: [linked.rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'pumonitor_alert_firing{{monitor="card-fraud", rule="aul", rule_key="{key}",
          metric="aul", severity="critical", model_version="{version}", segment="{segment}"}}'
        values: "1x10"
      - series: 'pumonitor_build_info{{version="1"}}'
        values: "1x200"
    alert_rule_test:
      - alertname: PumonitorCardFraudAulBelow001
        eval_time: 3m
        exp_alerts:
          - exp_labels: {{severity: critical, monitor: card-fraud, rule: aul, metric: aul{labels}}}
            exp_annotations: {annotations}
"""


@promtool
@pytest.mark.parametrize(
    ("version", "segment"), [("", ""), ("7", "country=D&E é"), ("--", "x=%/?#<>")]
)
def test_alerts_of_prometheus_link_to_the_page_of_their_series(tmp_path, version, segment):
    pages = PageAddresses("https://example.org/{{x}}")
    path = tmp_path / "linked.rules.yml"
    path.write_text(rules_of(with_rules(tmp_path).monitors, pages=pages))
    rule = yaml.safe_load(path.read_text())["groups"][1]["rules"][2]
    # Prometheus writes a blank as +, which a query means.
    address = pages.monitor("card-fraud", version=version, segment=segment).replace("%20", "+")
    of = (f", model version {version}" if version else "") + (f", {segment}" if segment else "")
    labels = "".join(
        f", {name}: {json.dumps(value)}"
        for name, value in {"model_version": version, "segment": segment}.items()
        if value
    )
    history = "Cause and history: pumonitor alerts list card-fraud"
    told = {
        "summary": "card-fraud: aul below 0.01",
        "description": f"aul of card-fraud{of}. {history}",
        "page_url": address,
    }
    key = rule["expr"].partition('rule_key="')[2].partition('"')[0]
    unit = tmp_path / "unit.yml"
    unit.write_text(
        LINKED.format(
            key=key, version=version, segment=segment, labels=labels, annotations=json.dumps(told)
        )
    )
    done = subprocess.run(
        ["promtool", "test", "rules", unit.name],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
