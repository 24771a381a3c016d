"""Every answer is protected, and every request checked, whatever it asks for."""

from __future__ import annotations

import pytest
from flask import url_for
from sqlalchemy import update

from pumonitor.monitor.dashboard.access import Caller
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.ledger.database.schema import alert_states, alert_transitions
from pumonitor.report import palette
from tests.monitor.dashboard.shop_pages import TEXT, ShopPages, monitors

PAGES = ("/", "/alerts", "/monitors/card-fraud", "/static/pages.css", "/no-such-page")
CANARY = "kanarienvogel"
OTHERS = "a-monitor-of-others"
HEADERS = (
    "Content-Security-Policy",
    "X-Content-Type-Options",
    "Referrer-Policy",
    "Cross-Origin-Resource-Policy",
)


def addresses(shop, monitor: str) -> dict[str, str]:
    """One of each route that is read; a new route is in it by itself."""
    parts = {
        "name": monitor,
        "monitor": monitor,
        "start": "2026-01-06T00:00:00Z",
        "rule": "0" * 8,
        "filename": "pages.css",
    }
    with shop.client.application.test_request_context("http://localhost/"):
        return {
            str(rule): url_for(rule.endpoint, **{one: parts[one] for one in rule.arguments})
            for rule in shop.client.application.url_map.iter_rules()
            if "GET" in rule.methods
        }


def test_every_route_refuses_other_names_and_methods_and_has_its_headers(shop):
    found = {}
    for rule, address in addresses(shop, "card-fraud").items():
        for method in ("put", "delete", "patch", "post"):
            found[rule, method] = getattr(shop.client, method)(address).status_code
        for host in ("evil.example", "localhost.evil.example", ""):
            found[rule, host] = shop.get(address, headers={"Host": host}).status_code
        with shop.get(address) as answer:
            found[rule, "headers"] = [one for one in HEADERS if one not in answer.headers]
            assert "unsafe" not in answer.headers["Content-Security-Policy"]
    wrong = {key: value for key, value in found.items() if value not in (405, 421, [])}
    assert wrong == {}
    assert len(found) > 100


def test_no_route_tells_a_monitor_of_others_from_none(shop):
    """The same answer, whether it is there or not; what it is called stands in none of them."""
    shop.monitors[OTHERS] = shop.monitors["card-fraud"].model_copy()
    shop.monitors[OTHERS]._name = OTHERS
    with shop.ledger.database.writing() as connection:
        for table in (alert_states, alert_transitions):
            connection.execute(update(table).values(monitor=OTHERS))
    of = ShopPages.__new__(ShopPages)
    seen = Caller(name="reader", visible=["card-fraud"], may_change=lambda _monitor: False)
    of.client = make_app(
        shop.site, is_host=lambda host: host == "localhost", caller=lambda: seen
    ).test_client()
    there, nowhere = addresses(shop, OTHERS), addresses(shop, "no-such-monitor")
    for rule, address in there.items():
        with of.get(address) as answer, of.get(nowhere[rule]) as other:
            assert OTHERS not in answer.text, rule
            if address != nowhere[rule]:
                assert (answer.status_code, other.status_code) == (404, 404), rule
                assert answer.text.replace(OTHERS, "") == other.text.replace(
                    "no-such-monitor", ""
                ), rule


def test_no_secret_of_the_configuration_is_in_any_answer_header_or_log(shop, monkeypatch, caplog):
    """Pages, API and CSV, with a table at a signed address."""
    monkeypatch.setenv("SIGNED", f"https://shop.example/p.parquet?X-Amz-Signature={CANARY}")
    monitor = monitors(TEXT.replace("p.parquet", '"${SIGNED}"'))["card-fraud"]
    assert CANARY in monitor.predictions.source.secret.get()
    shop.monitors["card-fraud"] = monitor
    forms = shop.ledger.secret_keys.get("forms of pages")
    caplog.set_level("DEBUG")
    for rule, address in addresses(shop, "card-fraud").items():
        with shop.get(address) as answer:
            told = answer.text + str(answer.headers)
        assert CANARY not in told, rule
        assert forms.hex() not in told, rule
        # Where the configuration is shown, the variable's name is.
        assert "shop.example" not in told, rule
    assert CANARY not in caplog.text


@pytest.mark.parametrize("address", PAGES)
def test_nothing_is_loaded_from_elsewhere_and_nothing_is_kept(shop, address):
    with shop.get(address) as answer:
        headers = answer.headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert not any("unsafe" in part or "http" in part or "*" in part for part in policy.values())
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    if not address.startswith("/static"):
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "localhost:80@evil", ""])
def test_a_name_that_is_not_ours_is_refused(shop, address, host):
    assert shop.get(address, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("address", PAGES[:4])
@pytest.mark.parametrize("method", ["post", "put", "delete", "patch", "options"])
def test_nothing_can_be_changed(shop, address, method):
    assert getattr(shop.client, method)(address).status_code == 405


@pytest.mark.parametrize("address", PAGES[:3])
def test_script_and_style_of_pages_stand_in_files(shop, address):
    text = shop.get(address).text
    assert "<script" not in text.replace('<script src="/static/charts.js" defer></script>', "")
    assert " style=" not in text
    assert "<style" not in text
    assert " on" + "click" not in text


def test_colours_of_pages_are_those_of_reports(shop):
    with shop.get("/static/pages.css") as answer:
        light, dark = answer.text.split("@media (prefers-color-scheme: dark)", 1)
    for name, colour in {
        "--ink": palette.INK,
        "--muted": palette.MUTED,
        "--axis": palette.AXIS,
        "--grid": palette.GRID,
        "--corrected": palette.CORRECTED,
        "--card": palette.BACKGROUND,
    }.items():
        assert f"{name}: {colour};" in light
        assert f"{name}: {palette.DARK[colour]};" in dark
