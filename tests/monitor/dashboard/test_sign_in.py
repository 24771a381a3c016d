"""Served to others, every page wants a token or a session that was begun with one."""

from __future__ import annotations

import html
import json
import re
from types import SimpleNamespace

import pytest

from pumonitor.monitor.addresses import is_named
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.callers import Callers, WrongSecrets

HOST = "pumonitor.example.org"
PAGES = ("/", "/alerts", "/monitors/card-fraud", "/no-such-page", "/monitors/other")


@pytest.fixture
def served(shop):
    """Pages of the shop for others, with a browser that keeps cookies."""
    callers = Callers(shop.site, signs_in=True)
    app = make_app(shop.site, is_host=lambda host: is_named(host, [HOST]), callers=callers)
    app.testing = True

    def browser():
        return app.test_client()

    def token(right="acknowledge", **options):
        return shop.ledger.tokens.create(f"one who may {right}", right, by="test", **options)[1]

    return SimpleNamespace(browser=browser, token=token, callers=callers, ledger=shop.ledger)


def get(browser, address, *, token=None, **options):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return browser.get(address, base_url=f"https://{HOST}", headers=headers, **options)


def sign_in(browser, token, *, next_page="", origin=f"https://{HOST}"):
    page = get(browser, "/sign-in").text
    field = re.search(r'name="form_token" value="([^"]*)"', page)[1]
    return browser.post(
        "/sign-in",
        base_url=f"https://{HOST}",
        data={"token": token, "form_token": field, "next": next_page},
        headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"},
    )


@pytest.mark.parametrize("address", PAGES)
def test_whoever_has_not_signed_in_is_led_to_the_form(served, address):
    answer = get(served.browser(), address)
    assert answer.status_code == 303
    assert answer.location.startswith("/sign-in")
    assert get(served.browser(), f"/api/v1{address}").status_code == 401


def test_signing_in_leads_back_and_out_again(served):
    browser = served.browser()
    answer = sign_in(browser, served.token(), next_page="/alerts?monitor=card-fraud")
    assert (answer.status_code, answer.location) == (303, "/alerts?monitor=card-fraud")
    (cookie,) = (one for one in answer.headers.getlist("Set-Cookie") if "__Host-" in one)
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Strict"} <= set(cookie.split("; "))
    page = get(browser, "/alerts")
    assert page.status_code == 200
    assert "one who may acknowledge (token)" in html.unescape(page.text)
    field = re.search(r'name="form_token" value="([^"]*)"', page.text)[1]
    out = browser.post(
        "/sign-out",
        base_url=f"https://{HOST}",
        data={"form_token": field},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    assert (out.status_code, out.location) == (303, "/sign-in")
    assert get(browser, "/").status_code == 303


def test_revoking_the_token_ends_the_session(served):
    browser = served.browser()
    sign_in(browser, served.token())
    assert get(browser, "/").status_code == 200
    served.ledger.tokens.revoke("one who may acknowledge", by="test")
    assert get(browser, "/").status_code == 303


def test_a_wrong_token_begins_nothing_and_is_not_shown(served):
    wrong = served.token()[:-4] + "AAAA"
    answer = sign_in(served.browser(), wrong)
    assert answer.status_code == 401
    assert "there is no such token" in answer.text
    assert wrong not in answer.text + str(answer.headers)
    assert "__Host-" not in str(answer.headers)


def test_a_page_elsewhere_cannot_sign_a_browser_in(served):
    assert sign_in(served.browser(), served.token(), origin="https://evil.net").status_code == 403
    answer = served.browser().post(
        "/sign-in", base_url=f"https://{HOST}", data={"token": served.token("read")}
    )
    assert answer.status_code == 403


@pytest.mark.parametrize("next_page", ["https://evil.net", "//evil.net", "/\\evil.net", "/\nx", ""])
def test_signing_in_leads_nowhere_else(served, next_page):
    assert sign_in(served.browser(), served.token(), next_page=next_page).location == "/"


@pytest.mark.parametrize(
    "host", [f"{HOST}.evil.net", f"a{HOST}", "localhost", f"{HOST}@evil.net", f"{HOST}:x", ""]
)
def test_only_the_names_that_were_given_are_answered(served, host):
    for address in ("/sign-in", "/api/v1/monitors"):
        answer = served.browser().get(address, headers={"Host": host})
        assert answer.status_code == 421


def test_a_token_shows_the_monitors_that_it_names(served):
    none = served.token("read", monitors=["other"])
    answer = get(served.browser(), "/api/v1/monitors", token=none)
    assert json.loads(answer.text)["items"] == []
    assert get(served.browser(), "/monitors/card-fraud", token=none).status_code == 404


def test_many_wrong_tokens_are_logged_and_told_to_wait_and_a_right_one_is_not(served, caplog):
    right, browser = served.token(), served.browser()
    wrong = "pum_wrong"
    statuses = [get(browser, "/api/v1/health", token=wrong).status_code for _ in range(22)]
    assert statuses == [401] * 20 + [429] * 2
    (line,) = caplog.messages
    assert line == "pages: a wrong token from 127.0.0.1 for '/api/v1/health'"
    refused = get(browser, "/api/v1/health", token=wrong)
    assert refused.headers["Retry-After"] == "60"
    assert get(browser, "/api/v1/health", token=right).status_code == 200


def unknown(number):
    """A token or cookie of the right form that there is not."""
    return f"pum_{number:012x}_{'A' * 43}"


@pytest.fixture
def looked_up(served, monkeypatch):
    """Secrets that were looked up in the state database."""
    found, stored = [], served.ledger.tokens
    for name in ("holder", "of_session"):
        original = getattr(stored, name)

        def look_up(secret, original=original):
            found.append(secret)
            return original(secret)

        monkeypatch.setattr(stored, name, look_up)
    return found


def test_a_wrong_token_is_looked_up_once_a_minute(served, looked_up):
    browser = served.browser()
    for _ in range(5):
        assert get(browser, "/api/v1/health", token=unknown(1)).status_code == 401
    assert looked_up == [unknown(1)]


def test_after_many_wrong_tokens_only_those_that_were_right_are_looked_up(served, looked_up):
    right, browser = served.token(), served.browser()
    assert get(browser, "/api/v1/health", token=right).status_code == 200
    for number in range(20):
        assert get(browser, "/api/v1/health", token=unknown(number)).status_code == 401
    looked_up.clear()
    for number in range(20, 30):
        assert get(browser, "/api/v1/health", token=unknown(number)).status_code == 429
    assert looked_up == []
    assert get(browser, "/api/v1/health", token=right).status_code == 200
    served.ledger.tokens.revoke("one who may acknowledge", by="test")
    assert get(browser, "/api/v1/health", token=right).status_code == 429
    assert looked_up == [right, right]


def test_a_wrong_session_is_counted_and_looked_up_once(served, looked_up):
    browser = served.browser()
    browser.set_cookie(served.callers.cookie, "x" * 43, domain=HOST, secure=True)
    statuses = [get(browser, "/alerts").status_code for _ in range(102)]
    assert statuses == [303] * 100 + [429] * 2
    assert looked_up == ["x" * 43]
    assert sign_in(browser, served.token()).status_code == 303
    assert get(browser, "/alerts").status_code == 200


def test_sessions_are_guessed_a_hundred_times_a_minute_and_known_ones_go_on(served, looked_up):
    known = served.browser()
    sign_in(known, served.token())
    get(known, "/alerts")
    guessing = served.browser()
    for number in range(110):
        guessing.set_cookie(served.callers.cookie, f"{number:043d}", domain=HOST, secure=True)
        get(guessing, "/api/v1/health")
    assert sum(one.startswith("0000") for one in looked_up) == 100
    assert get(known, "/alerts").status_code == 200


def test_wrong_tokens_are_counted_in_bounded_memory_and_for_a_minute():
    now = [0.0]
    wrong = WrongSecrets(20, clock=lambda: now[0])
    assert not any(
        wrong.is_one_too_many(f"10.0.{one // 256}.{one % 256}", "guess") for one in range(5000)
    )
    assert len(wrong) == 1000
    of_network = [wrong.is_one_too_many(f"2001:db8::{one:x}", "guess") for one in range(21)]
    assert of_network == [False] * 20 + [True]
    assert wrong.needs_no_look("2001:db8::ffff", "guess")
    now[0] = 60.0
    assert not wrong.needs_no_look("2001:db8::1", "guess")
    assert not wrong.is_one_too_many("2001:db8::1", "guess")


def test_by_plain_http_the_cookie_is_a_plain_one(shop):
    callers = Callers(shop.site, signs_in=True, is_plain_http=True)
    app = make_app(shop.site, is_host=lambda host: True, callers=callers)
    text = shop.ledger.tokens.create("alice", "read", by="test")[1]
    answer = sign_in(app.test_client(), text)
    (cookie,) = (one for one in answer.headers.getlist("Set-Cookie") if "_session=" in one)
    assert "Secure" not in cookie
    assert "HttpOnly" in cookie


def test_on_this_machine_nobody_signs_in_and_a_wrong_token_is_still_refused(shop):
    assert shop.get("/").status_code == 200
    refused = shop.get("/api/v1/monitors", headers={"Authorization": "Bearer pum_wrong"})
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
