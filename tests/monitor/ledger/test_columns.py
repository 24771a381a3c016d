"""Columns that pages read have the numbers of results."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from pumonitor.monitor.ledger.database.schema import (
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.kept_beside_results import (
    as_rows,
    evaluate_one,
)
from tests.monitor.ledger.monitored_days import (
    AGES,
    FIRST,
    LONG_AFTER,
    MONITOR,
    collected,
    day,
    planned,
)


def test_series_are_the_rows_of_results_in_columns(filled: Ledger) -> None:
    rows = [one for one in filled.results(segment="") if one.metric in {"f1", "mcc"}]
    found = filled.series_of(["f1", "mcc"])
    assert sorted(as_rows(found), key=str) == sorted(rows, key=str)
    assert list(found.window_start) == sorted(found.window_start)

    one = filled.series_of(
        ["auc"], monitors=[MONITOR], since=day(1).start, until=day(4).start, model_version="7"
    )
    expected = filled.results(
        MONITOR,
        metrics=["auc"],
        since=day(1).start,
        until=day(4).start,
        model_version="7",
        segment="",
    )
    assert tuple(as_rows(one)) == expected
    everywhere = filled.series_of(["auc"], segment=None)
    assert len(everywhere) == len(filled.results(metrics=["auc"]))


def test_a_limit_keeps_the_latest_windows_and_says_so(filled: Ledger) -> None:
    every = filled.series_of(["f1"])
    some = filled.series_of(["f1"], limit=3)
    assert (every.is_cut, some.is_cut, len(some)) == (False, True, 3)
    assert as_rows(some) == as_rows(every)[-3:]
    assert not filled.series_of(["f1"], limit=len(every)).is_cut


def test_what_was_known_at_a_moment(filled: Ledger) -> None:
    """Each window's last pane of that moment or earlier, with the revision that it has now."""
    moments = [day(0).start, day(0).end, day(2).end, day(3).end + timedelta(hours=1), LONG_AFTER]
    for as_of in moments:
        rows = [
            one
            for one in filled.results(revisions="all", metrics=["f1"], segment="")
            if one.as_of <= as_of
        ]
        last: dict[tuple[str, Any], int] = {}
        for one in rows:
            place = (one.monitor, one.window_start)
            last[place] = max(last.get(place, 0), one.revision)
        # A pane may have no series; then nothing is known of the window.
        found = as_rows(filled.series_of(["f1"], as_of=as_of))
        assert all(one.as_of <= as_of for one in found)
        assert sorted(map(str, found)) == sorted(
            str(one) for one in rows if one.revision == last[one.monitor, one.window_start]
        )
    assert as_rows(filled.series_of(["f1"], as_of=LONG_AFTER)) == as_rows(filled.series_of(["f1"]))


def test_the_newest_window_of_each_series(filled: Ledger) -> None:
    for mature in (False, True):
        rows = [one for one in filled.results() if not mature or one.state != "provisional"]
        newest: dict[tuple[str, str, str], Any] = {}
        for one in rows:
            newest[one.monitor, one.model_version, one.segment] = one.window_start
        expected = [
            one
            for one in rows
            if newest[one.monitor, one.model_version, one.segment] == one.window_start
        ]
        names = ("monitor", "model_version", "segment", "metric")
        expected.sort(key=lambda one: tuple(getattr(one, name) for name in names))
        assert as_rows(filled.newest_results(mature=mature)) == expected
    some = filled.newest_results(monitors=["other"], segment="", metrics=["auc"], limit=1)
    assert (len(some), set(some.metric), set(some.monitor)) == (1, {"auc"}, {"other"})


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_an_overview_has_the_numbers_of_results(filled: Ledger, metric: str) -> None:
    """Of a metric that is kept among the first numbers, and of one that is not."""
    overview = filled.overview({MONITOR: metric, "other": "auc", "unknown": "f1"}, number=4)
    wanted = {MONITOR: metric, "other": "auc"}
    rows = [one for one in filled.results(segment="") if one.segment == ""]
    shown = [one for one in rows if one.metric in (wanted[one.monitor], "predictions")]
    expected = []
    for monitor in wanted:
        starts = sorted({one.window_start for one in rows if one.monitor == monitor})[-4:]
        expected += [one for one in shown if one.monitor == monitor and one.window_start in starts]
    found = overview.series
    names = ("monitor", "model_version", "window_start", "state", "metric", "value", "low", "high")
    assert sorted(zip(*(getattr(found, name) for name in names), strict=True), key=str) == sorted(
        (tuple(getattr(one, name) for name in names) for one in expected), key=str
    )
    newest = {
        (one, metric)
        for one, metric in zip(overview.newest.monitor, overview.newest.metric, strict=True)
    }
    assert newest == {
        (monitor, name)
        for monitor in wanted
        for name in (wanted[monitor], "label_maturity", "predictions")
    }
    assert set(filled.work([MONITOR, "other", "unknown"], now=LONG_AFTER)) == {MONITOR, "other"}


def test_an_overview_says_what_is_due(ledger: Ledger) -> None:
    planned(ledger, 3)
    collected(ledger, now=day(0).end)
    now = day(1).end
    work, backlog = (
        ledger.work([MONITOR], now=now)[MONITOR],
        ledger.counts(now=now, monitor=MONITOR),
    )
    assert (work.to_collect, work.to_evaluate, work.failing) == (1, 1, 0)
    assert (backlog.to_collect, backlog.to_evaluate, backlog.failing) == (1, 1, 0)
    assert (work.due, work.oldest_due) == (2, backlog.oldest_unfinished)
    assert (work.newest_end, work.held) == (day(2).end, 0)
    assert work.next_mature == day(0).end + AGES[1]
    assert work.last_evaluated is None
    overview = ledger.overview({MONITOR: "f1"})
    assert (len(overview.newest), len(overview.series)) == (0, 0)
    evaluate_one(ledger, random.Random(5))  # noqa: S311
    assert ledger.work([MONITOR], now=now)[MONITOR].last_evaluated is not None
    assert ledger.work([], now=now) == {}


def test_backlogs_of_all_are_those_of_each(filled: Ledger) -> None:
    for now in (FIRST, day(3).end, LONG_AFTER):
        assert filled.backlogs(now=now) == {
            name: filled.counts(now=now, monitor=name) for name in (MONITOR, "other")
        }


def test_one_transaction_sees_one_moment(open_ledger: Callable[..., Ledger]) -> None:
    """What is committed between two statements of a reader is not seen by the second."""
    one, other = open_ledger(), open_ledger()
    planned(one, 1)
    with other.database.reading() as connection:
        before = connection.scalars(select(windows.c.window_start)).all()
        planned(one, 2)
        assert connection.scalars(select(windows.c.window_start)).all() == before
    with other.database.reading() as connection:
        assert len(connection.scalars(select(windows.c.window_start)).all()) == 2


def test_reads_take_as_many_statements_for_many_monitors(ledger: Ledger) -> None:
    from sqlalchemy import event

    statements: list[str] = []
    event.listen(
        ledger.database.engine,
        "before_cursor_execute",
        lambda *arguments: statements.append(arguments[2]),
    )

    def number(names: list[str]) -> int:
        statements.clear()
        ledger.overview(dict.fromkeys(names, "f1"))
        ledger.work(names, now=LONG_AFTER)
        ledger.series_of(["f1"], monitors=names)
        ledger.newest_results(monitors=names)
        return len(statements)

    for place in range(3):
        planned(ledger, 1, monitor=f"monitor-{place}")
    assert number(["monitor-0"]) == number([f"monitor-{place}" for place in range(3)]) > 0
