"""Alerts before and after audits are read: their cause, and when a breach was noticed."""

import pytest
from markupsafe import escape

from pumonitor.monitor.alerts.simulation import simulate_alerts
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from tests.monitor.windows.audited_weeks import FIRST, WEEK, draw, review, write_weeks

pytestmark = pytest.mark.usefixtures("unsearched_labels")

WEEKS, CHANGED = 8, 5
NOW = FIRST + (WEEKS + 3) * WEEK
READ = FIRST + 60 * WEEK
RULES = """\
    rules:
      - {metric: labeled_positives, above: 120}
      - {metric: f1, below: 0.9, evidence: audited}
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Positives are 2.5 times as many from week 5 on; weeks 1 and 6 are audited later."""
    truth = write_weeks(
        tmp_path_factory.mktemp("weeks"), weeks=WEEKS, jumps=2.5, jumps_in=CHANGED, rules=RULES
    )
    configuration = read_configuration(truth.path).configuration
    with open_jobs(configuration, clock=lambda: NOW, deliver=False) as found:
        assert found.run().failures == []
        found.monitors_of_site, found.path = configuration.monitors, truth.path
        found.before = firing(found)
        for name, week in (("a1", 1), ("a2", 6)):
            review(found.ledger, draw(found.ledger, truth, name, weeks=(week,)))
        assert found.run().failures == []
        yield found


def firing(jobs):
    alerts = alert_views(jobs.ledger, now=NOW, monitors=["weekly"], firing=True, in_full=True)
    return {alert.metric: alert for alert in alerts}


def test_a_cause_is_read_anew_when_audits_have_told(jobs):
    before, after = (one["labeled_positives"] for one in (jobs.before, firing(jobs)))
    assert before.firing_since == after.firing_since == FIRST + CHANGED * WEEK
    assert "By the audits" not in before.cause
    assert after.cause.startswith("By the audits a1 (2026-01-12 to 2026-01-19) and a2 (")
    assert "the class prior changed" in after.cause


def test_without_being_asked_nothing_is_compared(jobs):
    [one] = [
        one
        for one in alert_views(jobs.ledger, now=NOW, monitors=["weekly"], firing=True)
        if one.metric == "labeled_positives"
    ]
    assert one.cause == jobs.before["labeled_positives"].cause


def test_alert_page_monitor_page_and_api_say_one_cause(jobs):
    one = firing(jobs)["labeled_positives"]
    site = Site(monitors=jobs.monitors_of_site, ledger=jobs.ledger, clock=lambda: NOW)
    client = make_app(site, is_host=lambda _: True).test_client()
    said = f"<b>Cause:</b> {escape(one.cause)}"
    assert said in client.get("/monitors/weekly").text
    assert said in client.get(f"/monitors/weekly/alerts/{one.rule_key}").text
    items = client.get("/api/v1/alerts").json["items"]
    assert one.cause in [item["cause"] for item in items]


def noticed(jobs):
    return [
        (one.transition.rule, one.transition.window_start, one.transition.as_of)
        for one in jobs.ledger.alerts.history("weekly")
        if one.transition.kind == "fired" and one.transition.metric == "f1"
    ]


def test_a_breach_in_an_audited_window_is_noticed_when_its_verdicts_are_read(jobs):
    assert "f1" not in jobs.before
    assert noticed(jobs) == [("f1 below 0.9", FIRST + 1 * WEEK, READ)]
    assert firing(jobs)["f1"].noticed_at == READ
    assert firing(jobs)["f1"].firing_since == FIRST + 1 * WEEK
    assert firing(jobs)["labeled_positives"].noticed_at < NOW


def test_a_rule_that_is_added_later_or_tried_out_says_the_same(jobs):
    text = jobs.path.read_text()
    other = jobs.path.with_name("other.yaml")
    other.write_text(text.replace("below: 0.9,", "below: 0.91,"))
    configuration = read_configuration(other).configuration
    with open_jobs(configuration, clock=lambda: NOW, deliver=False) as more:
        monitor = configuration.monitors["weekly"]
        [tried] = [
            one
            for one in simulate_alerts(
                more.ledger,
                monitor,
                configuration_hash(monitor),
                references=more.references,
                now=NOW,
            )
            if one.rule == "f1 below 0.91"
        ]
        assert more.run().failures == []
        found = {one[0]: one for one in noticed(more)}["f1 below 0.91"]
    assert found == ("f1 below 0.91", FIRST + 1 * WEEK, READ)
    assert [(one.kind, one.window_start, one.as_of) for one in tried.events] == [
        ("fired", FIRST + 1 * WEEK, READ)
    ]
