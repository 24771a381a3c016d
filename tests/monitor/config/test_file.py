"""A whole configuration, what it means, and the hash of its meaning."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from scipy import stats

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import (
    configuration_hash,
    configuration_meaning,
    configuration_schema,
    read_configuration,
    read_configuration_text,
)

ENVIRONMENT = {
    "PAGER_URL": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
    "HOOK_SECRET": "whsec_a25vd24gb25seSB0byB0d28=",
    "WAREHOUSE_URL": "postgresql+psycopg://reader:hunter2@warehouse:5432/scores?sslmode=require",
}

TEXT = """\
state: sqlite:///pumonitor.db
tracking: {uri: sqlite:///mlflow.db}
destinations:
  oncall: {apprise: ${PAGER_URL}}
  hook: {webhook: https://example.org/in, secret: ${HOOK_SECRET}}
  am: {alertmanager: http://localhost:9093}
monitors:
  card-fraud:
    model: models:/card-fraud@champion
    predictions:
      source: data/predictions/*.parquet
      id: prediction_id
      time: scored_at
      score: score
      model_version: model_version
      segments: [country, channel]
    positives:
      source: {url: ${WAREHOUSE_URL}, table: fraud.confirmations}
      id: prediction_id
      known_at: confirmed_at
      label: label
      propensity: review_rate
      time_zone: Europe/Berlin
    window: 1w
    maturity: 30d
    panes: [0d, 12h]
    schedule: "0 6 * * *"
    threshold: 0.8
    class_prior: [0.01, 0.05]
    reference: {start: 2026-01-01, end: 2026-02-01}
    rules:
      - {metric: aul, below: 0.75, for: 2}
      - {metric: f1, drop: 0.05, from: reference}
      - {metric: f1, drop: 10%, keep: 1, resolve_on: estimate, provisional: true}
      - {metric: auc, shift: down, false_alarms_per_year: 1}
      - {metric: class_prior, shift: any, segment: {country: DE}}
      - {metric: labeled_positives, below: 30, severity: warning}
"""


def configuration(text=TEXT, path=Path("pumonitor.yaml"), environment=None):
    found = read_configuration_text(
        text, path=path, environment=ENVIRONMENT if environment is None else environment
    )
    return found.configuration


def monitor(text=TEXT):
    (found,) = configuration(text).monitors.values()
    return found


def test_every_form_of_the_design_is_read():
    found = monitor()
    assert found.name == "card-fraud"
    assert found.predictions.segments == ("country", "channel")
    assert found.positives.time_zone == "Europe/Berlin"
    assert found.maturity == timedelta(days=30)
    assert found.panes == (timedelta(), timedelta(hours=12))
    assert [age.total_seconds() / 86400 for age in found.pane_schedule.ages] == [0, 0.5, 30, 60]
    assert found.class_prior == (0.01, 0.05)
    assert found.reference.span("Europe/Berlin") == (
        datetime(2025, 12, 31, 23, tzinfo=UTC),
        datetime(2026, 1, 31, 23, tzinfo=UTC),
    )
    aul, f1, f1_percent, auc, prior, count = found.rules
    assert (aul.below, aul.windows, aul.keep, aul.severity) == (0.75, 2, 0, "critical")
    assert (f1.drop.amount, f1.drop.relative, f1.compared_with) == (0.05, False, "reference")
    assert (f1_percent.drop.amount, f1_percent.drop.relative) == (0.1, True)
    assert (f1_percent.resolve_on, f1_percent.provisional) == ("estimate", True)
    assert (auc.shift, auc.false_alarms_per_year) == ("down", 1)
    assert (prior.segment, count.severity) == ({"country": "DE"}, "warning")
    destinations = configuration().destinations
    assert [one.kind for one in destinations.values()] == ["apprise", "webhook", "alertmanager"]


def test_what_is_left_out_has_its_default():
    text = "\n".join(
        line
        for line in TEXT.splitlines()
        if line.strip().split(":")[0]
        not in {"state", "tracking", "class_prior", "panes", "schedule", "model", "label"}
    )
    found = configuration(text)
    assert found.tracking is None
    assert found.state.get() == "sqlite:///pumonitor.db"
    (only,) = found.monitors.values()
    assert only.class_prior == "auto"
    assert (only.label_purity, only.zone, only.score_scale) == (1.0, "UTC", "probability")
    assert (only.panes, only.schedule, only.scenario) == (None, None, "single-training-set")


def test_paths_are_relative_to_the_file_wherever_one_stands(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "p.yaml").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = read_configuration("there/p.yaml", environment=ENVIRONMENT).configuration
    (only,) = found.monitors.values()
    assert only.predictions.source.location == str(tmp_path / "there/data/predictions/*.parquet")
    assert found.state_address == f"sqlite:///{tmp_path}/there/pumonitor.db"
    assert found.tracking.address == f"sqlite:///{tmp_path}/there/mlflow.db"


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("http://localhost:5000", "http://localhost:5000"),
        ("sqlite:////var/mlflow.db", "sqlite:////var/mlflow.db"),
        ("databricks", "databricks"),
        ("/var/mlruns", "/var/mlruns"),
    ],
)
def test_addresses_that_are_no_relative_path_stay(uri, address):
    found = configuration(TEXT.replace("sqlite:///mlflow.db", uri))
    assert found.tracking.address == address


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert list(read_configuration(file, environment=ENVIRONMENT).configuration.monitors)


def test_a_missing_file_is_told_with_what_is_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="pumonitor init writes one"):
        read_configuration("pumonitor.yaml")
    (tmp_path / "pumonitor.yml").write_text("")
    with pytest.raises(InputError, match=r"did you mean pumonitor.yml\?"):
        read_configuration("pumonitor.yaml")
    with pytest.raises(InputError, match="the directory nowhere does not exist"):
        read_configuration("nowhere/pumonitor.yaml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_configuration(tmp_path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_configuration("bytes.yaml")


SAME = {
    "keys in another order": lambda text: text.replace(
        "      id: prediction_id\n      time: scored_at\n",
        "      time: scored_at\n      id: prediction_id\n",
    ),
    "comments and quotes": lambda text: text.replace("window: 1w", 'window: "1w"  # weeks'),
    "weeks in days": lambda text: text.replace("window: 1w", "window: 7d"),
    "segments in another order": lambda text: text.replace("country, channel", "channel, country"),
    "no features": lambda text: text.replace("channel]", "channel]\n      features: []"),
    "hours": lambda text: text.replace("maturity: 30d", "maturity: 720h"),
    "schedule": lambda text: text.replace("0 6 * * *", "0 7 * * 1"),
    "rules": lambda text: text.replace("below: 0.75", "below: 0.5"),
    "destinations": lambda text: text.replace("example.org", "example.com"),
    "model link": lambda text: text.replace("@champion", "@challenger"),
    "state": lambda text: text.replace("pumonitor.db", "other.db"),
    "name": lambda text: text.replace("card-fraud:\n", "fraud:\n"),
    "a number's spelling": lambda text: text.replace("threshold: 0.8", "threshold: 8e-1"),
    "the reference with its time": lambda text: text.replace(
        "start: 2026-01-01", "start: 2026-01-01T00:00Z"
    ),
    "limit": lambda text: text.replace("score: score", "score: score\n      max_bytes: 10 GB"),
}

OTHER = {
    "predictions": lambda text: text.replace("data/predictions", "data/scores"),
    "id": lambda text: text.replace(
        "      id: prediction_id\n      time", "      id: key\n      time"
    ),
    "time": lambda text: text.replace("scored_at", "created_at"),
    "score": lambda text: text.replace("score: score", "score: logit"),
    "version": lambda text: text.replace("model_version: model_version", "model_version: version"),
    "segments": lambda text: text.replace("country, channel", "country"),
    "features": lambda text: text.replace("channel]", "channel]\n      features: [amount]"),
    "confirmations": lambda text: text.replace("fraud.confirmations", "fraud.confirmed"),
    "known_at": lambda text: text.replace("confirmed_at", "reported_at"),
    "label": lambda text: text.replace("label: label", "label: verdict"),
    "propensity": lambda text: text.replace("review_rate", "chance"),
    "time zone": lambda text: text.replace("Europe/Berlin", "Europe/Paris"),
    "window": lambda text: text.replace("1w", "1d"),
    "zone": lambda text: text.replace("    window", "    zone: Europe/Berlin\n    window"),
    "maturity": lambda text: text.replace("30d", "31d"),
    "panes": lambda text: text.replace("[0d, 12h]", "[0d, 13h]"),
    "threshold": lambda text: text.replace("0.8", "0.81"),
    "prior": lambda text: text.replace("[0.01, 0.05]", "auto"),
    "purity": lambda text: text.replace("    window", "    label_purity: 0.9\n    window"),
    "scale": lambda text: text.replace("    window", "    score_scale: unbounded\n    window"),
    "reference": lambda text: text.replace("2026-02-01", "2026-03-01"),
}


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_what_does_not_change_results_does_not_change_the_hash(edit):
    text = edit(TEXT)
    assert text != TEXT
    # The segment of a rule goes with the segments.
    assert configuration_hash(monitor(text)) == configuration_hash(monitor())


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER)
def test_what_changes_results_changes_the_hash(edit):
    text = edit(TEXT)
    assert text != TEXT
    assert configuration_hash(monitor(text)) != configuration_hash(monitor())


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("postgresql://other:secret@warehouse:5432/scores", True),
        ("postgresql+psycopg://warehouse:5432/scores?connect_timeout=3", True),
        ("postgresql+psycopg://reader:hunter2@warehouse:5432/other", False),
        ("postgresql+psycopg://reader:hunter2@elsewhere:5432/scores", False),
    ],
)
def test_who_logs_in_to_a_database_is_not_part_of_the_meaning(url, same):
    found = configuration(environment={**ENVIRONMENT, "WAREHOUSE_URL": url})
    changed = configuration_hash(found.monitors["card-fraud"])
    assert (changed == configuration_hash(monitor())) is same


def test_the_hash_stays_what_it_was():
    """A new one would make every window of every user new: change the version on purpose only."""
    assert configuration_hash(monitor()) == "d1e7a82c825a30e70392c7cd5d3fd55d"


def test_default_panes_written_out_are_the_default():
    default = TEXT.replace("    panes: [0d, 12h]\n", "")
    written = TEXT.replace("[0d, 12h]", "[0, 180h, 15d]")
    assert configuration_hash(monitor(default)) == configuration_hash(monitor(written))


def test_a_literal_reference_is_written_with_two_dollars():
    found = monitor(TEXT.replace("id: prediction_id", 'id: "$${PAGER_URL}"'))
    assert found.predictions.id == "${PAGER_URL}"


def test_a_secret_is_read_from_the_file_that_is_named(tmp_path):
    (tmp_path / "secret").write_text("whsec_ZnJvbWFmaWxlb25kaXNr\n")
    environment = {**ENVIRONMENT, "HOOK_SECRET_FILE": str(tmp_path / "secret")}
    del environment["HOOK_SECRET"]
    found = configuration(environment=environment)
    assert found.destinations["hook"].key == "whsec_ZnJvbWFmaWxlb25kaXNr"


def test_the_schema_takes_what_is_read_and_refuses_what_is_not():
    schema = configuration_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = {
        "tracking": {"uri": "sqlite:///mlflow.db"},
        "destinations": {"oncall": {"apprise": "${PAGER_URL}"}},
        "monitors": {
            "card-fraud": {
                "predictions": {
                    "source": "a.csv", "id": "i", "time": "t", "score": "s", "segments": ["c"],
                },
                "positives": {"source": {"url": "${U}", "table": "t"}, "id": "i", "known_at": "k"},
                "window": "1d",
                "maturity": "30d",
                "panes": ["0d"],
                "schedule": "0 6 * * *",
                "threshold": 0.8,
                "class_prior": [0.1, 0.2],
                "label_purity": "auto",
                "reference": {"start": "2026-01-01", "end": "2026-02-01"},
                "rules": [{"metric": "f1", "drop": "10%", "from": "reference", "for": 2}],
            }
        },
    }  # fmt: skip
    validator.validate(good)
    of = {"start": "2026-01-01", "end": "2026-02-01"}
    fraud = good["monitors"]["card-fraud"]
    for prior in (
        {"value": 0.03, "low": 0.02, "high": 0.04, "of": of},
        {"positives": 12, "cases": 300, "of": of},
        {"assumed": 0.03},
        {"assumed": {"value": 0.03, "low": 0.02, "high": 0.04}},
    ):
        validator.validate({**good, "monitors": {"a": {**fraud, "class_prior": prior}}})
    for change in (
        {"monitors": {"a": {**fraud, "class_prior": {"value": 0.03, "of": of}}}},
        {"monitors": {"a": {**fraud, "class_prior": {"assumed": 0.03, "of": of}}}},
        {"monitor": {}},
        {"monitors": {"a": {**good["monitors"]["card-fraud"], "threshold": "high"}}},
        {"monitors": {"a": {**good["monitors"]["card-fraud"], "treshold": 1}}},
        {"destinations": {"oncall": {"appraise": "x"}}},
    ):
        assert list(validator.iter_errors({**good, **change})), change


def test_nothing_of_a_configuration_shows_its_secrets():
    shown = repr(configuration()) + str(configuration().model_dump_json())
    for secret in ("hunter2", "whsec_a25vd24gb25seSB0byB0d28=", "TIiajkdnlazkcOXrIdevi7FQ"):
        assert secret not in shown
    assert json.loads(configuration().model_dump_json())["state"] == "**********"
    assert date(2026, 1, 1) == monitor().reference.start


OF = "of: {start: 2026-01-01, end: 2026-02-01}"


def with_prior(written):
    in_berlin = TEXT.replace("    window", "    zone: Europe/Berlin\n    window")
    return monitor(in_berlin.replace("[0.01, 0.05]", written))


def test_a_class_prior_of_a_period_is_no_constant_and_part_of_the_meaning():
    known = with_prior(f"{{value: 0.03, low: 0.02, high: 0.04, {OF}}}")
    assert (known.assumed_prior, known.is_prior_assumed) == ("auto", False)
    prior = known.prior_of_period
    assert (prior.value, prior.low, prior.high, prior.cases) == (0.03, 0.02, 0.04, None)
    # Midnight in the monitor's zone.
    assert [one.isoformat() for one in prior.span(known.zone)] == [
        "2025-12-31T23:00:00+00:00",
        "2026-01-31T23:00:00+00:00",
    ]
    meanings = {
        configuration_hash(with_prior(written))
        for written in (
            "auto",
            "{assumed: {value: 0.03, low: 0.02, high: 0.04}}",
            f"{{value: 0.03, low: 0.02, high: 0.04, {OF}}}",
            f"{{value: 0.03, low: 0.02, high: 0.05, {OF}}}",
            f"{{value: 0.03, low: 0.02, high: 0.04, {OF.replace('02-01', '03-01')}}}",
            f"{{positives: 12, cases: 300, {OF}}}",
        )
    }
    assert len(meanings) == 6
    assert json.loads(json.dumps(configuration_meaning(known))) == configuration_meaning(known)


def test_an_audit_has_the_interval_of_jeffreys():
    for positives, cases in ((1, 10), (12, 300)):
        prior = with_prior(f"{{positives: {positives}, cases: {cases}, {OF}}}").prior_of_period
        posterior = stats.beta(positives + 0.5, cases - positives + 0.5)
        assert posterior.cdf([prior.low, prior.value, prior.high]) == pytest.approx(
            [0.025, 0.5, 0.975]
        )
        assert (prior.positives, prior.cases) == (positives, cases)
    for positives in (0, 300):
        prior = with_prior(f"{{positives: {positives}, cases: 300, {OF}}}").prior_of_period
        assert 0 < prior.low < prior.value < prior.high < 1


@pytest.mark.parametrize(
    ("assumed", "plain"),
    [
        ("0.03", "0.03"),
        ("[0.02, 0.04]", "[0.02, 0.04]"),
        ("{value: 0.03, low: 0.02, high: 0.04}", "[0.03, 0.02, 0.04]"),
    ],
)
def test_a_number_alone_and_one_that_is_assumed_are_the_same(assumed, plain):
    named, bare = with_prior(f"{{assumed: {assumed}}}"), with_prior(plain)
    assert named.class_prior == bare.class_prior
    assert named.is_prior_assumed
    assert named.prior_of_period is None
    assert configuration_hash(named) == configuration_hash(bare)
