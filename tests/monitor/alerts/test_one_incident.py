"""Alerts that began with one change are one incident: one key, one end, one acknowledgement."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.ledger.by_people import ChosenAlerts
from pumonitor.monitor.ledger.database.schema import outbox
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule
from tests.monitor.alerted_ledger import DAY, FIRST, MONITOR, AlertedLedger, known, rows

pytestmark = pytest.mark.usefixtures("unsearched_labels")

AUC = AlertRule(key="a", name="auc", metric="auc", condition=Limit(side="below", limit=0.75))
F1 = AlertRule(
    key="f", name="f1", metric="f1", condition=Limit(side="below", limit=0.75), severity="warning"
)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(f"sqlite:///{tmp_path}/state.db") as ledger:
        yield ledger


def shop(ledger, bad, *, rules=(AUC, F1), version="7"):
    """Days on which metrics are bad; of F1, if so asked, in another model version."""

    def results(pane):
        number = (pane.window.start - FIRST) // DAY
        values = {name: 0.5 if number in days else 0.9 for name, days in bad.items()}
        of = {"7": [known("auc", values["auc"]), rows(1000)]}
        of.setdefault(version, [rows(1000)]).insert(0, known("f1", values["f1"]))
        return {(name, ""): some for name, some in of.items()}

    return AlertedLedger(ledger, rules, results)


def live(world, last, first=1):
    for number in range(first, last + 1):
        world.run(FIRST + number * DAY)


def notified(ledger):
    """Rule, kind and incident of each message, in their order."""
    with ledger.database.reading() as connection:
        stored = connection.execute(select(outbox.c.payload).order_by(outbox.c.id)).scalars()
        found = [AlertMessage.from_payload(payload).transition for payload in stored]
    return [(one.rule, one.kind, one.dedup_key) for one in found]


FIRST_KEY = f"{MONITOR}/a//7/1"


def test_two_rules_that_break_at_once_have_one_key_and_one_end(ledger):
    world = shop(ledger, {"auc": {3, 4, 5}, "f1": {3}})
    live(world, 11)
    assert notified(ledger) == [
        ("auc", "fired", FIRST_KEY),
        ("f1", "fired", FIRST_KEY),
        ("auc", "resolved", FIRST_KEY),
        ("f1", "resolved", FIRST_KEY),
    ]
    withheld = [one.withheld for one in ledger.alerts.history() if one.transition.rule == "f1"]
    assert withheld == [None, "incident"]
    assert all(one.told_at is not None for one in ledger.alerts.history())


def test_what_breaks_later_is_an_incident_of_its_own(ledger):
    live(shop(ledger, {"auc": {3, 4, 5, 6, 7}, "f1": {5}}), 11)
    assert [key for rule, _, key in notified(ledger) if rule == "f1"] == [f"{MONITOR}/f//7/1"] * 2


def test_a_slow_rule_joins_a_quick_one_that_its_windows_reach_back_to(ledger):
    slow = replace(F1, windows=3)
    live(shop(ledger, {"auc": {4, 5, 6}, "f1": {3, 4, 5, 6}}, rules=(AUC, slow)), 9)
    assert notified(ledger) == [("auc", "fired", FIRST_KEY), ("f1", "fired", FIRST_KEY)]


def test_another_model_version_has_an_incident_of_its_own(ledger):
    live(shop(ledger, {"auc": {3, 4}, "f1": {3, 4}}, version="8"), 7)
    assert len({key for *_, key in notified(ledger)}) == 2


def test_a_rule_that_breaks_anew_belongs_to_its_incident_while_that_lasts(ledger):
    live(shop(ledger, {"auc": {3, 4, 5, 6, 7}, "f1": {3, 6}}), 13)
    found = notified(ledger)
    assert {key for *_, key in found} == {FIRST_KEY}
    assert [kind for _, kind, _ in found] == ["fired", "fired", "fired", "resolved", "resolved"]


def test_who_acknowledges_one_alert_acknowledges_its_incident(ledger):
    world = shop(ledger, {"auc": {3, 4, 5}, "f1": {3, 4, 5}})
    live(world, 6)
    one = ChosenAlerts(monitor=MONITOR, rule="f1")
    assert len(ledger.by_people.acknowledge(one, by="alice")) == 2
    assert ledger.by_people.acknowledge(ChosenAlerts(monitor=MONITOR), by="bob") == ()
    assert len(ledger.by_people.take_back(one, by="alice")) == 2


@pytest.mark.parametrize(("severity", "is_acknowledged"), [("warning", True), ("critical", False)])
def test_an_acknowledged_incident_stays_so_unless_it_gets_worse(ledger, severity, is_acknowledged):
    first, later = replace(AUC, severity="warning"), replace(F1, severity=severity, windows=2)
    world = shop(ledger, {"auc": {3, 4, 5}, "f1": {3, 4, 5}}, rules=(first, later))
    live(world, 6)
    assert len(ledger.by_people.acknowledge(ChosenAlerts(monitor=MONITOR), by="alice")) == 1
    live(world, 7, first=7)
    alerts = {alert.rule: alert for alert in ledger.alerts.current(firing=True)}
    assert alerts["f1"].dedup_key == alerts["auc"].dedup_key == FIRST_KEY
    assert (alerts["f1"].acknowledged_incident == alerts["f1"].incident) is is_acknowledged


def test_an_end_that_waited_is_sent_when_the_monitor_leaves(ledger):
    world = shop(ledger, {"auc": {3, 4}, "f1": set(range(3, 30))})
    live(world, 9)
    assert [kind for _, kind, _ in notified(ledger)] == ["fired", "fired"]
    world.alerting.close_monitor(MONITOR, because="It is not watched any more.")
    assert {(rule, kind) for rule, kind, _ in notified(ledger)[2:]} == {
        ("auc", "resolved"),
        ("f1", "resolved"),
    }


def test_an_end_waits_for_no_alert_that_the_destination_never_heard_of(ledger):
    elsewhere = replace(F1, to=("mail",))
    paged = replace(AUC, to=("pager",))
    world = shop(ledger, {"auc": {3, 4}, "f1": set(range(3, 30))}, rules=(paged, elsewhere))
    live(world, 9)
    assert ("auc", "resolved", FIRST_KEY) in notified(ledger)


def test_messages_of_one_incident_arrive_in_order(ledger):
    live(shop(ledger, {"auc": {3, 4}, "f1": {3, 4}}), 9)
    with ledger.database.reading() as connection:
        lanes = set(connection.execute(select(outbox.c.lane)).scalars())
    assert len(lanes) == 1


def test_who_acknowledges_again_acknowledges_what_has_joined_since(ledger):
    first, worse = replace(AUC, severity="warning"), replace(F1, severity="critical", windows=2)
    world = shop(ledger, {"auc": {3, 4, 5}, "f1": {3, 4, 5}}, rules=(first, worse))
    of_first = ChosenAlerts(monitor=MONITOR, rule="auc")
    live(world, 6)
    assert [alert.rule for alert in ledger.by_people.acknowledge(of_first, by="alice")] == ["auc"]
    live(world, 7, first=7)
    assert [alert.rule for alert in ledger.by_people.acknowledge(of_first, by="alice")] == ["f1"]
