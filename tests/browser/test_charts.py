"""Drawings under the policy of the pages: what they say where somebody points at them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.browsing import Site, Visit, check_page, visiting
from tests.browser.worked import BROKEN

pytestmark = pytest.mark.browser

DAYS = re.compile(r"^(\d{4}-\d\d-\d\d) 00:00 to")
WINDOWS = "svg.series a"


@pytest.fixture
def visit(chromium: Any, alone: Site) -> Any:
    with visiting(chromium, alone) as visit:
        visit.open(alone.at(f"/monitors/{BROKEN}"))
        yield visit
        assert visit.said == []


def point_at(visit: Visit, index: int) -> str:
    """What is said of a window where the mouse is over its column, far from its dot."""
    column = visit.page.locator(WINDOWS).nth(index).locator(".column")
    column.scroll_into_view_if_needed()
    box = column.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 3)
    tip = visit.page.locator(".tip")
    tip.wait_for()
    return str(tip.inner_text())


def test_the_mouse_is_told_what_the_table_says(visit: Visit, alone: Site) -> None:
    check_page(visit, alone)
    text = point_at(visit, 4).split("\n")
    day = DAYS.match(text[0])[1]
    row = visit.page.locator("tr", has=visit.page.get_by_role("link", name=day, exact=True))
    value, interval = re.fullmatch(r"(\S+) \((.*)\)", text[1]).groups()
    assert value in row.inner_text()
    assert interval in row.inner_text()
    visit.page.mouse.move(2, 2)
    visit.page.locator(".tip").wait_for(state="hidden")


def test_a_window_says_what_happened_in_it(visit: Visit) -> None:
    texts = [point_at(visit, index) for index in range(visit.page.locator(WINDOWS).count())]
    assert any("aul below 0.7: bad since this window, noticed on" in text for text in texts)


def test_the_keyboard_is_told_the_same_and_opens_the_window(visit: Visit) -> None:
    told = point_at(visit, 2)
    visit.page.mouse.move(2, 2)
    window = visit.page.locator(WINDOWS).nth(2)
    window.focus()
    assert visit.page.locator(".tip").inner_text() == told
    visit.page.keyboard.press("Escape")
    assert visit.page.locator(".tip").is_hidden()
    with visit.page.expect_navigation():
        visit.page.keyboard.press("Enter")
    assert f"/windows/{told[:10]}" in visit.page.url


def test_without_its_script_the_drawing_says_the_same_by_itself(chromium: Any, alone: Site) -> None:
    with visiting(chromium, alone, java_script_enabled=False) as visit:
        visit.open(alone.at(f"/monitors/{BROKEN}"))
        assert DAYS.match(visit.page.locator(f"{WINDOWS} title").first.text_content())


@pytest.mark.parametrize("who", [None, "reader"])
def test_it_stands_inside_mlflow(
    chromium: Any, in_mlflow: Site, people: dict[str, Site], who: str | None
) -> None:
    site = in_mlflow if who is None else people[who]
    with visiting(chromium, site) as visit:
        visit.open(site.at(f"/monitors/{BROKEN}"))
        check_page(visit, site)
        assert DAYS.match(point_at(visit, 3))
