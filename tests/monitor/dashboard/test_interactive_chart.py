"""Whoever asks for it gets a chart to be looked into, beside all that is there without script."""

from __future__ import annotations

import html
import json
import re

from pumonitor.names import estimate_text
from tests.monitor.dashboard.shop_pages import HOSTILE

PAGE = "/monitors/card-fraud"
ASKED = f"{PAGE}?chart=interactive"


def specification(answer):
    assert answer.status_code == 200
    found = re.search(
        r'<script type="application/json" id="chart-specification">(.*?)</script>', answer.text
    )
    return json.loads(found[1])


def test_drawing_and_table_stay(shop):
    usual, asked = shop.get(PAGE), shop.get(ASKED)
    for of_page in ('<svg class="series"', "<path", "<tr>", "<form"):
        assert asked.text.count(of_page) == usual.text.count(of_page) > 0
    assert "<script" not in usual.text


def test_it_has_the_numbers_of_the_table(shop):
    answer = shop.get(f"{ASKED}&metric=recall")
    windows = specification(answer)["data"]["values"]
    assert len(windows) == 8
    for one in windows:
        assert f"<b>{estimate_text('recall', one['value'])}</b>" in answer.text
        assert f'<a href="{one["link"]}">{one["said"][:10]}</a>' in answer.text
    assert "too few found: bad since this window" in windows[5]["said"]


def test_the_address_keeps_it(shop):
    answer = shop.get(f"{ASKED}&metric=recall&windows=3")
    addresses = [html.unescape(one) for one in re.findall(r'href="([^"]*)"', answer.text)]
    [earlier] = [one for one in addresses if "until=" in one]
    assert "chart=interactive" in earlier
    assert '<input type="hidden" name="chart" value="interactive">' in answer.text
    [table] = [one for one in addresses if "results.csv" in one]
    assert "chart" not in table
    assert f"{PAGE}?metric=recall&windows=3" in addresses


def test_another_chart_is_refused(shop):
    answer = shop.get(f"{PAGE}?chart=3d")
    assert answer.status_code == 400
    assert "chart must be interactive or left out, got &#39;3d&#39;" in answer.text


def test_a_hostile_segment_ends_no_script(shop):
    answer = shop.client.get(
        PAGE, query_string={"chart": "interactive", "segment": HOSTILE, "metric": "predictions"}
    )
    windows = specification(answer)["data"]["values"]
    assert windows
    assert answer.text.count("<script") == 3
    assert answer.text.count("</script>") == 3


def test_its_files_are_our_own(shop):
    for name in ("vega.js", "interactive.js"):
        with shop.get(f"/static/{name}") as answer:
            assert answer.status_code == 200
            assert answer.mimetype == "text/javascript"
    with shop.get(ASKED) as answer:
        sources = re.findall(r'<script src="([^"]*)"', answer.text)
        assert sources == ["/static/vega.js", "/static/interactive.js"]
        assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
