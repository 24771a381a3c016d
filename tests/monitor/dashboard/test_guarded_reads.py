"""What readers cost others, and what they are shown of others."""

from __future__ import annotations

import re
import socket
import sqlite3
import time
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from pumonitor.monitor.dashboard.pages import decide_found
from pumonitor.monitor.dashboard.server import pages_server
from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.records.alerts import Silence
from tests.monitor.dashboard.shop_pages import ShopPages, person
from tests.monitor.dashboard.test_forms import NAME, address_of, alice_pages, send

COMPUTED = (
    "/monitors/card-fraud/simulate",
    "/monitors/card-fraud/challengers",
    "/api/v1/monitors/card-fraud/challengers",
    "/monitors/card-fraud/decide",
    "/api/v1/monitors/card-fraud/decide",
    "/monitors/card-fraud/windows/2026-01-06T00:00:00Z/report.html",
)


def test_reading_with_a_token_does_not_wait_for_whoever_writes(shop):
    _, text = shop.ledger.tokens.create("grafana", "read", by="test")
    with closing(sqlite3.connect(shop.ledger.database.engine.url.database)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        found = shop.ledger.tokens.holder(text)
        took = time.monotonic() - begun
        writer.rollback()
    assert found is not None
    assert took < 1
    shop.ledger.tokens.holder(text)
    [kept] = shop.ledger.tokens.all()
    assert kept.last_used_at is not None


def test_a_huge_body_is_refused_before_it_is_taken(shop):
    with pages_server("127.0.0.1:0", shop.monitors, shop.ledger, clock=lambda: shop.now) as url:
        port = int(re.search(r":(\d+)/", url)[1])
        with closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as client:
            client.sendall(
                b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\n\r\n"
            )
            assert b" 413 " in client.recv(100)


def test_what_was_done_here_is_shown_however_much_was_done_elsewhere(shop):
    pages = alice_pages(shop)
    assert send(pages, "acknowledge", reason="on it").status_code == 303
    with pages.ledger.database.writing() as connection:
        for _ in range(1001):
            detail = {"monitor": "other"}
            record(connection, at=pages.now, actor="bob", action="acknowledge", detail=detail)
    assert "acknowledged it: on it" in pages.get(address_of(pages)).text


def test_a_tag_of_before_a_right_was_given_is_not_the_same_answer(shop):
    address = f"/api/v1/monitors/{NAME}"
    before = ShopPages(shop.ledger, days=0, caller=lambda: person([NAME])).at(shop.now)
    tag = before.get(address).headers["ETag"]
    after = alice_pages(shop).get(address, headers={"If-None-Match": tag})
    assert (after.status_code, after.json["may_change"]) == (200, True)


@pytest.mark.parametrize("address", COMPUTED)
def test_no_page_elsewhere_has_a_long_computation_run_unseen(shop, address):
    for kind in ("image", "iframe", "empty", "script"):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": kind}
        assert shop.get(address, headers=headers).status_code == 403
    led = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    assert shop.get(address, headers=led).status_code != 403


def test_silences_are_listed_page_by_page_without_those_of_others(shop):
    for monitor in (NAME, "other", None, NAME):
        shop.ledger.by_people.silence(
            Silence(
                starts=shop.now,
                ends=shop.now + timedelta(days=1),
                monitor=monitor,
                author="alice",
            )
        )
    past = Silence(starts=shop.now - timedelta(2), ends=shop.now - timedelta(1), author="alice")
    shop.ledger.by_people.silence(past)
    address, found = "/api/v1/silences?limit=2", []
    while True:
        answer = shop.get(address).json
        found += [one["id"] for one in answer["items"]]
        if not answer.get("next"):
            break
        address = f"/api/v1/silences?limit=2&cursor={answer['next']}"
    assert found == [4, 3, 1]
    some = shop.ledger.alerts.silences_to_end(after=shop.now, monitors=[NAME], limit=1)
    assert [one.id for one in some] == [4]


def test_an_alert_is_acknowledged_once(shop):
    pages = alice_pages(shop)
    assert send(pages, "acknowledge", reason="on it").status_code == 303
    again = send(pages, "acknowledge", reason="me too")
    assert again.status_code == 400
    assert "acknowledged already" in again.text
    done = [one.actor for one in pages.ledger.audit() if one.action == "acknowledge"]
    assert done == ["alice"]


def test_a_decision_is_computed_after_its_snapshot(evaluated, monkeypatch):
    states, at_once = [], type(evaluated.site).at_once
    computed = decide_found._found

    @contextmanager
    def watched(site):
        with at_once(site) as ledger:
            states.append("open")
            yield ledger
        states.append("closed")

    def compute(*given, **options):
        states.append("computed")
        return computed(*given, **options)

    monkeypatch.setattr(type(evaluated.site), "at_once", watched)
    monkeypatch.setattr(decide_found, "_found", compute)
    (name,) = evaluated.site.monitors
    assert evaluated.get(f"/monitors/{name}/decide?cases=41").status_code == 200
    assert states == ["open", "closed", "computed"]
    evaluated.get(f"/monitors/{name}/decide?cases=41")
    assert states[3:] == ["open", "closed"]
