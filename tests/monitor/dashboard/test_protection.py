"""Every answer is protected, and every request checked, whatever it asks for."""

from __future__ import annotations

import pytest

from pumonitor.report import palette

PAGES = ("/", "/alerts", "/monitors/card-fraud", "/static/pages.css", "/no-such-page")


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
def test_pages_are_read_without_script_and_style_stands_in_a_file(shop, address):
    text = shop.get(address).text
    assert "<script" not in text
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
