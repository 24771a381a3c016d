"""Two rules that one change broke: every face shows one incident, with its alerts as lines."""

from __future__ import annotations

import io

import pytest

from pumonitor.cli.alerts_shown import print_in_full
from pumonitor.cli.terminal import Console
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.views.incidents import incident_views
from tests.monitor.alerted_ledger import CONFIGURATION, DAY, FIRST, AlertedLedger, known, rows
from tests.monitor.dashboard.page_text import text_of
from tests.monitor.dashboard.shop_pages import TEXT, monitors

NOW = FIRST + 8 * DAY


def results(pane):
    good = (pane.window.start - FIRST) // DAY < 5
    found = [known("recall", 0.8 if good else 0.3), known("f1", 0.6 if good else 0.1), rows(600)]
    return {("2", ""): found}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    with Ledger.open(f"sqlite:///{tmp_path_factory.mktemp('shop') / 'state.db'}") as ledger:
        rules = alert_rules(monitors()["card-fraud"], CONFIGURATION)
        # Why they fired is what a real ledger would find; here it is made up.
        world = AlertedLedger(ledger, rules, results, panes=())
        for day in range(1, 9):
            world.run(FIRST + day * DAY)
        yield ledger


def test_pages_show_one_incident(ledger):
    site = Site(monitors=monitors(TEXT), ledger=ledger, clock=lambda: NOW)
    client = make_app(site, is_host=lambda host: True).test_client()
    for address in ("/alerts", "/monitors/card-fraud"):
        said = text_of(client.get(address))
        assert "card-fraud: 2 alerts of one incident, version 2, bad since the window of" in said
        assert "too few found (critical): Model version 2, 2026-01-06" in said
        assert said.count("Next: ") == 1
    assert "2 alerts fire in 1 incident" in text_of(client.get("/alerts"))
    (line,) = client.get("/api/v1/monitors").get_json()["items"]
    assert line["sentence"] == "a critical alert, too few found and 1 more"


def test_the_interface_for_programs_has_it_with_its_alerts(ledger):
    site = Site(monitors=monitors(TEXT), ledger=ledger, clock=lambda: NOW)
    client = make_app(site, is_host=lambda host: True).test_client()
    (incident,) = client.get("/api/v1/incidents").get_json()["items"]
    alerts = client.get("/api/v1/alerts?firing=true").get_json()["items"]
    assert {alert["dedup_key"] for alert in alerts} == {incident["dedup_key"]}
    first = incident["alerts"][0]
    assert (first["severity"], first["sentence"]) == ("critical", incident["sentence"])
    assert incident["severity"] == "critical"
    assert incident["needs_somebody"] is True
    assert len(incident["alerts"]) == 2
    assert incident["next_steps"]


def test_the_command_line_says_what_to_do_once(ledger):
    alerts = alert_views(ledger, now=NOW, monitors=["card-fraud"], firing=True)
    file = io.StringIO()
    print_in_full(Console(file=file, width=200), incident_views(alerts))
    said = file.getvalue()
    assert said.count("what to do:") == 1
    assert said.count("firing since") == 2
