"""The report of a period: its numbers are those of `results`, and it stands by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.schema import newest_panes, panes, results
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.reports.metric_over_windows import metric_over_windows
from pumonitor.monitor.reports.period.looks import arrived_by_age, expected_and_realised
from pumonitor.monitor.reports.period.period_report import _lead, period_report
from pumonitor.monitor.reports.realised_looks import realised_looks
from pumonitor.monitor.rules.windows.named_period import NamedPeriod, month_of, read_period
from pumonitor.monitor.windows.evaluation.baseline import BaselinePeriod
from pumonitor.names import estimate_text
from pumonitor.text import interval_shown
from tests.monitor.alerted_ledger import DAY, FIRST
from tests.monitor.dashboard.shop_pages import ShopPages

JANUARY = read_period("2026-01", zone="UTC")
AT = PageAddresses("https://p.example/pumonitor")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShopPages]:
    file = tmp_path_factory.mktemp("report") / "state.db"
    with Ledger.open(f"sqlite:///{file}") as ledger:
        yield ShopPages(ledger)


def written(shop: ShopPages, period: NamedPeriod = JANUARY) -> str:
    page = period_report(shop.monitors["card-fraud"], shop.ledger, period, now=shop.now, pages=AT)
    assert page is not None
    return page


def text_of(page: str) -> str:
    """The words of a page."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", page)).split())


class Cells(HTMLParser):
    """Texts of the cells of the table of all windows, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside |= tag == "table" and ("class", "windows") in attrs
        if self._inside and tag == "tr":
            self.rows.append([])
        if self._inside and tag in {"th", "td"}:
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._inside = False
        if tag in {"th", "td"}:
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._inside and self._cell:
            self.rows[-1][-1] += data


def test_its_numbers_are_those_of_results(shop: ShopPages) -> None:
    found = Cells()
    found.feed(written(shop))
    head, *lines = found.rows
    assert head[4:] == ["Recall", "F1"]
    stored = {
        (row.window_start, row.model_version, row.metric): row
        for row in shop.ledger.results("card-fraud", segment="")
    }
    assert len(lines) == len({start for start, *_ in stored}) == 8
    for day, line in enumerate(lines):
        version = "1" if day < 3 else "2"
        start = FIRST + day * DAY
        row = stored[start, version, "recall"]
        assert line[:4] == [
            f"{start:%Y-%m-%d}",
            row.state,
            *(
                estimate_text(name, stored[start, version, name].value)
                for name in ("predictions", "labeled_positives")
            ),
        ]
        for text, metric in zip(line[4:], ("recall", "f1"), strict=True):
            row = stored[start, version, metric]
            value = estimate_text(metric, row.value)
            assert text.replace("!", "").split(maxsplit=1) == [
                value,
                interval_shown(row.low, row.high),
            ]


def test_it_says_what_fired_why_and_where_to_look(shop: ShopPages) -> None:
    page = written(shop)
    fired = [
        one.transition
        for one in shop.ledger.alerts.history("card-fraud")
        if one.transition.kind == "fired"
    ]
    assert fired
    for one in fired:
        assert one.sentence in unescape(page)
        address = AT.window("card-fraud", one.window_start, one.model_version, one.segment)
        assert f'href="{address}"' in unescape(page)
    assert f"{len(fired)} alert{'s' * (len(fired) > 1)} fired (" in page
    assert AT.monitor("card-fraud") in page
    assert "8 windows with predictions, of which 6 mature." in page


def test_alerts_that_fired_before_the_period_and_go_on_are_told(shop: ShopPages) -> None:
    fired = shop.ledger.alerts.history("card-fraud", kind="fired")
    ended = {
        (one.transition.rule_key, one.transition.incident): one.transition.window_start
        for one in shop.ledger.alerts.history("card-fraud", kind="resolved")
    }
    open_ones = [
        one.transition
        for one in fired
        if (one.transition.rule_key, one.transition.incident) not in ended
    ]
    last = max(one.window_start for one in open_ones)
    after = read_period(f"{last + DAY:%Y-%m-%d}..2026-02-01", zone="UTC")
    page = written(shop, after)
    assert "No alert fired, " not in text_of(page)
    assert f"No alert fired; {len(open_ones)} w" in text_of(page)
    assert " firing from before (" in text_of(page)
    for one in open_ones:
        assert one.sentence in unescape(page)
    # At the first window nothing had fired yet.
    assert "firing from before" not in text_of(written(shop))


def test_a_few_odd_rows_are_told_however_few(shop: ShopPages) -> None:
    text = "No rows were left out or odd."
    with shop.ledger.database.writing() as connection:
        of = panes.c.window_key == shop.ledger.windows("card-fraud")[0].window_key
        counts = connection.scalars(select(panes.c.counts).where(of)).first()
        odd = dict(counts or {}) | {"duplicate_labels": 3, "label_rows": 4000}
        connection.execute(update(panes).where(of).values(counts=odd))
    try:
        page = text_of(written(shop))
    finally:
        with shop.ledger.database.writing() as connection:
            connection.execute(update(panes).where(of).values(counts=counts))
    assert text not in page
    assert "In all windows together: 3 labels that repeat an earlier one." in page


def test_it_has_the_notes_of_people(shop: ShopPages) -> None:
    note = Note(monitor="card-fraud", at=FIRST + DAY, text="A <new> shop opened.", author="Ada")
    shop.ledger.notes.add(note)
    assert "2026-01-02, Ada: A &lt;new&gt; shop opened." in written(shop)
    assert "Ada" not in written(shop, read_period("2026-01-03..2026-01-05", zone="UTC"))


def test_it_stands_by_itself_and_is_small(shop: ShopPages) -> None:
    page = written(shop)
    assert len(page.encode()) < 1_500_000
    loaded = re.findall(r"(?:src=|url\(|@import|<script|<link)", page)
    assert loaded == []
    assert "http" not in re.sub(r"https://p\.example/[^\"<\s]*", "", page)


def test_windows_of_other_periods_are_left_out(shop: ShopPages) -> None:
    some = written(shop, read_period("2026-01-02..2026-01-04", zone="UTC"))
    found = Cells()
    found.feed(some)
    assert [line[0] for line in found.rows[1:]] == ["2026-01-02", "2026-01-03"]
    monitor = shop.monitors["card-fraud"]
    empty = read_period("2025-12", zone="UTC")
    assert period_report(monitor, shop.ledger, empty, now=shop.now) is None


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-03", "2026-02-28T23:00", "2026-03-31T22:00"),
        ("2026-12", "2026-11-30T23:00", "2026-12-31T23:00"),
        ("2026-q1", "2025-12-31T23:00", "2026-03-31T22:00"),
        ("2026", "2025-12-31T23:00", "2026-12-31T23:00"),
        ("2026-01-01..2026-02-01", "2025-12-31T23:00", "2026-01-31T23:00"),
        ("2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),
        (" 2026-01-01T06:00Z .. 2026-01-02 ", "2026-01-01T06:00", "2026-01-01T23:00"),
    ],
)
def test_a_period_is_of_the_monitors_zone(text: str, start: str, end: str) -> None:
    found = read_period(text, zone="Europe/Berlin")
    assert (f"{found.start:%Y-%m-%dT%H:%M}", f"{found.end:%Y-%m-%dT%H:%M}") == (start, end)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "",
            "a period is written as 2026-03, 2026-03-01, 2026-Q1, 2026 or "
            "2026-01-01..2026-02-01, got ''",
        ),
        ("2026-13", "a period is written as"),
        ("2026-Q5", "a period is written as"),
        ("0000", "a period is written as"),
        ("0001..9999-12-31", "a period is written as"),
        ("March 2026", "a period is written as"),
        ("2026-01-01..", "a period is written as"),
        ("2026-02-01..2026-01-01", "a period must end after it starts, got 2026-02-01..2026-01"),
    ],
)
def test_a_period_that_cannot_be_read_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        read_period(text, zone="Europe/Berlin")


def test_a_month_holds_its_moments_and_ends_where_the_next_begins() -> None:
    moment = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)
    found = month_of(moment, zone="Europe/Berlin")
    assert found == read_period("2026-02", zone="Europe/Berlin")
    assert found.start <= moment < found.end
    assert month_of(found.end, zone="Europe/Berlin").start == found.end


def row(
    metric: str, value: float | None, *, age: int, day: int = 0, revision: int = 1
) -> PublishedResult:
    start = FIRST + day * DAY
    return PublishedResult(
        monitor="m",
        model_version="",
        segment="",
        window_start=start,
        window_end=start + DAY,
        state="provisional" if age < 4 else "mature",
        revision=revision,
        as_of=start + timedelta(days=1 + age),
        metric=metric,
        value=value,
        low=None if value is None else value - 0.1,
        high=None if value is None else value + 0.1,
        n_labeled=None,
        n_unlabeled=None,
    )


def test_page_and_report_count_alike_what_became_of_expectations(shop: ShopPages) -> None:
    # One window became impossible, beyond what it was expected to be; another has a final pane.
    with shop.ledger.database.writing() as connection:
        newest = newest_panes.c
        keys = list(
            connection.scalars(select(newest.window_key).where(newest.state == "mature").distinct())
        )
        of = (results.c.metric == "recall") & (results.c.window_key == sorted(keys)[0])
        connection.execute(
            update(results)
            .where(of)
            .values(infeasible=True, infeasible_reason="above 1", unclipped_value=1.4)
        )
    found = shop.ledger.realised("card-fraud", "recall", since=JANUARY.start, until=JANUARY.end)
    looks = realised_looks(found)
    assert (sum(one.windows for one in looks), sum(one.inside for one in looks)) == (6, 5)
    reported = expected_and_realised({"recall": found})
    page, report = text_of(shop.get("/monitors/card-fraud").text), text_of(written(shop))
    for look, one in zip(looks, reported, strict=True):
        version, many = look.model_version, f"{look.windows} windows"
        assert f"Version {version}, at the end of a window: of {many}, {look.inside} ended" in page
        assert f"Recall, version {version} 0d {one.inside} of {many}" in report


def test_an_impossible_number_is_marked_and_its_window_is_named(shop: ShopPages) -> None:
    with shop.ledger.database.writing() as connection:
        newest = newest_panes.c
        keys = sorted(connection.scalars(select(newest.window_key).distinct()))
        of = (results.c.metric == "recall") & (results.c.window_key == keys[0])
        connection.execute(update(results).where(of).values(infeasible_reason="above 2"))
    stored = shop.ledger.results("card-fraud", segment="", metrics=["recall"])
    reasoned = {f"{one.window_start:%Y-%m-%d}": one.infeasible_reason for one in stored}
    page = written(shop)
    found = Cells()
    found.feed(page)
    marked = [line[0] for line in found.rows if "!" in line[4]]
    assert marked == [day for day, reason in reasoned.items() if reason]
    [changed] = [day for day, reason in reasoned.items() if reason == "above 2"]
    assert f"Recall, window of {changed}: above 2." in text_of(page)
    assert "!: impossible, or computed from a number that is" in page


def test_a_month_without_an_estimate_says_why(tmp_path: Path) -> None:
    counts, reason = {"predictions", "labeled_positives"}, "no row is labeled"
    with Ledger.open(f"sqlite:///{tmp_path}/state.db") as ledger:
        shop = ShopPages(ledger)
        with ledger.database.writing() as connection:
            connection.execute(
                update(results)
                .where(results.c.metric == "recall")
                .values(value=None, low=None, high=None, undefined_reason=reason)
            )
            connection.execute(delete(results).where(results.c.metric.not_in({*counts, "recall"})))
        page = written(shop)
        with ledger.database.writing() as connection:
            connection.execute(delete(results).where(results.c.metric.not_in(counts)))
        bare = written(shop)
    found = Cells()
    found.feed(page)
    head, *lines = found.rows
    assert head[4:] == ["Recall"]
    assert [line[0] for line in lines] == [f"2026-01-0{day}" for day in range(1, 9)]
    assert {line[4].strip() for line in lines} == {"–"}
    assert "Recall, 8 windows, the newest of 2026-01-08: no row is labeled." in text_of(page)
    assert "<figure>" not in page

    found = Cells()
    found.feed(bare)
    assert [line[:1] for line in found.rows[1:]] == [line[:1] for line in lines]
    assert "No window of the period was evaluated." in text_of(bare)


def test_all_versions_of_a_window_are_in_the_totals(shop: ShopPages) -> None:
    stored = shop.ledger.results("card-fraud", segment="", metrics=["predictions"])
    assert len(stored) == 9  # one window has two versions
    total = sum(int(row.value or 0) for row in stored)
    first = sum(int(row.value or 0) for row in stored if row.model_version == "1")
    report = text_of(written(shop))
    assert f"Predictions {total:,}" in report
    assert f"1 4 2026-01-01 2026-01-04 {first:,}" in report


def test_confirmations_arrive_by_age() -> None:
    rows = [
        row("labeled_positives", 3.0, age=0),
        row("labeled_positives", 9.0, age=1),
        row("labeled_positives", 12.0, age=4),
        row("labeled_positives", 4.0, age=0, day=1),
        row("labeled_positives", 8.0, age=4, day=1),
        row("labeled_positives", 0.0, age=0, day=2),
        row("labeled_positives", 0.0, age=4, day=2),  # no share of nothing
    ]
    found = arrived_by_age(rows)
    assert [(one.age, one.windows, one.arrived, one.mature) for one in found] == [
        ("0d", 2, 7, 20),
        ("1d", 1, 9, 12),
    ]
    assert [(one.share, one.lowest, one.highest) for one in found] == [
        ("35%", "25%", "50%"),
        ("75%", "75%", "75%"),
    ]


def test_windows_of_the_reference_are_not_counted_as_incomparable(shop: ShopPages) -> None:
    over = metric_over_windows(
        shop.ledger.series_of(["predictions"], monitors=["card-fraud"], limit=1000), "predictions"
    )
    mature = [one for one, early in zip(over.starts, over.provisional, strict=True) if not early]
    of = BaselinePeriod(start=mature[0], end=mature[2], windows=2)
    compared = dict.fromkeys(mature, "unknown") | {mature[-1]: "degraded", mature[-2]: "level"}
    said = " ".join(_lead(over, [], [], compared, reference=of))
    assert said.startswith(
        "8 windows with predictions, of which 6 mature. Compared with the reference, 1 window "
        "surely worse and 1 not; "
    )
    assert "2 of the reference itself; 2 could not be compared." in said
