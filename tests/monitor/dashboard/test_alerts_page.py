"""Incidents over time, and rules that are tried out on them."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.config.text.yaml_document import read_document
from pumonitor.monitor.dashboard.pages import alerts_page, simulate_page
from pumonitor.monitor.dashboard.pages.incidents_shown import last_known
from pumonitor.monitor.rules.alerts.alert import Alert
from tests.monitor.dashboard.page_text import text_of
from tests.monitor.dashboard.shop_pages import ShopPages, person

TRY = "/monitors/card-fraud/simulate"


def bars_of(page):
    svg = re.search(r'<svg class="series incidents".*?</svg>', page, flags=re.DOTALL)[0]
    root = ElementTree.fromstring(svg)  # noqa: S314
    return [
        (one.get("href"), float(one[1].get("x")), float(one[1].get("width")), one[0].text)
        for one in root.iter("a")
    ]


def test_an_incident_lasts_from_its_first_window_until_now(shop):
    [(link, x, width, text)] = bars_of(shop.get("/alerts").text)
    since = "bad since 2026-01-06, noticed on 2026-01-07"
    assert text == f"card-fraud: too few found (version 2): {since}, fires still"
    assert (x, x + width) == (0, 932)
    said = text_of(shop.get(html.unescape(link)))
    assert "firing, bad since the window of 2026-01-06 , noticed on 2026-01-07" in said


def test_the_axis_ends_where_windows_ended_and_not_years_later():
    def at(day):
        return datetime(2012, 3, day, tzinfo=UTC)

    named = {"monitor": "m", "rule_key": "k", "model_version": "", "segment": ""}
    alert = Alert(**named, rule="r", metric="aul", severity="critical", as_of=at(20))
    years_later = datetime(2026, 11, 23, tzinfo=UTC)
    assert last_known(years_later, [alert], []) == at(20)
    assert last_known(at(15), [alert], []) == at(15)
    assert last_known(years_later, [], []) == years_later


def test_an_incident_that_is_over_ends_where_it_was_resolved(shop):
    said = shop.get(TRY, query_string={"rule": "{metric: recall, above: 0.5, provisional: true}"})
    first, second = bars_of(said.text)
    # Until the fourth day by the first version, which then has no more windows.
    assert first[3].endswith("fires still")
    since = "bad since 2026-01-04, noticed on 2026-01-05"
    assert second[3] == f"card-fraud: recall above 0.5 (version 2): {since}, to 2026-01-06"
    assert second[1] > first[1]


def test_a_long_list_says_that_it_is_cut(shop, monkeypatch):
    assert "are here:" not in text_of(shop.get("/alerts"))
    monkeypatch.setattr(alerts_page, "_MOST_LINES", 0)
    said = text_of(shop.get("/alerts"))
    assert "Only the first 0 of them are here: pumonitor alerts has all of them" in said


def test_a_rule_is_tried_out_and_nothing_is_stored(shop):
    before = shop.ledger.alerts.history()
    said = text_of(shop.get(TRY, query_string={"rule": "{metric: recall, below: 0.35}"}))
    assert "recall below 0.35 critical" in said
    assert "Would have fired once in 6 windows" in said
    assert "False alarms a year, while nothing changes not known : too few quiet windows" in said
    assert "fired , window 2026-01-06" in said
    assert shop.ledger.alerts.history() == before


def test_the_form_has_an_example_that_can_be_tried(shop):
    page = shop.get(TRY).text
    rule = html.unescape(re.search(r"<textarea[^>]*>([^<]*)", page)[1])
    assert "Would have fired" in shop.get(TRY, query_string={"rule": rule}).text


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("abc", "the rule must be a mapping such as"),
        ("{metric: recal, below: 0.5}", "did you mean 'recall'"),
        ("{metric: recall, bellow: 0.5}", "bellow: is not known here; did you mean 'below'?"),
        ("{metric: recall, below: 5}", "the rule: "),
        ("{metric: recall, below: 0.5, segment: {city: x}}", "the rule: "),
        ("[" * 1000, "more than 30 lists or mappings are nested"),
        ("x" * 2001, "rule must have at most 2,000 characters"),
        ("{metric: recall, below: ${HOME}}", "the rule"),
        ("<script>alert(1)</script>", "the rule must be a mapping"),
    ],
)
def test_a_rule_that_means_nothing_says_why(shop, rule, said):
    answer = shop.get(TRY, query_string={"rule": rule})
    assert answer.status_code == 400
    assert said in html.unescape(answer.text)
    assert "<script" not in answer.text


def test_a_long_replay_is_ended(shop, monkeypatch):
    monkeypatch.setattr(simulate_page, "_CPU_SECONDS", -1.0)
    answer = shop.get(TRY, query_string={"rule": "{metric: recall, below: 0.35}"})
    assert answer.status_code == 400
    assert "too long for a page" in answer.text
    monkeypatch.undo()
    assert shop.get(TRY, query_string={"rule": "{metric: recall, below: 0.3}"}).status_code == 200


def test_a_rule_of_a_few_bytes_does_not_stand_for_a_billion_values(shop):
    lists = ", ".join(f"l{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 12))
    bomb = f"{{metric: recall, l0: &a0 [x, x, x], {lists}}}"
    answer = shop.get(TRY, query_string={"rule": bomb})
    assert answer.status_code == 400
    assert "has an alias (*name), which is not taken here" in answer.text
    with pytest.raises(InputError, match="contains more than 1,000 values"):
        read_document(f"[{'1,' * 1000}]", name="the rule", trusted=False)


def test_one_rule_is_tried_out_at_a_time(shop):
    with simulate_page._ONE_AT_A_TIME:
        answer = shop.get(TRY, query_string={"rule": "{metric: recall, below: 0.35}"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    assert "another rule is being tried out" in answer.text


def test_for_others_nothing_is_tried_out(shop):
    hidden = ShopPages(shop.ledger, days=0, caller=person).at(shop.now)
    query = {"rule": "{metric: recall, below: 0.35}"}
    there = hidden.get(TRY, query_string=query)
    nowhere = hidden.get(TRY.replace("card-fraud", "no-such"), query_string=query)
    assert (there.status_code, there.data) == (404, nowhere.data)
    assert "<svg" not in hidden.get("/alerts").text


def test_beginnings_and_what_nobody_was_told_of_are_read_up_to_a_limit(shop):
    stored = shop.ledger.alerts
    assert len(stored.beginnings(["card-fraud"])) >= len(stored.beginnings(["card-fraud"], limit=1))
    assert len(stored.beginnings(["card-fraud"], limit=1)) == 1
    assert stored.beginnings(["card-fraud"], limit=0) == {}
    assert stored.unnotified(limit=0) == ()
