"""The API's decision is that of the decide page."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from html import unescape

import pytest

from pumonitor.monitor.dashboard.pages import decide_found
from pumonitor.report.decision_words import amount, outcome_title
from pumonitor.text import count_text, given_text, interval_shown, number_text
from tests.monitor.dashboard.shop_pages import ShopPages, person
from tests.monitor.dashboard.test_decide_page import ADDRESS, DAY, lines_of
from tests.monitor.monitored_shop import FIRST

V1 = "/api/v1"
ASKED = "threshold=0.6&value=100&cost=7.5&cases=100"


def decided(pages, query=""):
    found = pages.get(f"{V1}{ADDRESS}?{query}")
    assert found.status_code == 200, found.text
    return json.loads(found.text, parse_constant=pytest.fail)


def test_it_has_the_numbers_of_the_page(evaluated):
    page, found = evaluated.get(f"{ADDRESS}?{ASKED}"), decided(evaluated, ASKED)
    shown = lines_of(page)
    kinds = [one["kind"] for one in found["thresholds"]]
    assert kinds == ["now", "chosen", "best"]
    for place, one in enumerate(found["thresholds"]):
        assert f"{kinds[place]}: {given_text(one['threshold'])}" in page.text
        for metric, of in one["estimates"].items():
            expected = (amount(metric, of["value"]), interval_shown(of["low"], of["high"]))
            assert shown[outcome_title(metric)][place] == expected
        relied = one["relied_on"]
        assert list(shown.values())[-1][place] == (interval_shown(relied["low"], relied["high"]),)
    assert found["best_said"] in page.text
    assert found["criterion"] == "money"
    assert set(found["curves"]) == set(found["thresholds"][0]["estimates"])
    for option in found["reviews"]["options"]:
        for said in (count_text(option["cases"]), number_text(option["widths"]["f1"])):
            assert said in page.text


def test_curves_are_those_of_the_page(evaluated):
    page, found = evaluated.get(f"{ADDRESS}?{ASKED}").text, decided(evaluated, ASKED)
    of = page.split('aria-label="Recall by threshold: numbers"')[1]
    table = re.search(r"<tbody>(.*?)</tbody>", of, re.DOTALL)
    first = re.findall(r">([^<]+)</t[hd]>", table[1].split("</tr>")[0])
    first = [unescape(cell) for cell in first]
    curve = found["curves"]["recall"]
    assert len(curve["threshold"]) == len(curve["low"]) > 100
    assert first == [
        number_text(curve["threshold"][0]),
        amount("recall", curve["value"][0]),
        interval_shown(curve["low"][0], curve["high"][0]),
    ]


def test_it_says_which_window_it_stands_on(evaluated):
    found = decided(evaluated)
    assert found["window_start"] == (FIRST + DAY).isoformat()
    assert f">{(FIRST + DAY):%Y-%m-%d}</a> ({found['state']})" in evaluated.get(ADDRESS).text
    assert found["passed"] == []


def test_without_a_window_it_is_empty(evaluated):
    found = decided(evaluated, "until=2000-01-01T00:00:00Z")
    assert (found["window_start"], found["thresholds"], found["reviews"]) == (None, [], None)


@pytest.mark.parametrize(
    "query",
    [
        "threshold=-9e14&value=9e14&cost=9e14&cases=2000",
        "threshold=9e14&value=0&cost=0&cases=1",
        "capacity=0",
        "capacity=9e14&per=day",
        "capacity=100&per=share",
        "segment=country%3Dnowhere&version=-",
    ],
)
def test_extremes_are_answered(evaluated, query):
    decided(evaluated, query)
    assert evaluated.get(f"{ADDRESS}?{query}").status_code == 200


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("threshold=0.5&capacity=10", 409, "give threshold or capacity, not both"),
        ("value=10", 409, "money needs both the value of a caught positive and the cost"),
        ("capacity=101&per=share", 409, "capacity must be at most 100%"),
        ("threshold=nan", 422, "threshold: must be a number"),
        ("threshold=1_0", 422, "threshold: must be a number"),
        ("cost=-1", 422, "cost: Input should be greater than or equal to 0"),
        ("cases=2001", 422, "cases: Input should be less than or equal to 2000"),
        ("currency=EUR", 400, "there is no parameter 'currency'"),
    ],
)
def test_what_cannot_be_asked_is_a_problem(evaluated, query, status, said):
    answer = evaluated.get(f"{V1}{ADDRESS}?{query}")
    assert answer.status_code == status
    assert said in answer.json["detail"]


def test_it_is_computed_after_its_snapshot_and_once_for_page_and_api(evaluated, monkeypatch):
    states, at_once = [], type(evaluated.site).at_once
    computed = decide_found._found

    @contextmanager
    def watched(site):
        with at_once(site) as ledger:
            yield ledger
        states.append("closed")

    def compute(*given, **options):
        states.append("computed")
        return computed(*given, **options)

    monkeypatch.setattr(type(evaluated.site), "at_once", watched)
    monkeypatch.setattr(decide_found, "_found", compute)
    decided(evaluated, "cases=43")
    assert states == ["closed", "computed"]
    evaluated.get(f"{ADDRESS}?cases=43")
    assert states.count("computed") == 1


def test_a_monitor_that_may_not_be_seen_has_none(shop):
    pages = ShopPages(shop.ledger, days=0, caller=lambda: person([]))
    assert pages.get(f"{V1}{ADDRESS}").status_code == 404
