"""One condition of a monitor: every face says the same, whatever has happened."""

from __future__ import annotations

import pytest

from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.ledger.by_people import ChosenAlerts
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.views.condition import condition_badge, headline_text
from pumonitor.text import moment_cell
from tests.monitor.alerted_ledger import CONFIGURATION, DAY, FIRST, AlertedLedger, rows
from tests.monitor.dashboard.page_text import text_of
from tests.monitor.dashboard.shop_pages import monitors

NAME = "card-fraud"


def as_it_is(shop):
    """An alert fires."""


def unreachable(shop):
    shop.ledger.standings.looked(
        {NAME: CONFIGURATION}, at=shop.now, problems={NAME: "no p.parquet"}
    )


def dead(shop):
    shop.ledger.standings.looked({NAME: CONFIGURATION}, at=shop.now, problems={})
    shop.at(shop.now + 9 * DAY)


def acknowledged(shop):
    shop.ledger.by_people.acknowledge(ChosenAlerts(monitor=NAME), by="alice")


def silenced(shop):
    shop.ledger.by_people.silence(Silence(starts=shop.now - DAY, ends=shop.now + DAY))


def killed(shop):
    """Windows were planned, and whoever was to evaluate them has died since."""
    shop.found.plan(range(8, 9))
    shop.at(shop.now + 2.5 * DAY)
    shop.ledger.standings.looked({NAME: CONFIGURATION}, at=shop.now, problems={})


@pytest.mark.parametrize(
    ("happens", "condition", "sentence"),
    [
        (as_it_is, "firing", "a critical alert, too few found"),
        (unreachable, "source unreachable", "its tables cannot be read: no p.parquet"),
        (dead, "late", "no round of work has looked at it for 9 windows"),
        (killed, "late", "5 windows are due and not evaluated"),
        (acknowledged, "acknowledged", "a critical alert, too few found"),
        (silenced, "silenced", "a critical alert, too few found"),
    ],
)
def test_every_face_says_the_same_condition(shop, happens, condition, sentence):
    happens(shop)
    (view,) = read_conditions(shop.ledger, shop.monitors, now=shop.now)
    assert view.condition == condition
    assert view.sentence.startswith(sentence)
    badge = condition_badge(view)[1]
    since = "" if view.since is None else f", since {moment_cell(view.since, shop.site.zone(NAME))}"
    overview, page = text_of(shop.get("/")), text_of(shop.get(f"/monitors/{NAME}"))
    for text in (overview, page):
        assert f"{badge} {view.sentence}{since}" in text
    assert headline_text([view]) in overview
    assert "needs no attention" not in overview
    answers = [
        shop.get("/api/v1/monitors").get_json()["items"][0],
        shop.get(f"/api/v1/monitors/{NAME}").get_json(),
        shop.get("/api/v1/health").get_json()["monitors"][0],
    ]
    for answer in answers:
        assert {name: answer[name] for name in view.to_dict()} == view.to_dict()
    scraped = exposition(shop.ledger, monitors=shop.monitors, clock=lambda: shop.now)().decode()
    said = [
        line for line in scraped.splitlines() if line.startswith("pumonitor_monitor_condition{")
    ]
    assert [line for line in said if line.endswith(" 1.0")] == [
        f'pumonitor_monitor_condition{{condition="{condition}",monitor="{NAME}"}} 1.0'
    ]


def test_a_backfill_says_how_far_it_is(tmp_path):
    with Ledger.open(f"sqlite:///{tmp_path / 'state.db'}") as ledger:
        past = AlertedLedger(ledger, (), lambda pane: {("1", ""): [rows(600)]}, panes=())
        past.plan(range(4))
        past.now = FIRST + 9 * DAY
        past.collect()
        past.commit(past.claim())
        assert past.claim() is not None
        (view,) = read_conditions(ledger, monitors(), now=past.now)
        assert (view.condition, view.sentence) == ("backfilling", "1 of 4 windows are evaluated")
        assert headline_text([view]) == "The monitor needs no attention: backfilling"


def test_a_monitor_that_was_never_worked_on_says_so_until_it_is(tmp_path):
    with Ledger.open(f"sqlite:///{tmp_path / 'state.db'}") as ledger:
        (view,) = read_conditions(ledger, monitors(), now=FIRST)
        assert (view.condition, view.sentence) == ("no results yet", "it has never run")
        # Its tables could not be read by the first round: it has no configuration yet.
        ledger.standings.looked({NAME: "c0ffee"}, at=FIRST, problems={NAME: "no p.parquet"})
        (view,) = read_conditions(ledger, monitors(), now=FIRST + DAY)
        assert (view.condition, view.since) == ("source unreachable", FIRST)
