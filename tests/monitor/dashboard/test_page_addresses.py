"""Addresses of pages that others link to: each one is answered, and the pages link alike."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from flask import url_for

from pumonitor.monitor.dashboard.address import with_known_names
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.page_addresses import PageAddresses, version_read, version_written
from tests.monitor.alerted_ledger import DAY, FIRST
from tests.monitor.dashboard.shop_pages import HOSTILE, ShopPages

AT = PageAddresses("")
NAME = "card-fraud"
ADDRESSES = {
    "overview": AT.overview(),
    "monitor": AT.monitor(NAME),
    "version": AT.monitor(NAME, version="2"),
    "metric": AT.monitor(NAME, metric="recall", version="2", segment=HOSTILE),
    "window": AT.window(NAME, FIRST + 5 * DAY),
    "series": AT.window(NAME, FIRST + 5 * DAY, "2"),
    "segment": AT.window(NAME, FIRST + 5 * DAY, "2", HOSTILE),
    "no version": AT.window(NAME, FIRST + 5 * DAY, ""),
    "challengers": AT.challengers(NAME),
    "all alerts": AT.alerts(),
    "alerts": AT.alerts(NAME),
}


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_every_address_is_answered(shop: ShopPages, address: str) -> None:
    assert shop.get(address).status_code == 200


@pytest.mark.parametrize("page", ["", "/decide"])
@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
def test_a_name_with_a_line_break_is_found_as_a_form_sends_it(shop, page, ends):
    asked = {"segment": HOSTILE.replace("\n", ends)}
    found = shop.client.get(f"/monitors/card-fraud{page}", query_string=asked).text
    exact = shop.client.get(f"/monitors/card-fraud{page}", query_string={"segment": HOSTILE}).text
    # The hostile option is the only one beside all rows.
    assert found.count(" selected>country=") == 1
    assert found == exact


def test_names_that_differ_by_a_line_break_stay_apart():
    known = ["a\nb", "a\rb", "a\r\nb"]
    for one in known:
        query = with_known_names({"version": one}, versions=known, segments=[])
        assert query == {"version": one}
    assert with_known_names({"segment": "x\r\ny"}, versions=[], segments=["z"]) == {
        "segment": "x\r\ny"
    }


def test_a_window_that_is_not_there_is_not_answered(shop: ShopPages) -> None:
    assert shop.get(AT.window(NAME, FIRST - 500 * DAY)).status_code == 404


@pytest.mark.parametrize("prefix", ["", "/pumonitor", "/ml flow/pumonitor"])
def test_the_pages_link_to_the_same_addresses(shop: ShopPages, prefix: str) -> None:
    app = make_app(shop.site, is_host=lambda host: True)
    start = "2026-01-06T00:00:00Z"
    series = {"version": "2", "segment": HOSTILE}
    with app.test_request_context("/", environ_overrides={"SCRIPT_NAME": prefix}):
        made = PageAddresses(url_for("show_overview").rstrip("/"))
        pairs = {
            made.overview(): url_for("show_overview"),
            made.monitor(NAME, metric="recall", **series): url_for(
                "show_monitor", name=NAME, metric="recall", **series
            ),
            made.window(NAME, FIRST + 5 * DAY, "2", HOSTILE): url_for(
                "show_window", name=NAME, start=start, **series
            ),
            made.alerts(NAME): url_for("show_alerts", monitor=NAME),
        }
    assert len(pairs) == 4
    for ours, of_flask in pairs.items():
        assert _read(ours) == _read(of_flask)


def _read(address: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlsplit(address)
    return unquote(parts.path), parse_qs(parts.query)


@pytest.mark.parametrize("name", ["(x)", "a b", "<s>", 'q"', "[1]", "é", "'", "a/../b", "\udc80"])
def test_no_address_ends_before_its_end_where_text_is_searched_for_links(name: str) -> None:
    address = AT.window(name, FIRST, name, name)
    assert address.isascii()
    assert not set(address) & set(" <>\"'()[]\\\n")
    assert address.count("/") == 4


@pytest.mark.parametrize("version", ["7", "", "-", "--", "a-"])
def test_a_version_is_read_as_it_was_written(version: str) -> None:
    assert version_read(version_written(version)) == version
