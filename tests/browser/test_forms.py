"""What people do on pages: acknowledge, silence and note, in a browser with and without script."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.browsing import Site, Visit, visiting
from tests.browser.worked import BROKEN

pytestmark = pytest.mark.browser

NOTE = (
    "<script>alert('note')</script> <img src=x onerror=alert(1)> \"quoted\" \u202ereversed 🦊 ../.."
)
ALERT = re.compile("aul below 0.7")


def open_alert(visit: Visit, site: Site) -> None:
    visit.open(site.at(f"/monitors/{BROKEN}"))
    visit.click(ALERT)


def press(visit: Visit, name: str) -> None:
    visit.page.get_by_role("button", name=name, exact=True).first.click()


@pytest.mark.parametrize("with_script", [True, False])
def test_an_alert_is_acknowledged_and_taken_back(
    chromium: Any, alone: Site, with_script: bool
) -> None:
    with visiting(chromium, alone, java_script_enabled=with_script) as visit:
        open_alert(visit, alone)
        visit.page.get_by_label("Reason").first.fill("I look at it")
        press(visit, "Acknowledge")
        assert "acknowledged" in visit.text(".context")
        assert "I look at it" in visit.text()
        press(visit, "Take it back")
        assert "acknowledged" not in visit.text(".context")
        assert visit.said == []


def test_an_alert_is_silenced_and_heard_again(chromium: Any, alone: Site) -> None:
    with visiting(chromium, alone) as visit:
        open_alert(visit, alone)
        visit.page.get_by_label("Until", exact=True).fill("2d")
        press(visit, "Silence")
        assert "silenced until" in visit.text(".context")
        press(visit, "End the silence")
        assert "silenced" not in visit.text(".context")
        assert visit.said == []


def test_a_note_is_shown_as_it_was_written_and_withdrawn(chromium: Any, alone: Site) -> None:
    with visiting(chromium, alone) as visit:
        open_alert(visit, alone)
        visit.page.locator("[name=text]").first.fill(NOTE)
        press(visit, "Keep the note")
        shown = visit.text()
        assert "<script>alert('note')</script>" in shown
        assert "\u202e" not in shown
        assert visit.page.locator("script, img[onerror]").count() == 0
        assert visit.said == []
        press(visit, "Withdraw this note")
        assert "alert('note')" not in visit.text()


@pytest.mark.parametrize("page", ["", "/decide"])
def test_a_version_whose_name_has_a_line_break_is_chosen(
    chromium: Any, alone: Site, page: str
) -> None:
    with visiting(chromium, alone) as visit:
        visit.open(alone.at(f"/monitors/{BROKEN}{page}"))
        chosen = visit.page.locator("select[name=version]")
        [option] = [
            one.get_attribute("value")
            for one in chosen.locator("option").all()
            if "alert('version')" in one.inner_text()
        ]
        chosen.select_option(value=option)
        press(visit, "Show")
        assert "version=" in visit.page.url
        assert chosen.input_value() == option
        assert visit.page.locator("table tbody tr").count() > 0


def test_a_page_elsewhere_cannot_send_a_form(chromium: Any, alone: Site) -> None:
    """The browser itself sends it, with the cookie of somebody who has the pages open."""
    with visiting(chromium, alone) as visit:
        open_alert(visit, alone)
        fields = visit.page.eval_on_selector_all(
            "form[action$=acknowledge] input", "all => all.map(one => [one.name, one.value])"
        )
        inputs = "".join(
            f'<input name="{name}" value="{value}">' for name, value in fields if name != "token"
        )
        action = alone.at(f"/monitors/{BROKEN}/acknowledge")
        other = visit.page.context.new_page()
        other.set_content(
            f'<form method="post" action="{action}">{inputs}<button>x</button></form>'
        )
        with other.expect_navigation() as sent:
            other.get_by_role("button").click()
        assert sent.value.status in {400, 403}
        visit.page.reload()
        assert "acknowledged" not in visit.text(".context")


def test_a_reader_in_mlflow_is_shown_no_form(chromium: Any, people: dict[str, Site]) -> None:
    with visiting(chromium, people["reader"]) as visit:
        open_alert(visit, people["reader"])
        assert "You may see this monitor, but not change it." in visit.text()
        assert visit.page.locator("form[method=post] button").count() == 0


def test_an_administrator_in_mlflow_notes_under_their_name(
    chromium: Any, people: dict[str, Site]
) -> None:
    with visiting(chromium, people["admin"]) as visit:
        open_alert(visit, people["admin"])
        visit.page.locator("[name=text]").first.fill("seen by the administrator")
        press(visit, "Keep the note")
        assert re.search(r"admin .*seen by the administrator", visit.text())
        press(visit, "Withdraw this note")
        assert "seen by the administrator" not in visit.text()
        assert visit.said == []
