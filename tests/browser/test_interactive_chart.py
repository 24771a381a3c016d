"""The interactive chart under the policy of the pages: it stands, says its numbers, and moves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.browsing import Site, Visit, check_page, visiting
from tests.browser.worked import BROKEN

pytestmark = pytest.mark.browser

DAYS = re.compile(r"^(\d{4}-\d\d-\d\d) 00:00 to")


@pytest.fixture
def visit(chromium: Any, alone: Site) -> Any:
    with visiting(chromium, alone) as visit:
        visit.open(alone.at(f"/monitors/{BROKEN}"))
        visit.click("Interactive chart")
        visit.page.locator("#drawing canvas").wait_for()
        visit.page.locator("#drawing svg").wait_for(state="hidden")
        yield visit
        assert visit.said == []


def tooltip(visit: Visit, *, along: float) -> str:
    """What is said of the window at a share of the chart's width."""
    canvas = visit.page.locator("#drawing canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] * along, box["y"] + box["height"] * 0.4)
    tip = visit.page.locator("#chart-tip")
    tip.wait_for()
    return str(tip.inner_text())


def press(visit: Visit, name: str) -> None:
    visit.page.get_by_role("button", name=name, exact=True).click()


def test_it_stands_without_a_message_and_says_what_the_table_says(
    visit: Visit, alone: Site
) -> None:
    assert "chart=interactive" in visit.page.url
    visit.status, visit.headers = 200, dict(visit.page.request.get(visit.page.url).headers)
    check_page(visit, alone)
    said = tooltip(visit, along=0.5).split("\n")
    day = DAYS.match(said[0])[1]
    row = visit.page.locator("tr", has=visit.page.get_by_role("link", name=day, exact=True))
    value, interval = re.fullmatch(r"(\S+) \((.*)\)", said[1]).groups()
    assert value in row.inner_text()
    assert interval in row.inner_text()


def test_a_tooltip_has_what_is_marked(visit: Visit) -> None:
    told = [tooltip(visit, along=place / 20) for place in range(2, 20)]
    assert any("aul below 0.7: bad since this window, noticed on" in one for one in told)


def test_buttons_and_mouse_move_time_and_a_click_opens_the_window(visit: Visit) -> None:
    whole = tooltip(visit, along=0.95)
    press(visit, "Closer")
    press(visit, "Earlier")
    earlier = tooltip(visit, along=0.95)
    assert earlier < whole
    box = visit.page.locator("#drawing canvas").bounding_box()
    middle = box["y"] + box["height"] * 0.4
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.3, middle, steps=4)
    visit.page.mouse.up()
    assert "chart=interactive" in visit.page.url, "what moves the chart is no click"
    assert tooltip(visit, along=0.95) > earlier
    press(visit, "The whole time")
    assert tooltip(visit, along=0.95) == whole
    with visit.page.expect_navigation():
        visit.page.mouse.down()
        visit.page.mouse.up()
    assert f"/windows/{whole[:10]}" in visit.page.url


def test_it_takes_the_colours_of_the_mode(visit: Visit) -> None:
    canvas = visit.page.locator("#drawing canvas")
    light = canvas.screenshot()
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_timeout(300)
    assert canvas.screenshot() != light
    assert canvas.count() == 1


def test_without_its_library_the_drawing_stays(chromium: Any, alone: Site) -> None:
    with visiting(chromium, alone) as visit:
        visit.page.route("**/vega.js", lambda route: route.abort())
        visit.open(alone.at(f"/monitors/{BROKEN}?chart=interactive"))
        assert visit.page.locator("#drawing svg").is_visible()
        assert visit.page.locator("#chart-buttons").is_hidden()


@pytest.mark.parametrize("who", [None, "reader"])
def test_it_stands_inside_mlflow(
    chromium: Any, in_mlflow: Site, people: dict[str, Site], who: str | None
) -> None:
    site = in_mlflow if who is None else people[who]
    with visiting(chromium, site) as visit:
        visit.open(site.at(f"/monitors/{BROKEN}?chart=interactive"))
        visit.page.locator("#drawing svg").wait_for(state="hidden")
        check_page(visit, site)
        assert DAYS.match(tooltip(visit, along=0.5))
