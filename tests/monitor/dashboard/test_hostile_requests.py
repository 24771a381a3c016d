"""What nobody sends by mistake is answered plainly, and spoils no page for others."""

from __future__ import annotations

import base64
import json
import logging
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from pumonitor.monitor.dashboard.api.cursor import cursor_after, read_cursor
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.ledger.database.errors import StateUnavailableError
from tests.monitor.dashboard.shop_pages import HOSTILE, person
from tests.monitor.dashboard.test_forms import NAME, alert_of, alices, send  # noqa: F401
from tests.monitor.dashboard.test_sign_in import get, served, sign_in  # noqa: F401

WINDOW = "/monitors/card-fraud/windows"


def test_a_silence_ends_while_every_zone_can_show_it(alices):  # noqa: F811
    answer = send(alices, "silences", until="9999-12-31T23:59:59Z")
    assert answer.status_code == 400
    assert "until is too far away" in answer.text
    assert alices.get("/alerts").status_code == 200


def test_a_note_is_about_an_alert_that_exists(alices):  # noqa: F811
    for wrong in (
        {"rule": "no such rule"},
        {"rule": "r" * 401},
        {"segment": "no such segment"},
        {"version": "v" * 401},
        {"incident": "2"},
    ):
        answer = send(alices, "notes", **wrong)
        assert answer.status_code == 400, wrong
        assert "Location" not in answer.headers
    assert alices.ledger.notes.all(NAME) == ()


def test_a_silence_has_no_endless_names(alices):  # noqa: F811
    assert send(alices, "silences", segment="s" * 401).status_code == 400
    assert alices.ledger.alerts.silences() == ()


@pytest.mark.parametrize("address", ["/", "/sign-in", "/nope", "/api/v1/monitors"])
def test_a_state_database_that_does_not_answer_is_said_on_a_page(
    served,  # noqa: F811
    address,
    monkeypatch,
    caplog,
):
    browser = served.browser()
    sign_in(browser, served.token())

    def dead(_secret):
        msg = "the state database postgresql://db.internal/x cannot be used"
        raise StateUnavailableError(msg)

    monkeypatch.setattr(served.ledger.tokens, "of_session", dead)
    with caplog.at_level(logging.ERROR, "pumonitor"):
        answer = get(browser, address)
    if address == "/sign-in":
        assert answer.status_code == 200
        return
    assert answer.status_code == 503
    assert "db.internal" not in answer.text
    assert "db.internal" in caplog.text


@pytest.mark.parametrize(("is_admin", "says"), [(True, True), (False, False)])
def test_the_address_of_the_database_is_for_administrators(shop, monkeypatch, is_admin, says):
    @contextmanager
    def dead():
        msg = "the state database postgresql://db.internal/x cannot be used"
        raise StateUnavailableError(msg)
        yield

    one = person([NAME], is_admin=is_admin)
    app = make_app(shop.site, is_host=lambda host: True, caller=lambda: one)
    monkeypatch.setattr(type(shop.site), "at_once", lambda _site: dead())
    answer = app.test_client().get("/alerts?done=noted.x")
    assert answer.status_code == 503
    assert ("db.internal" in answer.text) == says


def without_nul(shop):
    """The pages over a database that takes no NUL."""
    database = SimpleNamespace(is_sqlite=False)
    ledger = SimpleNamespace(database=database, secret_keys=shop.ledger.secret_keys)
    site = SimpleNamespace(monitors=shop.monitors, ledger=ledger)
    return make_app(site, is_host=lambda host: True).test_client()


def cursor(*key):
    return base64.urlsafe_b64encode(json.dumps(["", *key]).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "address",
    [
        "/monitors/card-fraud?segment=%00",
        "/monitors/card-fraud/results.csv?version=%00",
        "/monitors/card-fraud/decide?segment=%00",
        f"{WINDOW}/2026-01-06T00:00:00Z?segment=%00",
        "/monitors/card-fraud/alerts/%00",
        "/api/v1/monitors/%00",
        f"/api/v1/monitors/card-fraud/results?cursor={cursor(chr(0))}",
    ],
)
def test_where_the_database_takes_no_nul_nothing_of_that_name_is_found(shop, address):
    answer = without_nul(shop).get(address)
    assert answer.status_code == 404
    assert "NUL" in answer.text


@pytest.mark.parametrize(
    ("given", "like"), [(10**30, 0), (-(10**30), 0), ("\ud800", ""), ("2026-01-01\ud800", "")]
)
def test_a_cursor_that_no_database_takes_is_of_no_list(given, like):
    with pytest.raises(ProblemError) as refused:
        read_cursor(cursor_after([given], of=[]), [like], of=[])
    assert refused.value.status == 404


@pytest.mark.parametrize("asked", ["cases=0003009999", "cases=2001", "cases=300\u0660"])
def test_limits_of_a_decision_are_those_of_the_whole_number(shop, asked):
    assert shop.get(f"/monitors/card-fraud/decide?{asked}").status_code == 400


@pytest.mark.parametrize("start", ["٢٠٢٦-01-06T00:00:00Z", "2026-1-6T0:0:0Z"])
def test_a_start_is_taken_only_as_links_write_it(shop, start):
    for page in ("", "/report.html", "/results.csv"):
        assert shop.get(f"{WINDOW}/{start}{page}").status_code == 404


def test_any_tag_finds_no_monitor_that_is_not_there(shop):
    asked = {"If-None-Match": "*"}
    assert shop.get("/api/v1/monitors/no-such", headers=asked).status_code == 404
    assert shop.get("/api/v1/monitors/card-fraud", headers=asked).status_code == 200


def test_a_new_session_ends_the_earlier_one(served):  # noqa: F811
    browser = served.browser()
    sign_in(browser, served.token())
    name = served.callers.cookie
    earlier = browser.get_cookie(name, domain="pumonitor.example.org").value
    assert served.ledger.tokens.of_session(earlier) is not None
    sign_in(browser, served.token("read"))
    assert served.ledger.tokens.of_session(earlier) is None


def test_a_wrong_token_is_counted_once_a_request_and_looked_up_once(served, monkeypatch):  # noqa: F811
    browser, asked = served.browser(), []
    monkeypatch.setattr(served.ledger.tokens, "holder", asked.append)
    found = [get(browser, "/no-such-page", token="pum_x").status_code for _ in range(21)]  # noqa: S106
    assert 429 not in found[:20]
    assert found[20] == 429
    assert asked == ["pum_x"]


def test_behind_several_proxies_the_first_says_how_the_browser_came(alices):  # noqa: F811
    alert = alert_of(alices)
    answer = alices.get(
        f"/monitors/{NAME}/alerts/{alert.rule_key}?version=2",
        headers={"X-Forwarded-Proto": "https, http"},
    )
    assert "Secure" in answer.headers["Set-Cookie"]
    assert HOSTILE not in answer.headers["Set-Cookie"]
