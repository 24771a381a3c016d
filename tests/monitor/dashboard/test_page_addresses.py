"""Addresses of pages that others link to: each one is answered, and the pages link alike."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from flask import url_for

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
    "all alerts": AT.alerts(),
    "alerts": AT.alerts(NAME),
}


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_every_address_is_answered(shop: ShopPages, address: str) -> None:
    assert shop.get(address).status_code == 200


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
