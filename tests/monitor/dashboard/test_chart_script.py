"""The drawing of a monitor's page says each window's numbers, with script and without."""

from __future__ import annotations

import html
import re

from pumonitor.names import estimate_text
from tests.monitor.dashboard.shop_pages import HOSTILE

PAGE = "/monitors/card-fraud"
WINDOW = re.compile(r'<a href="([^"]*)" aria-label="[^"]*"><title>([^<]*)</title>')


def test_each_window_says_the_numbers_of_the_table(shop):
    answer = shop.get(f"{PAGE}?metric=recall")
    windows = WINDOW.findall(answer.text)
    assert len(windows) == 8
    for address, text in windows:
        moment, value, *_ = text.split("\n")
        number = value.split(" ")[0]
        assert f"<b>{estimate_text('recall', float(number))}</b>" in answer.text
        assert f'<a href="{address}">{moment[:10]}</a>' in answer.text
    assert "too few found: bad since this window" in windows[5][1]


def test_old_addresses_of_the_interactive_chart_show_it(shop):
    assert WINDOW.findall(shop.get(f"{PAGE}?chart=interactive").text) == WINDOW.findall(
        shop.get(PAGE).text
    )


def test_hostile_names_are_text(shop):
    answer = shop.client.get(PAGE, query_string={"segment": HOSTILE, "metric": "predictions"})
    assert WINDOW.findall(answer.text)
    assert answer.text.count("<script") == answer.text.count("</script>") == 1
    assert html.escape("<script>alert") in answer.text


def test_its_script_is_our_own(shop):
    with shop.get(PAGE) as answer:
        assert re.findall(r'<script src="([^"]*)"', answer.text) == ["/static/charts.js"]
        assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
    with shop.get("/static/charts.js") as answer:
        assert answer.status_code == 200
        assert answer.mimetype == "text/javascript"
