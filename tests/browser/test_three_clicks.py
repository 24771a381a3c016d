"""Three clicks from the first page at most, and it says what somebody wants to know."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.browser.browsing import Site, Visit, visiting
from tests.browser.worked import BREAKS_ON, BROKEN, first_day

pytestmark = pytest.mark.browser

SINCE = f"{first_day() + timedelta(days=BREAKS_ON):%Y-%m-%d}"
NUMBER = r"0(?:\.\d+)?"
INTERVAL = rf"{NUMBER} to {NUMBER}"


def after(visit: Visit, site: Site, *clicks: str | re.Pattern[str]) -> str:
    """What is read after following these links from the overview."""
    assert len(clicks) <= 3
    visit.open(site.at("/"))
    for one in clicks:
        visit.click(one)
    return visit.text("main")


@pytest.fixture
def reading(chromium: Any, alone: Site) -> Any:
    with visiting(chromium, alone, java_script_enabled=False) as visit:
        yield visit
        assert visit.said == []


def test_is_it_worse(reading: Visit, alone: Site) -> None:
    said = after(reading, alone)
    assert re.search(r"2 of 4 monitors need attention", said)
    assert re.search(
        rf"{BROKEN} firing, critical a critical alert, aul below 0.7.* The model ranks worse", said
    )
    said = after(reading, alone, BROKEN)
    assert re.search(rf"AUL is {NUMBER} \({INTERVAL}\), all of it below 0.7", said)


def test_since_when(reading: Visit, alone: Site) -> None:
    said = after(reading, alone, BROKEN)
    assert f"bad since the window of {SINCE}, noticed on" in said
    marked = f"{SINCE}: .*aul below 0.7: bad since this window, noticed on "
    assert re.search(marked, said), "the chart marks it"


def test_why(reading: Visit, alone: Site) -> None:
    said = after(reading, alone, BROKEN)
    cause = re.search(r"Cause: (.{20,}?) (?:AUL over windows|Next: )", said)[1]
    assert cause
    assert cause in after(reading, alone, BROKEN, re.compile("aul below 0.7"))


def test_how_sure(reading: Visit, alone: Site) -> None:
    said = after(reading, alone, BROKEN)
    shown = re.search(rf"AUL is ({NUMBER}) \(({INTERVAL})\)", said)
    assert shown
    after(reading, alone, BROKEN, SINCE)
    row = reading.page.locator("tr", has=reading.page.get_by_role("link", name="AUL", exact=True))
    assert re.search(INTERVAL, row.first.inner_text())
    row.first.locator("summary").click()
    assert "Method: " in row.first.inner_text()
    assert "confirmed and" in row.first.inner_text()


def test_what_shall_i_do(reading: Visit, alone: Site) -> None:
    said = after(reading, alone, BROKEN, re.compile("aul below 0.7"))
    assert "You look after it: no more reminders are sent." in said
    assert reading.page.get_by_role("button", name="Acknowledge").is_enabled()
    assert reading.page.get_by_role("button", name="Silence", exact=True).is_enabled()
    said = after(reading, alone, BROKEN, "Where should the threshold be?")
    assert "has the highest lower bound" in said
    assert "Which review would tell more" in said
