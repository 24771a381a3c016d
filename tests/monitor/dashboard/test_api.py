"""The API says what the ledger has, with the numbers of the command."""

from __future__ import annotations

import csv
import io
import json

import pytest
from sqlalchemy import event, update

from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.ledger.database.schema import results
from tests.monitor.dashboard.shop_pages import HOSTILE, ShopPages, person

V1 = "/api/v1"
SIXTH = "2026-01-06T00:00:00Z"
READS = (
    "/monitors",
    "/monitors/card-fraud",
    "/monitors/card-fraud/series",
    "/monitors/card-fraud/windows",
    f"/monitors/card-fraud/windows/{SIXTH}",
    "/monitors/card-fraud/configurations",
    "/monitors/card-fraud/challengers",
    "/monitors/card-fraud/promotions",
    "/monitors/card-fraud/decide",
    "/results",
    "/alerts",
    "/alerts/history",
    "/silences",
    "/health",
)


def answer_of(pages: ShopPages, address: str, **query: object) -> dict:
    found = pages.get(V1 + address, query_string=query)
    assert found.status_code == 200, found.text
    assert found.mimetype == "application/json"
    # No NaN, which JSON does not know.
    return json.loads(found.text, parse_constant=pytest.fail)


def all_of(pages: ShopPages, address: str, **query: object) -> list[dict]:
    items, cursor = [], None
    for _ in range(300):
        found = answer_of(pages, address, **query, **({"cursor": cursor} if cursor else {}))
        items += found["items"]
        cursor = found["next"]
        if cursor is None:
            return items
    raise AssertionError(items)


@pytest.mark.parametrize("limit", [3, 100])
def test_results_are_those_of_the_command(shop, limit):
    wanted = [row.to_dict() for row in shop.ledger.results("card-fraud")]
    assert all_of(shop, "/results", limit=limit) == wanted
    every = [row.to_dict() for row in shop.ledger.results("card-fraud", revisions="all")]
    assert all_of(shop, "/results", limit=limit, revisions="all") == every


def test_results_are_chosen_by_their_filters(shop):
    found = all_of(
        shop, "/results", metric=["recall", "f1"], version="2", segment="", state=["mature"]
    )
    wanted = shop.ledger.results(
        "card-fraud", metrics=["recall", "f1"], model_version="2", segment="", states=["mature"]
    )
    assert found == [row.to_dict() for row in wanted] != []
    assert all_of(shop, "/results", segment=HOSTILE, metric="recall")[0]["value"] is None


def test_every_reader_has_the_same_numbers(shop):
    """API, command, page and exposition, of the newest mature window."""
    (stored,) = shop.ledger.results(
        "card-fraud", metrics=["recall"], model_version="2", segment="", states=["mature"]
    )[-1:]
    (line,) = answer_of(shop, "/monitors")["items"]
    points = {
        one["window_start"]: one
        for one in answer_of(shop, "/monitors/card-fraud/series", metric="recall")["items"]
    }
    point = points[stored.to_dict()["window_start"]]
    window = answer_of(shop, f"/monitors/card-fraud/windows/{line['headline']['window_start']}")
    of_window = next(one for one in window["results"] if one["metric"] == "recall")
    numbers = [stored.value, stored.low, stored.high]
    for one in (line["headline"], point, of_window):
        assert [one["value"], one["low"], one["high"]] == numbers
    text = exposition(shop.ledger, monitors=shop.monitors, clock=lambda: shop.now)().decode()
    labels = 'metric="recall",model_version="2",monitor="card-fraud",segment=""'
    scraped = dict(one.rsplit(" ", 1) for one in text.splitlines() if not one.startswith("#"))
    for bound, number in zip(("value", "low", "high"), numbers, strict=True):
        key = f'pumonitor_estimate{{bound="{bound}",{labels}}}'
        assert float(scraped[key]) == number
    lines = csv.DictReader(
        io.StringIO(shop.get("/monitors/card-fraud/results.csv?metric=recall").text)
    )
    start = stored.window_start.isoformat()
    row = next(one for one in lines if (one["window_start"], one["metric"]) == (start, "recall"))
    assert [float(row[name]) for name in ("value", "low", "high")] == numbers


def test_a_value_that_is_undefined_is_null_and_says_why(shop):
    with shop.ledger.database.writing() as connection:
        connection.execute(
            update(results)
            .where(results.c.metric == "recall")
            .values(value=None, low=None, high=None, undefined_reason="no positives")
        )
        connection.exec_driver_sql("UPDATE headline_results SET value = NULL")
    points = answer_of(shop, "/monitors/card-fraud/series", metric="recall")["items"]
    assert {(one["value"], one["reason"]) for one in points} == {(None, "no positives")}
    (line,) = answer_of(shop, "/monitors")["items"]
    assert line["headline"]["value"] is None
    assert line["headline"]["undefined_reason"] == "no positives"


def test_a_number_that_json_does_not_have_is_null(shop):
    with shop.ledger.database.writing() as connection:
        connection.execute(update(results).values(value=float("inf")))
    assert {one["value"] for one in all_of(shop, "/results")} == {None}


def test_what_is_asked_once_more_is_not_answered_again(shop):
    for address in READS:
        first = shop.get(V1 + address)
        tag = first.headers["ETag"]
        again = shop.get(V1 + address, headers={"If-None-Match": tag})
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag), address
        assert not tag.startswith("W/")
    other = shop.get(f"{V1}/results?limit=1", headers={"If-None-Match": tag})
    assert other.status_code == 200


def test_an_etag_ends_with_a_commit_a_minute_or_another_reader(shop):
    tags = [shop.get(f"{V1}/monitors").headers["ETag"]]
    shop.ledger.note("somebody", "test", {})
    tags.append(shop.get(f"{V1}/monitors").headers["ETag"])
    shop.now = shop.now.replace(minute=shop.now.minute + 5)
    tags.append(shop.get(f"{V1}/monitors").headers["ETag"])
    assert len(set(tags)) == 3
    stays = shop.get(f"{V1}/results").headers["ETag"]
    shop.now = shop.now.replace(minute=shop.now.minute + 5)
    assert shop.get(f"{V1}/results").headers["ETag"] == stays


def test_what_is_not_answered_again_takes_few_statements(shop):
    statements = []
    tag = shop.get(f"{V1}/monitors").headers["ETag"]
    event.listen(
        shop.ledger.database.engine,
        "before_cursor_execute",
        lambda *told: statements.append(told[2]),
    )
    shop.get(f"{V1}/monitors", headers={"If-None-Match": tag})
    assert [one.split()[0] for one in statements] in (["SELECT"], ["BEGIN", "SELECT"])


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/results?limt=2", 400, "there is no parameter 'limt'; did you mean 'limit'? (there are"),
        ("/health?x=1", 400, "(nothing may be asked here)"),
        ("/results?limit=1&limit=2", 400, "limit must be given once"),
        ("/results?limit=0", 422, "limit: Input should be greater than or equal to 1"),
        ("/results?limit=1001", 422, "limit: Input should be less than or equal to 1000"),
        ("/results?limit=1e2", 422, "limit: must be a whole number"),
        ("/results?since=2026-01-01", 422, "since: must be a time with its offset"),
        ("/results?state=ripe", 422, "state.0: Input should be 'provisional', 'mature' or 'final'"),
        ("/results?cursor=bm8", 404, "this cursor belongs to no list"),
        ("/alerts?firing=yes", 422, "firing: must be true or false"),
        ("/results?monitor=other", 404, "there is no such monitor"),
        ("/monitors/other", 404, "there is no such monitor"),
        ("/monitors/card-fraud/series?metric=recal", 404, "did you mean 'recall'?"),
        ("/monitors/card-fraud/windows/2027-01-01T00:00:00Z", 404, "no such window"),
        ("/monitors/card-fraud/windows/yesterday", 404, "no such window"),
        (f"/monitors/card-fraud/windows/{SIXTH}?revision=77", 404, "no such window or revision"),
        ("/no-such", 404, "not found"),
    ],
)
def test_what_cannot_be_answered_is_a_problem(shop, address, status, said):
    found = shop.get(V1 + address)
    assert found.status_code == status
    assert found.mimetype == "application/problem+json"
    problem = json.loads(found.text)
    assert said.lower() in problem["detail"].lower()
    assert problem["status"] == status
    assert {"type", "title", "status", "detail"} <= set(problem) <= {*problem, "errors"}


def test_a_cursor_belongs_to_its_filters(shop):
    cursor = answer_of(shop, "/results", limit=2, metric="recall")["next"]
    found = shop.get(f"{V1}/results", query_string={"cursor": cursor, "metric": "f1"})
    assert found.status_code == 404


def test_what_may_not_be_seen_is_in_no_list(shop):
    hidden = ShopPages(shop.ledger, days=0, caller=person)
    for address in READS:
        found = hidden.get(V1 + address)
        assert "card-fraud" not in found.text
        if "card-fraud" in address:
            other = hidden.get(V1 + address.replace("card-fraud", "no-such"))
            assert (found.status_code, found.data) == (404, other.data)


def test_history_is_read_in_stretches(shop):
    shop.run(shop.now)
    wanted = [one.id for one in shop.ledger.alerts.history("card-fraud")][::-1]
    assert [one["id"] for one in all_of(shop, "/alerts/history", limit=1)] == wanted != []


def test_alerts_are_those_of_the_page(shop):
    found = {one["rule"]: one for one in all_of(shop, "/alerts", limit=1)}
    assert found["too few found"]["is_firing"]
    assert not found["f1 below 0.2"]["is_firing"]
    fires = answer_of(shop, "/alerts", firing="true")["items"]
    assert [one["rule"] for one in fires] == ["too few found"]


def test_the_document_describes_every_route(shop):
    document = answer_of(shop, "/openapi.json")
    assert document["openapi"] == "3.1.0"
    rules = shop.client.application.url_map.iter_rules()
    routes = {
        rule.rule.removeprefix(V1).replace("<", "{").replace(">", "}")
        for rule in rules
        if rule.rule.startswith(V1)
    }
    assert set(document["paths"]) == routes
    asked = {
        one["name"]: one["schema"] for one in document["paths"]["/results"]["get"]["parameters"]
    }
    assert (asked["limit"]["minimum"], asked["limit"]["maximum"]) == (1, 1000)
