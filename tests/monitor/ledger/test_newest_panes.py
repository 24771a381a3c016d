"""What is kept of the newest panes is what all results say, whatever happened to them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Table, delete, insert, select, update

from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import (
    alert_states,
    evaluations,
    headline_results,
    newest_panes,
    panes,
    results,
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.results import (
    EvaluatedPane,
    EvaluatedSeries,
    MetricResult,
    PublishedResult,
)
from pumonitor.monitor.ledger.results.newest_panes import point_to_newest
from tests.monitor.ledger.kept_beside_results import check_newest, newest_from_results
from tests.monitor.ledger.monitored_days import (
    AGES,
    CONFIGURATION,
    FIRST,
    LONG_AFTER,
    MONITOR,
    collected,
    counted,
    day,
    key,
    panes_of,
    planned,
    run_out,
)

METRICS = ("auc", "f1", "label_maturity", "mcc", "mcc_expected", "predictions")


def judged(claim: Claim, rng: random.Random) -> list[EvaluatedPane]:
    """Made-up numbers, of a version that may have stopped and of segments that come and go."""
    return [
        EvaluatedPane(
            number=one.pane.number,
            series=[
                EvaluatedSeries(
                    model_version=version,
                    segment=segment,
                    evaluation={"drawn": rng.random()},
                    results=[result(name, rng) for name in METRICS],
                )
                for version in ("7", "8")
                for segment in ("", "country=DE", "country=FR")
                if rng.random() < 0.7
            ],
        )
        for one in claim.panes
    ]


def result(metric: str, rng: random.Random) -> MetricResult:
    if rng.random() < 0.2:
        return MetricResult(metric=metric, value=None, undefined_reason="no positives")
    value = rng.random()
    return MetricResult(
        metric=metric,
        value=value,
        low=value - 0.1,
        high=value + 0.1,
        n_labeled=rng.randrange(100),
        infeasible=rng.random() < 0.2,
        impossible=rng.random() < 0.2,
        assumed=metric == "class_prior",
    )


def evaluate_one(ledger: Ledger, rng: random.Random) -> None:
    claim = ledger.claim_evaluate("evaluator")
    if claim is not None:
        ledger.commit_evaluate(claim, judged(claim, rng))


@pytest.mark.parametrize("seed", range(4))
def test_they_are_what_all_results_say_after_any_history(ledger: Ledger, seed: int) -> None:
    """Windows in any order, panes one by one and together, repeats, and lost claims."""
    rng = random.Random(seed)  # noqa: S311
    planned(ledger, 4)
    moments = [day(number).end + age for number in range(4) for age in AGES]
    for _ in range(25):
        step = rng.choice(["collect", "evaluate", "evaluate", "again", "die", "release"])
        now = rng.choice(moments)
        if step == "collect":
            claim = ledger.claim_collect("collector", now=now)
            if claim is not None:
                ledger.commit_collect(claim, counted(claim, digest=str(rng.random())))
        elif step == "evaluate":
            evaluate_one(ledger, rng)
        elif step == "again":
            ledger.reopen([key(rng.randrange(4))], which="all", actor="test")
        elif step == "die":
            claim = ledger.claim_evaluate("dies")
            run_out(ledger)
            evaluate_one(ledger, rng)
            if claim is not None:
                with pytest.raises(StaleClaimError):
                    ledger.commit_evaluate(claim, judged(claim, rng))
        else:
            claim = ledger.claim_evaluate("fails")
            if claim is not None:
                ledger.release(claim, error="no")
                run_out(ledger)
        check_newest(ledger)
    assert ledger.results() == tuple(_sorted(newest_from_results(ledger)[CONFIGURATION]))
    assert ledger.results(MONITOR)


def _sorted(rows: list[PublishedResult]) -> list[PublishedResult]:
    names = ("monitor", "window_start", "model_version", "segment", "metric")
    return sorted(rows, key=lambda one: tuple(getattr(one, name) for name in names))


def test_an_earlier_pane_that_comes_later_does_not_replace_a_newer_one(ledger: Ledger) -> None:
    rng = random.Random(1)  # noqa: S311
    planned(ledger, 1)
    collected(ledger)
    evaluate_one(ledger, rng)
    with ledger.database.writing() as connection:
        connection.execute(update(panes).where(panes.c.number == 0).values(status="collected"))
        connection.execute(update(windows).values(evaluated_panes=2))
    evaluate_one(ledger, rng)

    with ledger.database.reading() as connection:
        revisions = dict(connection.execute(select(panes.c.number, panes.c.revision)).all())  # type: ignore[arg-type]
        states = set(connection.scalars(select(newest_panes.c.state)))
    assert revisions[0] > revisions[2]
    assert states == {"final"}
    check_newest(ledger)


def test_a_window_that_lost_its_predictions_is_gone(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluate_one(ledger, random.Random(1))  # noqa: S311
    ledger.reopen([key(0)], which="all", actor="test")
    collected(ledger, digest="e")
    claim = ledger.claim_evaluate("evaluator")
    assert claim is not None
    ledger.commit_evaluate(claim, [EvaluatedPane(number=one.pane.number) for one in claim.panes])

    assert ledger.newest_with_results(MONITOR) is None
    assert ledger.newest_mature(MONITOR) == {}
    check_newest(ledger)


def test_deleted_results_leave_what_was_before_them(ledger: Ledger) -> None:
    planned(ledger, 2)
    for _ in range(2):
        collected(ledger)
        evaluate_one(ledger, random.Random(2))  # noqa: S311
    with ledger.database.writing() as connection:
        _forget(connection, key(0), from_pane=2)
        _forget(connection, key(1), from_pane=0)
        point_to_newest(connection, [key(0), key(1)])

    check_newest(ledger)
    assert {one.state for one in ledger.results()} == {"mature"}
    assert {one.window_start for one in ledger.results()} == {day(0).start}


def _forget(connection: Connection, of: str, *, from_pane: int) -> None:
    for table in (results, evaluations):
        connection.execute(delete(table).where(table.c.window_key == of, table.c.pane >= from_pane))
    connection.execute(
        update(panes)
        .where(panes.c.window_key == of, panes.c.number >= from_pane)
        .values(revision=None)
    )


def test_each_configuration_has_its_own(ledger: Ledger) -> None:
    rng = random.Random(3)  # noqa: S311
    planned(ledger, 2)
    collected(ledger)
    evaluate_one(ledger, rng)
    ledger.register_monitor(MONITOR, "beef", meaning={"threshold": 0.7})
    ledger.plan(MONITOR, "beef", panes_of(day(0)))
    collected(ledger)
    evaluate_one(ledger, rng)
    check_newest(ledger)

    assert {one.window_start for one in ledger.results()} <= {day(0).start, day(1).start}
    before = ledger.newest_results()
    ledger.register_monitor(MONITOR, CONFIGURATION, meaning={"threshold": 0.8})
    assert as_rows(ledger.newest_results()) != as_rows(before)
    check_newest(ledger)


def as_rows(found: ResultColumns) -> list[PublishedResult]:
    columns = {name: getattr(found, name) for name in PublishedResult.__slots__}
    return [
        PublishedResult(**dict(zip(columns, row, strict=True)))
        for row in zip(*columns.values(), strict=True)
    ]


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    """Two monitors of six days; the last two are provisional."""
    rng = random.Random(4)  # noqa: S311
    planned(ledger, 6)
    planned(ledger, 6, monitor="other")
    for _ in range(12):
        collected(ledger, now=day(5).end + timedelta(hours=1))
    for _ in range(12):
        evaluate_one(ledger, rng)
    return ledger


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
    overview = filled.overview(
        {MONITOR: metric, "other": "auc", "unknown": "f1"}, now=LONG_AFTER, number=4
    )
    wanted = {MONITOR: metric, "other": "auc"}
    rows = [one for one in filled.results(segment="") if one.segment == ""]
    shown = [one for one in rows if one.metric == wanted[one.monitor]]
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
    assert list(overview.work.monitor) == [MONITOR, "other"]


def test_an_overview_says_what_is_due(ledger: Ledger) -> None:
    planned(ledger, 3)
    collected(ledger, now=day(0).end)
    now = day(1).end
    with ledger.database.writing() as connection:
        connection.execute(insert(alert_states), [_alert("a", firing=True), _alert("b")])

    overview = ledger.overview({MONITOR: "f1"}, now=now)
    work, backlog = overview.work, ledger.counts(now=now, monitor=MONITOR)

    assert (work.to_collect, work.to_evaluate, work.failing) == (
        (backlog.to_collect,),
        (backlog.to_evaluate,),
        (backlog.failing,),
    )
    assert (backlog.to_collect, backlog.to_evaluate) == (1, 1)
    assert work.next_look == (day(1).end,)
    assert work.next_mature == (day(0).end + AGES[1],)
    assert work.last_evaluated_at == (None,)
    assert overview.firing.rule == ("a",)
    assert (len(overview.newest), len(overview.series)) == (0, 0)
    evaluate_one(ledger, random.Random(5))  # noqa: S311
    assert ledger.overview({MONITOR: "f1"}, now=now).work.last_evaluated_at != (None,)
    assert ledger.overview({}, now=now).work.monitor == ()


def _alert(rule: str, *, firing: bool = False) -> Mapping[str, Any]:
    return {
        "monitor": MONITOR, "rule_key": rule, "model_version": "", "segment": "", "rule": rule,
        "metric": "f1", "severity": "critical", "state": "firing" if firing else "ok", "count": 0,
        "reason": "", "is_firing": firing, "incident": 1, "reminders": 0, "told_incident": 0,
        "told_firing": False, "acknowledged_incident": 0,
    }  # fmt: skip


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
        ledger.overview(dict.fromkeys(names, "f1"), now=LONG_AFTER)
        ledger.series_of(["f1"], monitors=names)
        ledger.newest_results(monitors=names)
        return len(statements)

    for place in range(3):
        planned(ledger, 1, monitor=f"monitor-{place}")
    assert number(["monitor-0"]) == number([f"monitor-{place}" for place in range(3)]) > 0


def test_a_ledger_of_the_version_before_is_filled(
    filled: Ledger, open_ledger: Callable[..., Ledger]
) -> None:
    """Two configurations, windows of all states: without the tables, at the step before them."""
    filled.register_monitor(MONITOR, "beef", meaning={"threshold": 0.7})
    filled.plan(MONITOR, "beef", panes_of(day(0)))
    collected(filled)
    evaluate_one(filled, random.Random(6))  # noqa: S311
    before = {table.name: _content(filled, table) for table in (newest_panes, headline_results)}
    assert min(map(len, before.values())) > 10
    with filled.database.writing() as connection:
        for table in (headline_results, newest_panes):
            table.drop(connection)
        connection.exec_driver_sql("ALTER TABLE monitors DROP COLUMN last_evaluated_at")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0007'")
    filled.close()

    again = open_ledger()

    check_newest(again)
    for table in (newest_panes, headline_results):
        assert _content(again, table) == before[table.name]


def _content(ledger: Ledger, table: Table) -> list[str]:
    with ledger.database.reading() as connection:
        return sorted(map(str, connection.execute(select(table)).all()))
