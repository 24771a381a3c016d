"""`alerts`, `plan` and `export` on a monitor with alerts that fire and others that do not."""

import json

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.text import number_text
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

RULES = """\
    rules:
      - {metric: f1, below: 0.99}
      - {metric: aul, below: 0.01, name: "aul [too] low"}
"""


def invoke(*arguments, path, status=0):
    done = CliRunner(env={"COLUMNS": "120"}).invoke(app, [*arguments, "--config", str(path)])
    assert done.exit_code == status, done.output
    return done


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    path = write_shop(tmp_path_factory.mktemp("shop"), days=6, class_prior=0.1)
    path.write_text(path.read_text() + RULES)
    invoke("backfill", "--from", "2026-01-01", "--to", "2026-01-07", path=path)
    return path


def current(path):
    found = json.loads(invoke("alerts", "list", "card-fraud", "--json", path=path).stdout)
    return {one["rule"]: one for one in found}


def audit(path):
    with open_ledger(read_configuration(path).configuration) as ledger:
        return [(one.action, one.detail) for one in ledger.audit()]


def test_alerts_stand_where_their_rules_say(shop):
    found = current(shop)
    assert found["f1 below 0.99"]["state"] == "firing"
    assert found["f1 below 0.99"]["is_firing"] is True
    assert found["f1 below 0.99"]["high"] < 0.99
    assert found["aul [too] low"]["state"] == "ok"
    text = invoke("alerts", "list", path=shop).stdout
    assert text.index("f1 below 0.99") < text.index("aul [too] low")
    only = json.loads(invoke("alerts", "list", "--firing", "--json", path=shop).stdout)
    assert [one["rule"] for one in only] == ["f1 below 0.99"]


def test_where_there_is_no_alert_the_list_says_why_and_has_the_silences(tmp_path):
    path = write_shop(tmp_path, days=6, class_prior=0.1)
    assert invoke("alerts", "list", path=path).stdout.startswith("There are no rules, so no alert")
    path.write_text(path.read_text() + "    rules: [{metric: f1, below: 0.01}]\n")
    assert invoke("alerts", "list", path=path).stdout.startswith("No rule has been evaluated yet")
    invoke("backfill", "--from", "2026-01-01", "--to", "2026-01-07", path=path)
    assert invoke("alerts", "list", "--firing", path=path).stdout == "No alert is firing.\n"
    invoke("alerts", "silence", "card-fraud", "--until", "2d", path=path)
    said, silence = invoke("alerts", "list", "--firing", path=path).stdout.splitlines()
    assert said == "No alert is firing."
    assert silence.startswith("silence 1: all alerts of card-fraud until ")


def test_the_history_says_what_fired_and_that_a_backfill_told_nobody(shop):
    text = invoke("alerts", "list", "--history", path=shop).stdout
    assert (
        "fired    card-fraud: f1 below 0.99, incident 1  (not sent: the window is too old" in text
    )
    events = json.loads(invoke("alerts", "list", "--history", "--json", path=shop).stdout)
    assert [one["kind"] for one in events] == ["fired"]
    assert events[0]["sentence"] in text


def test_commands_show_the_pages_where_they_are_known(shop):
    linked = shop.with_name("linked.yaml")
    linked.write_text(shop.read_text() + "pages: {address: 'https://example.org/pumonitor/'}\n")
    base = "https://example.org/pumonitor"
    (firing,) = json.loads(invoke("alerts", "list", "--firing", "--json", path=linked).stdout)
    (event,) = json.loads(invoke("alerts", "list", "--history", "--json", path=linked).stdout)
    (found,) = json.loads(invoke("insights", "--json", path=linked).stdout)
    assert firing["page"].startswith(f"{base}/monitors/card-fraud/windows/2026-01-0")
    assert found["page"] == f"{base}/monitors/card-fraud"
    listed = invoke("alerts", "list", path=linked).stdout.splitlines()
    assert f"card-fraud: f1 below 0.99: {firing['page']}" in listed
    assert f"    {event['page']}\n" in invoke("alerts", "list", "--history", path=linked).stdout
    assert f"  Page: {found['page']}\n" in invoke("insights", path=linked).stdout
    configuration = read_configuration(linked).configuration
    with open_ledger(configuration) as ledger:
        site = Site(monitors=configuration.monitors, ledger=ledger, clock=utc_now)
        client = make_app(site, is_host=lambda host: True).test_client()
        for one in (firing, event, found):
            assert client.get(one["page"].removeprefix(base)).status_code == 200
    assert current(shop)["f1 below 0.99"]["page"] is None
    assert "Page" not in invoke("insights", path=shop).stdout


def test_a_report_of_a_period_is_written(shop, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = invoke("report", "card-fraud", "--period", "2026-01", path=shop).stdout
    assert said == "card-fraud-2026-01.html written\n"
    assert "<h1>card-fraud: 2026-01</h1>" in (tmp_path / "card-fraud-2026-01.html").read_text()
    days = ("--period", "2026-01-02..2026-01-04", "--out", "days.html", "--format", "html")
    assert invoke("report", "card-fraud", *days, path=shop).stdout == "days.html written\n"
    for period, said in (
        ("2025-12", "card-fraud has no evaluated window that starts in 2025-12"),
        ("December", "a period is written as 2026-03, 2026-03-01, 2026-Q1"),
    ):
        refused = invoke("report", "card-fraud", "--period", period, path=shop, status=2)
        assert said in " ".join(refused.stderr.split())


def test_who_is_at_it_is_kept_and_shown(shop):
    said = invoke("alerts", "ack", "card-fraud", "--reason", "on it", path=shop).stdout
    assert said.startswith("acknowledged: f1 below 0.99")
    assert current(shop)["f1 below 0.99"]["is_acknowledged"] is True
    assert "acknowledged" in invoke("alerts", "list", path=shop).stdout
    (detail,) = [detail for action, detail in audit(shop) if action == "acknowledge"]
    assert (detail["rule"], detail["incident"], detail["reason"]) == ("f1 below 0.99", 1, "on it")
    again = invoke("alerts", "ack", "card-fraud", path=shop, status=2)
    assert "every firing alert of card-fraud that matches is acknowledged already" in again.stderr
    (event,) = json.loads(invoke("alerts", "list", "--history", "--json", path=shop).stdout)
    (deed,) = event["people"]
    assert (deed["what"], deed["text"], deed["incident"]) == ("acknowledged it", "on it", 1)
    assert event["destinations"] == []
    for listed in (["list", "--history"], ["show", "card-fraud"]):
        said = invoke("alerts", *listed, path=shop).stdout
        assert f"UTC {deed['by']} acknowledged it: on it\n" in said
    invoke("alerts", "unack", "card-fraud", path=shop)


def test_what_fires_is_shown_with_what_to_do(shop):
    (shown,) = json.loads(invoke("alerts", "show", "card-fraud", "--json", path=shop).stdout)
    assert shown["rule"] == "f1 below 0.99"
    said = invoke("alerts", "show", "card-fraud", path=shop).stdout
    assert said.startswith("critical card-fraud: f1 below 0.99")
    for number, step in enumerate(shown["next_steps"], start=1):
        assert f"    {number}. {step}\n" in said
    assert len(shown["next_steps"]) >= 2
    none = invoke("alerts", "show", "card-fraud", "--rule", "aul [too] low", path=shop).stdout
    assert none == "No alert fires.\n"


def test_an_acknowledgement_is_taken_back(shop):
    invoke("alerts", "ack", "card-fraud", path=shop)
    said = invoke("alerts", "unack", "card-fraud", "--reason", "too soon", path=shop).stdout
    assert said == "no longer acknowledged: f1 below 0.99, incident 1\n"
    assert current(shop)["f1 below 0.99"]["is_acknowledged"] is False
    assert ("unacknowledge", "too soon") in [
        (action, detail.get("reason")) for action, detail in audit(shop)
    ]
    again = invoke("alerts", "unack", "card-fraud", path=shop, status=2)
    assert "no acknowledged alert of card-fraud matches" in again.stderr


def test_what_does_not_fire_cannot_be_acknowledged(shop):
    done = invoke("alerts", "ack", "card-fraud", "--rule", "aul [too] low", path=shop, status=2)
    assert "no firing alert of card-fraud matches these options" in done.stderr


def test_a_silence_begins_and_ends_and_is_kept(shop):
    said = invoke("alerts", "silence", "card-fraud", "--until", "2d", path=shop).stdout
    number = said.split()[1]
    assert "silenced" in invoke("alerts", "list", path=shop).stdout
    assert invoke("alerts", "unsilence", number, path=shop).stdout.endswith("has ended\n")
    assert "silenced" not in invoke("alerts", "list", path=shop).stdout
    again = invoke("alerts", "unsilence", number, path=shop, status=2)
    assert f"silence {number} does not exist or has ended" in again.stderr
    assert {"silence", "unsilence"} <= {action for action, _ in audit(shop)}


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("2020-01-01", "must be later than now"),
        (
            "soon",
            "--until takes a duration such as 2d or 6h, or a date or a time such as 2026-01-31",
        ),
        ("2x", "got 2x"),
        ("1m", "write min for minutes"),
        ("9999999d", "--until is too far away"),
    ],
)
def test_a_silence_needs_an_end_to_come(shop, until, said):
    done = invoke("alerts", "silence", "card-fraud", "--until", until, path=shop, status=2)
    assert said in done.stderr


@pytest.mark.parametrize("command", [["silence", "--until", "2d"], ["ack"]])
def test_a_rule_that_is_not_there_is_named_with_the_nearest(shop, command):
    name, *options = command
    before = audit(shop)
    options += ["--rule", "f1 blow 0.99"]
    done = invoke("alerts", name, "card-fraud", *options, path=shop, status=2)
    assert "card-fraud has no rule 'f1 blow 0.99'; did you mean 'f1 below 0.99'?" in done.stderr
    assert audit(shop) == before


def test_a_rule_is_silenced_by_its_name_or_its_key(shop):
    key = current(shop)["f1 below 0.99"]["rule_key"]
    for rule in ("aul [too] low", key):
        said = invoke(
            "alerts", "silence", "card-fraud", "--until", "6h", "--rule", rule, path=shop
        ).stdout
        invoke("alerts", "unsilence", said.split()[1], path=shop)


def test_other_rules_are_replayed_and_nothing_is_stored(shop):
    before = current(shop)
    rule = "{metric: recall, below: 0.95}"
    said = invoke("alerts", "simulate", "card-fraud", "--rule", rule, "--json", path=shop).stdout
    (found,) = json.loads(said)
    assert found["rule"] == "recall below 0.95"
    assert [one["kind"] for one in found["events"]] == ["fired"]
    # The reference has three windows: too few to tell how often this is for nothing.
    assert (found["false_alarms_per_year"], found["told_by"]) == (None, "")
    assert current(shop) == before


def test_the_rules_of_the_file_replayed_say_what_was_stored(shop):
    found = json.loads(invoke("alerts", "simulate", "card-fraud", "--json", path=shop).stdout)
    stored = json.loads(invoke("alerts", "list", "--history", "--json", path=shop).stdout)
    replayed = [(one["rule"], event) for one in found for event in one["events"]]
    assert [(rule, event["kind"], event["as_of"]) for rule, event in replayed] == [
        (one["rule"], one["kind"], one["as_of"]) for one in stored
    ]


def test_a_detector_costs_what_was_chosen(shop):
    rule = "{metric: auc, shift: down, false_alarms_per_year: 0.5}"
    text = invoke("alerts", "simulate", "card-fraud", "--rule", rule, path=shop).stdout
    assert "false alarms a year: 0.5 (chosen)" in text
    assert "6 windows, never fired" in text
    assert "not evaluated yet" not in text


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("abc", "--rule must be a mapping such as"),
        ("{metric: auk, below: 0.5}", "did you mean 'aul'"),
        ("[" * 3000, "(3,000 characters)', line 1: more than 30 lists or mappings are nested"),
        ("{metric: aul, below: " + "9" * 10_000 + "}", ": below: is a number with 10,000 digits"),
        ("{metric: aul, below: 0.5, below: 0.6}", ": below, line 1: appears twice"),
    ],
)
def test_rules_that_mean_nothing_are_refused(shop, rule, said):
    done = invoke("alerts", "simulate", "card-fraud", "--rule", rule, path=shop, status=2)
    assert said in done.stderr


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{metric: auc, bellow: 0.8}", ": bellow: is not known here; did you mean 'below'?"),
        ("{metric: acu, below: 0.8}", ": metric: is no metric: 'acu'; did you mean 'auc'?"),
        ("{metric: auc}", ": must have one of below,"),
        ("{metric: auc, below: 0.8, to: [nobody]}", " has an unknown destination: 'nobody'"),
        (
            "{metric: auc, below: 0.8, per: nosuch}",
            (" has a segment column that is not among the segments of predictions: 'nosuch'"),
        ),
    ],
)
def test_a_rule_of_the_command_line_is_in_no_file(shop, rule, said):
    other = ["--rule", "{metric: aul, below: 0.8}"]
    done = invoke("alerts", "simulate", "card-fraud", *other, "--rule", rule, path=shop, status=2)
    assert done.stderr.startswith(f"Error: --rule '{rule}'{said}")
    assert "pumonitor.yaml" not in done.stderr
    assert "line" not in done.stderr
    assert "rules[" not in done.stderr


def test_a_plan_needs_windows_to_read_the_noise_off(shop):
    done = invoke("plan", "card-fraud", "--drop", "0.05", path=shop, status=2)
    assert "has 3 windows of the reference with an interval of auc, and 5 are needed" in done.stderr


@pytest.mark.slow
def test_a_plan_says_how_many(shop, tmp_path):
    path = tmp_path / "pumonitor.yaml"
    text = shop.read_text().replace("reference: {start", "# reference: {start")
    text = text.replace("panes: [0d, 1d]", "panes: []")
    path.write_text(text.replace("predictions.parquet", str(shop.parent / "predictions.parquet")))
    path.write_text(
        path.read_text().replace(
            "confirmations.parquet", str(shop.parent / "confirmations.parquet")
        )
    )
    invoke("backfill", "--from", "2026-01-01", "--to", "2026-01-07", path=path)
    arguments = ["plan", "card-fraud", "--metric", "recall", "--drop", "0.3"]
    found = json.loads(invoke(*arguments, "--json", path=path).stdout)
    assert (found["windows"], found["metric"], found["maturity_days"]) == (6, "recall", 2.0)
    enough = [one for one in found["seen_after"] if one["median"] and one["median"] <= 7]
    assert found["labels_needed"] == min(one["labels"] for one in enough)
    assert [one["window"] for one in found["by_length"]] == ["1d", "1w"]
    assert found["by_length"][1]["median"] is None
    assert found["cost"]["parts"][0]["of"] == 1
    assert found["cost"]["past"]["readings"] > 0
    path.write_text(f"{path.read_text()}      - {{metric: recall, shift: down}}\n")
    (checked,) = json.loads(invoke("check", "--json", path=path).stdout)["monitors"].values()
    sees = {one["rule"]: one["sees"] for one in checked["rules"]}
    assert sees["f1 below 0.99"] == ""
    said = "recall has, over 6 windows without a change, a standard deviation of "
    assert sees["recall shift down"].startswith(said)
    assert "a lasting fall by " in sees["recall shift down"]
    arguments[-1] = "10%"
    usual = sorted(
        row["value"]
        for row in json.loads(
            invoke(
                "results", "card-fraud", "--metric", "recall", "--format", "json", path=path
            ).stdout
        )
    )
    drop = 0.05 * (usual[2] + usual[3])
    text = " ".join(invoke(*arguments, path=path).stdout.split())
    assert f"by {number_text(drop)} (10%) " in text
    assert "Days count from when a window is mature" in text
    assert "Counting the window from 2026-01-06 00:00 UTC reads " in text
    assert "For every 1d rounds count 2 windows, of the ages 2d and 4d: " in text
    assert "With windows as they are now: " in text
    assert (
        "unknown (there are 0 windows without a change, and 5 are needed) in windows of 1w."
    ) in text


@pytest.mark.parametrize("drop", ["ten", "0", "-0.1", "120%", "nan"])
def test_a_drop_is_an_amount_or_a_share(shop, drop):
    done = invoke("plan", "card-fraud", f"--drop={drop}", path=shop, status=2)
    assert done.stderr.startswith("Error: --drop must be ")
    assert done.stderr.endswith(f"got {drop}\n")


def test_rules_for_prometheus_go_to_a_file(shop, tmp_path):
    target = tmp_path / "rules.yml"
    done = invoke("export", "prometheus", "--output", str(target), path=shop)
    assert "promtool check rules" in done.stderr
    assert target.read_text() == invoke("export", "prometheus", path=shop).stdout
    assert "PumonitorCardFraudF1Below099" in target.read_text()


def test_the_dashboard_for_grafana_is_printed_and_written(tmp_path):
    printed = CliRunner().invoke(app, ["export", "grafana"])
    assert printed.exit_code == 0, printed.output
    assert json.loads(printed.stdout)["title"].startswith("pumonitor: ")
    target = tmp_path / "pumonitor.json"
    written = CliRunner().invoke(app, ["export", "grafana", "--output", str(target)])
    assert written.exit_code == 0, written.output
    assert target.read_text(encoding="utf-8") == printed.stdout
