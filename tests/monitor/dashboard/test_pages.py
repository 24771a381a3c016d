"""What the pages show is what the ledger holds, for whoever may see it."""

from __future__ import annotations

import csv
import html
import io
import re
import threading
from urllib.parse import unquote

import pytest
from sqlalchemy import update

from pumonitor.monitor.ledger.by_people import ChosenAlerts
from pumonitor.monitor.ledger.database.schema import alert_transitions, evaluations, results
from pumonitor.monitor.ledger.database.schema import monitors as configurations
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.results import read_results
from pumonitor.names import estimate_text
from pumonitor.text import interval_shown
from tests.monitor.alerted_ledger import DAY, FIRST
from tests.monitor.dashboard.page_text import table_of, text_of
from tests.monitor.dashboard.shop_pages import HOSTILE, ShopPages, person
from tests.monitor.ledger.reviewed_audits import put_audit

SIXTH = "2026-01-06T00:00:00Z"


def test_a_monitor_page_has_the_numbers_of_the_ledger(shop):
    found = {
        (row.window_start, row.model_version): row
        for row in shop.ledger.results("card-fraud", metrics=["recall"], segment="")
    }
    shown = table_of(shop.get("/monitors/card-fraud"))
    assert len(shown) == 8
    for number, cells in zip(range(7, -1, -1), shown, strict=True):
        # Of the day on which both versions predicted, the one with most rows.
        row = found[FIRST + number * DAY, "1" if number < 3 else "2"]
        assert cells[:5] == [
            f"2026-01-0{number + 1}",
            row.state,
            row.model_version,
            estimate_text("recall", row.value),
            interval_shown(row.low, row.high),
        ]
        assert cells[6:8] == [str(600 + number), str(20 + number)]


def test_a_provisional_window_says_what_it_is_expected_to_become(shop):
    newest, *_, oldest = table_of(shop.get("/monitors/card-fraud"))
    assert newest[1] == "provisional"
    assert newest[5] == "0.300"
    assert oldest[5] == ""


def test_marks_say_when_an_alert_fired_and_a_version_took_over(shop):
    marks = re.findall(r'<li value="\d+">([^<]*)', shop.get("/monitors/card-fraud").text)
    assert marks == [
        "2026-01-04: model version 2",
        "2026-01-06: too few found: bad since this window, noticed on 2026-01-07",
    ]


def test_what_was_expected_stands_beside_what_became_of_it(shop):
    said = text_of(shop.get("/monitors/card-fraud"))
    # Six days are mature, three of either version; each became what it had been expected to.
    for version in ("1", "2"):
        assert (
            f"Version {version}, at the end of a window: of 3 windows, 3 ended inside their "
            "expected interval." in said
        )
    assert "Mean difference from what was expected: 0." in said
    assert "Expected, and what" not in text_of(shop.get("/monitors/card-fraud?metric=f1"))
    assert "of 3 windows, 3" in text_of(shop.get("/monitors/card-fraud?windows=5"))


def test_versions_are_compared_in_the_windows_that_both_have(shop):
    said = text_of(shop.get("/monitors/card-fraud"))
    # Both predicted on the fourth day alone, which is too little for an interval.
    assert "2 against 1 1 0.800 0.770 +0.0300 fewer than 3 mature windows have both" in said


def test_segments_are_compared_with_all_rows(shop):
    with shop.ledger.database.writing() as connection:
        of_segment = (results.c.segment != "") & (results.c.metric == "recall")
        connection.execute(update(results).where(of_segment).values(value=0.25))
    said = text_of(shop.get("/monitors/card-fraud"))
    assert re.search(r"6 0\.250 0\.717 -0\.467 -0\.681 to -0\.252 lower", said)
    # Where labels may be wrong recall needs the class prior, and one of all rows is no segment's.
    of = shop.monitors["card-fraud"]
    shop.monitors["card-fraud"] = of.model_copy(update={"class_prior": 0.05, "label_purity": 0.9})
    said = text_of(shop.get("/monitors/card-fraud"))
    assert "6 0.250 0.717 -0.467 the class prior is assumed for all rows, and a" in said


def test_notes_are_marked_where_they_belong(shop):
    for day, text in ((1, "first\nreader"), (400, "later")):
        at = FIRST + day * DAY
        shop.ledger.notes.add(Note(monitor="card-fraud", at=at, text=text, author="alice"))
    page = shop.get("/monitors/card-fraud")
    marks = re.findall(r'<li value="\d+">([^<]*)', page.text)
    assert marks[0] == "2026-01-02: alice: first reader"
    assert len(marks) == 3
    assert "alice : later" in text_of(page)
    # A note is known from when it was written on.
    assert "reader" not in shop.get("/monitors/card-fraud?as_of=2026-01-07T00:00:00Z").text


def test_a_changed_configuration_is_marked_with_what_changed(shop):
    with shop.ledger.database.writing() as connection:
        of = configurations.c.name == "card-fraud"
        connection.execute(update(configurations).where(of).values(meaning={"threshold": 0.5}))
        row = dict(connection.execute(configurations.select().where(of)).mappings().one())
        row |= {"configuration": "older", "is_current": False, "meaning": {"threshold": 0.4}}
        row["registered_at"] = FIRST
        connection.execute(configurations.insert(), row)
        now = {"registered_at": FIRST + 2 * DAY}
        connection.execute(update(configurations).where(configurations.c.is_current).values(now))
    marks = re.findall(r'<li value="\d+">([^<]*)', shop.get("/monitors/card-fraud").text)
    assert marks[0] == "2026-01-03: configuration: threshold was 0.4 and is now 0.5"


def test_an_audit_is_marked_at_its_first_window_once_it_was_drawn(shop):
    configuration = shop.ledger.configuration("card-fraud")
    put_audit(shop.ledger, "a1", first=1, monitor="card-fraud", configuration=configuration)
    put_audit(shop.ledger, "a2", first=3, monitor="card-fraud", configuration="another")
    page = shop.get("/monitors/card-fraud")
    (mark,) = [one for one in re.findall(r'<li value="\d+">([^<]*)', page.text) if "audit" in one]
    assert mark == (
        "2026-01-02: audit a1: cases of 2 windows, until 2026-01-04, drawn on 2026-01-10, "
        "model version 7"
    )
    assert 'class="mark audit"' in page.text
    assert "audit a1" not in shop.get("/monitors/card-fraud?as_of=2026-01-07T00:00:00Z").text


def test_a_date_leads_to_the_window_that_begins_on_it(shop):
    answer = shop.get("/monitors/card-fraud/windows/2026-01-06?version=2&name=x&_anchor=y")
    assert answer.status_code == 303
    place = answer.headers["Location"]
    assert unquote(place).endswith(f"/windows/{SIXTH}?version=2")
    assert shop.get(place).status_code == 200


def test_as_of_shows_what_was_known_then(shop):
    then = table_of(shop.get("/monitors/card-fraud?as_of=2026-01-07T00:00:00Z"))
    now = table_of(shop.get("/monitors/card-fraud"))
    assert [row[0] for row in then] == [row[0] for row in now[2:]]
    # On the sixth day nothing was mature that ended after the fourth.
    assert [row[1] for row in then][:3] == ["provisional", "provisional", "mature"]
    assert then[0][3] == "0.200"
    assert now[2][3] == "0.300"


def test_until_and_windows_choose_the_period(shop):
    rows = table_of(shop.get("/monitors/card-fraud?windows=2&until=2026-01-05"))
    assert [row[0] for row in rows] == ["2026-01-04", "2026-01-03"]


def test_the_form_as_it_is_sent_shows_the_same(shop):
    sent = shop.get("/monitors/card-fraud?metric=recall&version=&segment=&windows=90&as_of=")
    assert table_of(sent) == table_of(shop.get("/monitors/card-fraud"))


def test_few_windows_of_an_earlier_moment_or_version(shop):
    then = table_of(shop.get("/monitors/card-fraud?windows=1&as_of=2026-01-03T00:00:00Z"))
    assert [row[0] for row in then] == ["2026-01-02"]
    first = table_of(shop.get("/monitors/card-fraud?windows=2&version=1"))
    assert [row[0] for row in first] == ["2026-01-04", "2026-01-03"]


def test_marks_of_a_past_moment_are_those_of_then(shop):
    page = shop.get("/monitors/card-fraud?as_of=2026-01-05T00:00:00Z")
    assert "fired" not in page.text


def test_marks_of_a_moment_include_what_fired_then(shop):
    fired = next(
        one.transition.as_of
        for one in shop.ledger.alerts.history("card-fraud")
        if one.transition.kind == "fired"
    )
    query = {"as_of": fired.isoformat()}
    assert "too few found: bad since" in shop.get("/monitors/card-fraud", query_string=query).text


def test_who_may_see_what_is_asked_once_for_a_page(shop):
    asked = []
    names = ["card-fraud", *(f"other-{number}" for number in range(5))]
    pages = ShopPages(shop.ledger, days=0, caller=lambda: asked.append(1) or person(names))
    for name in names[1:]:
        pages.monitors[name] = pages.monitors["card-fraud"]
    assert pages.get("/monitors/card-fraud").status_code == 200
    assert len(asked) == 1


def test_alerts_of_monitors_that_are_not_seen_hide_no_others(shop, monkeypatch):
    monkeypatch.setattr("pumonitor.monitor.dashboard.pages.alerts_page._MOST_EVENTS", 1)
    with shop.ledger.database.writing() as connection:
        copied = connection.execute(alert_transitions.select()).mappings().all()
        rows = [
            {name: value for name, value in row.items() if name != "id"} | {"monitor": "hidden"}
            for row in copied
        ]
        connection.execute(alert_transitions.insert(), rows)
    said = text_of(shop.get("/alerts"))
    assert "Nothing has fired yet" not in said
    assert "all of it below 0.5" in said


def test_one_version_alone(shop):
    rows = table_of(shop.get("/monitors/card-fraud?version=1"))
    assert [row[0] for row in rows] == ["2026-01-04", "2026-01-03", "2026-01-02", "2026-01-01"]
    assert rows[0][3] == "0.770"


def test_the_uncorrected_number_is_one_click_away_and_says_that_it_is_wrong(shop):
    page = shop.get("/monitors/card-fraud?metric=f1")
    link = html.unescape(re.search(r'href="([^"]*metric=f1_pu[^"]*)"', page.text)[1])
    said = text_of(shop.get(link))
    assert "which is wrong" in said
    assert "0.310" in said


def test_a_window_page_has_its_estimates_its_looks_and_its_revisions(shop):
    said = text_of(shop.get(f"/monitors/card-fraud/windows/{SIXTH}"))
    assert re.search(r"Recall .{0,80} 0\.300 0\.280 to 0\.320", said)
    assert re.search(r"F1 .{0,80} 0\.610 0\.590 to 0\.630 0\.310", said)
    assert "Previous (revision 0)" in said
    first = text_of(shop.get(f"/monitors/card-fraud/windows/{SIXTH}?revision=0"))
    assert re.search(r"Recall .{0,80} 0\.200 0\.180 to 0\.220", first)
    assert "provisional" in first


def test_alerts_page_says_what_fires_and_what_happened(shop):
    said = text_of(shop.get("/alerts"))
    assert "1 alert fires" in said
    assert "bad since the window of 2026-01-06, noticed on 2026-01-07" in said
    assert "f1 below 0.2" in said


@pytest.mark.parametrize(
    ("address", "status", "reason"),
    [
        ("/monitors/other", 404, "not found"),
        ("/monitors/card-fraud/windows/2026-1-6", 404, "not found"),
        ("/monitors/card-fraud/windows/2026-02-30", 404, "not found"),
        ("/monitors/card-fraud/windows/2027-01-06T00:00:00Z", 404, "not found"),
        ("/monitors/card-fraud?metric=recal", 400, "did you mean 'recall'?"),
        (f"/monitors/card-fraud/windows/{SIXTH}?revision=77", 404, "not found"),
        ("/monitors/card-fraud?windows=0", 400, "windows must be a number from 1 to 1000"),
        (
            "/monitors/card-fraud?windows=0000001000000",
            400,
            "windows must be a number from 1 to 1000",
        ),
        ("/?page=2", 400, "page must be a number from 1 to 1"),
        ("/monitors/card-fraud?windows=1e3", 400, "windows must be a number from 1 to 1000"),
        ("/monitors/card-fraud?until=tomorrow", 400, "until must be a time such as"),
        ("/monitors/card-fraud?as_of=0001-01-01", 400, "as_of must be a time such as"),
        (f"/monitors/card-fraud?segment={'x' * 401}", 400, "at most 400 characters"),
        (f"/monitors/card-fraud/windows/{SIXTH}?revision=x", 400, "a whole number"),
        ("/alerts?monitor=other", 404, "not found"),
    ],
)
def test_what_cannot_be_shown_says_why(shop, address, status, reason):
    answer = shop.get(address)
    assert answer.status_code == status
    assert reason.lower() in html.unescape(answer.text).lower()


def test_names_from_data_are_harmless(shop):
    page = shop.get("/monitors/card-fraud", query_string={"segment": HOSTILE})
    window = shop.get(
        f"/monitors/card-fraud/windows/{SIXTH}", query_string={"segment": HOSTILE, "version": "2"}
    )
    for answer in (page, window, shop.get("/monitors/card-fraud")):
        assert answer.status_code == 200
        assert answer.text.count("<script") == answer.text.count('<script src="/static/charts.js"')
        visible = re.sub(r'(href|value)="[^"]*"', "", answer.text)
        assert "\u202e" not in visible
        assert "\x00" not in visible
    assert "no positives" in page.text


def test_a_monitor_that_may_not_be_seen_does_not_exist(shop):
    hidden = ShopPages(shop.ledger, days=0, caller=person)
    assert "card-fraud" not in text_of(hidden.get("/"))
    assert "too few found" not in text_of(hidden.get("/alerts"))
    for address in ("/monitors/card-fraud", f"/monitors/card-fraud/windows/{SIXTH}"):
        answer = hidden.get(address)
        other = hidden.get(address.replace("card-fraud", "no-such"))
        assert (answer.status_code, answer.data) == (404, other.data)


def test_a_page_shows_the_ledger_of_one_moment(shop):
    """A result that is committed while the page is read is all on it, or not at all."""
    with shop.site.at_once() as ledger:
        before = ledger.results("card-fraud", metrics=["f1"])
        writer = threading.Thread(target=_raise_all, args=(shop.ledger,))
        writer.start()
        writer.join()
        assert ledger.results("card-fraud", metrics=["f1"]) == before
    assert shop.ledger.results("card-fraud", metrics=["f1"]) != before


def _raise_all(ledger):
    with ledger.database.writing() as connection:
        connection.execute(update(results).values(value=0.99))


def test_a_monitor_without_results_says_what_to_do(shop):
    empty = ShopPages(shop.ledger, days=0)
    empty.monitors["new"] = empty.monitors["card-fraud"].model_copy()
    empty.monitors["new"]._name = "new"
    said = text_of(empty.get("/monitors/new"))
    assert "pumonitor run" in said
    assert "no results yet" in text_of(empty.get("/")).lower()


def test_acknowledged_alerts_need_nobody(shop):
    shop.ledger.by_people.acknowledge(ChosenAlerts(monitor="card-fraud"), by="alice")
    said = text_of(shop.get("/"))
    assert "Alerts fire that somebody knows of: acknowledged" in said
    assert "acknowledged" in text_of(shop.get("/alerts"))
    assert "acknowledged, critical a critical alert, too few found, since 2026-01-06" in said
    [line] = shop.get("/api/v1/monitors").get_json()["items"]
    found = (line["condition"], line["firing"], line["severity"])
    assert found == ("acknowledged", 1, "critical")


def test_csv_is_that_of_the_command(shop):
    answer = shop.get("/monitors/card-fraud/results.csv?metric=f1&windows=3&version=2")
    assert answer.mimetype == "text/csv"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    ours = [row for row in rows if row["metric"] == "f1"]
    stored = shop.ledger.results(
        "card-fraud", metrics=["f1"], model_version="2", segment="", since=FIRST + 5 * DAY
    )
    assert ours == [
        {name: "" if value is None else str(value) for name, value in one.to_dict().items()}
        for one in stored
    ]
    assert len(ours) == 3
    hostile = shop.get("/monitors/card-fraud/results.csv", query_string={"segment": "=1+1"})
    assert hostile.text.count("\n") == 1


def test_a_window_page_says_how_a_number_was_computed(shop):
    evaluation = {
        "estimates": {
            "recall": {
                "method": "draws",
                "n_labeled": 20,
                "n_unlabeled": 1980,
                "value": 0.3,
                "se": 0.1,
                "se_prior": 0.05,
            }
        }
    }
    with shop.ledger.database.writing() as connection:
        connection.execute(update(evaluations).values(evaluation=evaluation))
    said = text_of(shop.get(f"/monitors/card-fraud/windows/{SIXTH}"))
    assert "Method: draws, from 20 confirmed and 1,980 other cases." in said
    assert "25% of its variance is that of the class prior." in said


def test_the_metrics_of_a_page_are_those_of_the_latest_windows(shop, monkeypatch):
    every = {one.metric for one in shop.ledger.results("card-fraud", revisions="all")}
    assert set(shop.ledger.metrics("card-fraud")) == every
    monkeypatch.setattr(read_results, "_WINDOWS_OF_METRICS", 0)
    assert shop.ledger.metrics("card-fraud") == ()
