"""Every kind of page that a link leads to, wherever the pages stand and whoever reads them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.browsing import Site, kind, kinds_of_pages, visiting
from tests.browser.worked import BROKEN

pytestmark = pytest.mark.browser

KINDS = {"/", "/alerts", "/monitors/NAME", "/monitors/NAME/windows/START"}
OF_SOME = {"/monitors/NAME/challengers"}
"""Linked where a monitor has them: not found where one page of each kind is enough."""


def test_every_page_alone(pages: dict[str, str]) -> None:
    assert {one.split("?")[0] for one in pages} >= KINDS | OF_SOME


def test_every_page_inside_mlflow(chromium: Any, in_mlflow: Site, pages: dict[str, str]) -> None:
    with visiting(chromium, in_mlflow) as visit:
        assert set(kinds_of_pages(visit, in_mlflow, shape=kind)) >= KINDS


@pytest.mark.parametrize("who", ["admin", "reader"])
def test_every_page_with_accounts(chromium: Any, people: dict[str, Site], who: str) -> None:
    with visiting(chromium, people[who]) as visit:
        assert set(kinds_of_pages(visit, people[who], shape=kind)) >= KINDS
        visit.open(people[who].at("/"))
        names = visit.page.locator("table.list tbody th").all_inner_texts()
        assert (len(names) > 1) is (who == "admin")
        assert BROKEN in names


def test_challengers_inside_mlflow_lead_back_to_their_monitor(
    chromium: Any, people: dict[str, Site]
) -> None:
    site = people["reader"]
    with visiting(chromium, site) as visit:
        visit.open(site.at(f"/monitors/{BROKEN}"))
        visit.click("Challengers of the deployed model")
        assert kind(site, visit.page.url) == "/monitors/NAME/challengers"
        assert visit.page.locator("svg.series").count() == 2
        assert visit.said == []
        visit.click(BROKEN)
        assert kind(site, visit.page.url) == "/monitors/NAME"


def test_a_stranger_sees_no_monitor(chromium: Any, people: dict[str, Site]) -> None:
    site = people["stranger"]
    with visiting(chromium, site) as visit:
        found = kinds_of_pages(visit, site, shape=kind)
        assert not any("NAME" in one for one in found)
        visit.open(site.at("/"))
        assert "No monitors" in visit.text()
        visit.open(site.at(f"/monitors/{BROKEN}"))
        assert visit.status == 404
        assert BROKEN not in visit.text()


def test_who_is_not_signed_in_sees_nothing(chromium: Any, people: dict[str, Site]) -> None:
    site = Site(people["reader"].address)
    with visiting(chromium, site) as visit:
        for path in ("/", f"/monitors/{BROKEN}", "/static/pages.css"):
            answer = visit.page.request.get(site.at(path))
            assert answer.status == 401
            assert BROKEN not in answer.text()


def test_every_page_is_whole_without_script(
    chromium: Any, alone: Site, pages: dict[str, str]
) -> None:
    with (
        visiting(chromium, alone) as usual,
        visiting(chromium, alone, java_script_enabled=False) as without,
    ):
        for address in pages.values():
            usual.open(address)
            without.open(address)
            assert without.status == 200
            for part in ("h1", "form", "table", "svg", "a[href]"):
                assert without.page.locator(part).count() == usual.page.locator(part).count(), part
            assert without.text("h1") == usual.text("h1")
