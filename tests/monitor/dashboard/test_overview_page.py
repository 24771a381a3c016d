"""The page of all monitors: who needs somebody comes first, and nobody is left out."""

from __future__ import annotations

import re

from sqlalchemy import event

from pumonitor.monitor.dashboard.pages.monitor_lines import monitor_lines
from tests.monitor.alerted_ledger import CONFIGURATION
from tests.monitor.dashboard.page_text import text_of


def test_overview_says_who_is_needed_and_the_newest_mature_estimate(shop):
    said = text_of(shop.get("/"))
    assert "The monitor needs attention: firing" in said
    assert "firing, critical a critical alert, too few found, since 2026-01-06" in said
    # Day 6 is the newest whose labels are mature on day 8: recall is 0.3 there.
    assert re.search(r"Recall 0\.300 0\.280 to 0\.320 2026-01-06, mature", said)
    assert "50%" in said
    assert "in 24 hours" in said


def test_overview_puts_first_what_needs_somebody_and_takes_as_many_statements(shop):
    ledger, number = shop.ledger, 0
    monitor = shop.monitors["card-fraud"]
    for name in ("another", "zebra"):
        shop.monitors[name] = monitor.model_copy()
        shop.monitors[name]._name = name
        ledger.register_monitor(name, CONFIGURATION, meaning={})

    def count(*_):
        nonlocal number
        number += 1

    event.listen(ledger.database.engine, "before_cursor_execute", count)
    names = re.findall(r'<th scope="row"><a [^>]*>([^<]*)', shop.get("/").text)
    assert names == ["card-fraud", "another", "zebra"]
    of_three, number = number, 0
    del shop.monitors["another"], shop.monitors["zebra"]
    shop.get("/")
    assert number == of_three


def test_a_sparkline_draws_the_version_with_most_predictions(shop):
    """On the fourth day the first version has 5 predictions and 0.77, the second 603 and 0.8."""
    with shop.site.at_once() as ledger:
        [line] = monitor_lines(shop.site, ledger, visible=["card-fraud"], now=shop.now)
    versions = [line.columns.model_version[index] for index in line.indices]
    assert versions == ["1"] * 3 + ["2"] * 5
    assert [line.columns.metric[index] for index in line.indices] == ["recall"] * 8


def test_a_long_overview_has_pages_and_leaves_no_monitor_out(shop):
    monitor = shop.monitors["card-fraud"]
    for number in range(400):
        name = f"monitor-{number:03}"
        shop.monitors[name] = monitor.model_copy()
        shop.monitors[name]._name = name
    shown = []
    for page in (1, 2, 3):
        answer = shop.get(f"/?page={page}")
        assert f"Page {page} of 3" in text_of(answer)
        shown += re.findall(r'<th scope="row"><a [^>]*>([^<]*)', answer.text)
    assert shown[0] == "card-fraud"
    assert sorted(shown) == sorted(shop.monitors)
    assert 'href="/?page=2"' in shop.get("/").text
