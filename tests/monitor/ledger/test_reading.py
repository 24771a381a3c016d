"""Readers: what the ledger tells evaluation, people and exporters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from pumonitor.monitor.ledger.database.schema import Moment
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.collected import StoredSeries
from tests.monitor.ledger.monitored_days import (
    CONFIGURATION,
    DAY,
    LONG_AFTER,
    MONITOR,
    collected,
    counted,
    day,
    evaluated,
    judged,
    key,
    panes_of,
    planned,
    run_out,
)


def before(
    ledger: Ledger, number: int, as_of: datetime, *, limit: int = 10, **chosen: object
) -> list[tuple[int, int]]:
    """Days and panes of the overall series before a day."""
    found: tuple[StoredSeries, ...] = ledger.series_before(
        MONITOR,
        CONFIGURATION,
        **{"segment": "", "start": day(number).start, "as_of": as_of, "limit": limit} | chosen,  # type: ignore[arg-type]
    )
    return [(one.window.index - 20454, one.number) for one in found]


def test_of_earlier_windows_the_newest_pane_as_of_the_moment_counts(ledger: Ledger) -> None:
    planned(ledger, 4)
    for _ in range(4):
        collected(ledger)

    # Panes of a day are as of 0, 2 and 4 days after its end.
    assert before(ledger, 3, day(3).end) == [(0, 1), (1, 1), (2, 0)]
    assert before(ledger, 3, day(3).end + 2 * DAY) == [(0, 2), (1, 2), (2, 1)]
    assert before(ledger, 3, LONG_AFTER) == [(0, 2), (1, 2), (2, 2)]
    assert before(ledger, 3, LONG_AFTER, limit=2) == [(1, 2), (2, 2)]
    assert before(ledger, 3, LONG_AFTER, since=day(1).start) == [(1, 2), (2, 2)]
    assert before(ledger, 3, LONG_AFTER, model_version="7") == [(0, 2), (1, 2), (2, 2)]
    assert before(ledger, 3, LONG_AFTER, model_version="8") == []
    assert before(ledger, 3, LONG_AFTER, segment="country=DE") == [(0, 2), (1, 2), (2, 2)]
    assert before(ledger, 3, LONG_AFTER, segment="country=FR") == []
    assert before(ledger, 0, LONG_AFTER) == []
    assert before(ledger, 3, day(0).start) == []


def test_panes_not_collected_do_not_count(ledger: Ledger) -> None:
    planned(ledger, 2)
    collected(ledger, now=day(0).end)

    assert before(ledger, 1, LONG_AFTER) == [(0, 0)]


def test_a_series_that_is_not_in_the_newest_pane_is_left_out(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger, now=day(0).end)
    evaluated(ledger)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.commit_collect(claim, [replace(pane, series=pane.series[:1]) for pane in counted(claim)])

    assert before(ledger, 1, LONG_AFTER) == [(0, 2)]
    assert before(ledger, 1, LONG_AFTER, segment="country=DE") == []
    assert before(ledger, 1, day(0).end, segment="country=DE") == [(0, 0)]


def test_what_was_found_in_earlier_windows_is_that_of_the_same_panes(ledger: Ledger) -> None:
    planned(ledger, 3)
    for _ in range(3):
        collected(ledger)

    def found(as_of: datetime, **chosen: datetime) -> list[tuple[int, int]]:
        counts = ledger.pane_counts_before(
            MONITOR, CONFIGURATION, start=day(2).start, as_of=as_of, **chosen
        )
        return [(one.window.index - 20454, one.counts["predictions"] - 110) for one in counts]

    assert found(LONG_AFTER) == [(0, 2), (1, 2)]
    assert found(day(2).end) == [(0, 1), (1, 0)]
    assert found(day(0).end) == [(0, 0)]
    assert found(LONG_AFTER, since=day(1).start) == [(1, 2)]


def test_results_are_those_of_the_view(ledger: Ledger) -> None:
    planned(ledger, 2)
    collected(ledger)
    collected(ledger, now=day(1).end)
    evaluated(ledger)
    evaluated(ledger, value=0.7)

    found = ledger.results()

    with ledger.database.reading() as connection:
        rows = connection.exec_driver_sql(
            "SELECT * FROM pumonitor_results ORDER BY monitor, window_start, metric"
        ).all()
        moment = Moment().dialect_impl(connection.dialect)
        as_moment = moment.result_processor(connection.dialect, None)
    assert as_moment is not None
    viewed = [
        tuple(
            as_moment(field) if number in {3, 4, 7} else field for number, field in enumerate(row)
        )
        for row in rows
    ]
    assert viewed == [tuple(one.model_dump().values()) for one in found]
    assert [(one.window_start, one.state, one.metric, one.value) for one in found] == [
        (day(0).start, "final", "auc", 0.9),
        (day(0).start, "final", "mcc", None),
        (day(1).start, "provisional", "auc", 0.7),
        (day(1).start, "provisional", "mcc", None),
    ]
    assert (found[0].n_labeled, found[0].n_unlabeled) == (10, 5_000_000_000)


def test_results_can_be_chosen(ledger: Ledger) -> None:
    planned(ledger, 3)
    planned(ledger, 1, monitor="other")
    for _ in range(4):
        collected(ledger)
        evaluated(ledger)

    assert len(ledger.results()) == 8
    assert len(ledger.results(MONITOR)) == 6
    assert len(ledger.results(MONITOR, metrics=["auc"])) == 3
    assert len(ledger.results(MONITOR, metrics=[])) == 0
    assert len(ledger.results(MONITOR, metrics=["auc"], revisions="all")) == 9
    assert len(ledger.results(MONITOR, metrics=["auc"], states=["mature"], revisions="all")) == 6
    assert len(ledger.results(MONITOR, metrics=["auc"], states=["final"], revisions="all")) == 3
    between = ledger.results(MONITOR, since=day(1).start, until=day(2).start, metrics=["auc"])
    assert [one.window_start for one in between] == [day(1).start]
    assert ledger.results(MONITOR, model_version="8") == ()
    assert ledger.results(MONITOR, segment="country=DE") == ()
    assert len(ledger.results(MONITOR, model_version="7", segment="")) == 6


def test_evaluations_by_window_and_revision(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger, note="good")

    newest = ledger.evaluation(MONITOR, start=day(0).start, model_version="7")
    first = ledger.evaluation(MONITOR, start=day(0).start, model_version="7", revision=0)

    assert newest is not None
    assert first is not None
    assert (newest.revision, newest.state, newest.window) == (2, "final", day(0))
    assert newest.evaluation == {"note": "good", "numbers": [1, 2.5, None]}
    assert (first.revision, first.state, first.as_of) == (0, "provisional", day(0).end)
    assert ledger.evaluation(MONITOR, start=day(0).start) is None
    assert ledger.evaluation(MONITOR, start=day(1).start, model_version="7") is None
    assert len(ledger.evaluations(MONITOR, start=day(0).start, revisions="all")) == 3
    assert ledger.evaluation_of(key(0), revision=0, model_version="7") == first
    assert ledger.evaluation_of(key(0), revision=3, model_version="7") is None
    assert ledger.evaluation_of(key(0), revision=0) is None


def test_a_changed_configuration_begins_anew_and_the_old_one_can_be_read(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger)
    assert not ledger.register_monitor(MONITOR, CONFIGURATION, meaning={"threshold": 0.8})

    assert ledger.register_monitor(MONITOR, "beef", meaning={"threshold": 0.7})
    ledger.plan(MONITOR, "beef", panes_of(day(0)))

    assert ledger.configuration(MONITOR) == "beef"
    assert ledger.configuration("other") is None
    assert ledger.results() == ()
    with ledger.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT * FROM pumonitor_results").all() == []
    assert len(ledger.results(configuration=CONFIGURATION)) == 2
    assert [one.configuration for one in ledger.windows()] == ["beef"]
    assert [one.configuration for one in ledger.windows(configuration=CONFIGURATION)] == ["c0ffee"]
    assert ledger.counts(now=LONG_AFTER).to_collect == 1
    assert ledger.register_monitor(MONITOR, CONFIGURATION, meaning={"threshold": 0.8})
    assert len(ledger.results()) == 2
    assert [one.detail["configuration"] for one in ledger.audit()] == ["c0ffee", "beef", "c0ffee"]


def test_how_much_there_is_to_do(ledger: Ledger) -> None:
    planned(ledger, 3)
    empty = ledger.counts(now=day(0).start)
    assert (empty.windows, empty.to_collect, empty.oldest_unfinished) == (3, 0, None)

    collected(ledger, now=day(1).end)
    claim = ledger.claim_collect("me", now=day(1).end)
    assert claim is not None
    ledger.release(claim, error="no")

    backlog = ledger.counts(now=day(1).end)
    assert (backlog.to_collect, backlog.to_evaluate, backlog.failing) == (1, 1, 1)
    assert backlog.oldest_unfinished == day(0).end
    evaluated(ledger)
    assert ledger.counts(now=day(1).end).oldest_unfinished == day(1).end
    assert ledger.counts(now=day(1).end, monitor="other").windows == 0
    run_out(ledger)
    collected(ledger, now=day(1).end)
    evaluated(ledger)
    done = ledger.counts(now=day(1).end)
    assert (done.to_collect, done.to_evaluate, done.failing) == (0, 0, 0)
    assert done.oldest_unfinished is None


def test_windows_can_be_chosen(ledger: Ledger) -> None:
    planned(ledger, 3)
    planned(ledger, 1, monitor="other")

    assert len(ledger.windows()) == 4
    assert [one.window for one in ledger.windows(MONITOR, since=day(1).start)] == [day(1), day(2)]
    assert [one.window for one in ledger.windows(MONITOR, until=day(1).start)] == [day(0)]
    assert [pane.number for pane in ledger.windows("other")[0].panes] == [0, 1, 2]


def test_the_audit_has_the_latest_first(ledger: Ledger) -> None:
    for number in range(3):
        ledger.note("ana", "look", {"number": number})

    assert [one.detail["number"] for one in ledger.audit(limit=2)] == [2, 1]
    assert ledger.audit()[0].at >= ledger.audit()[2].at


def test_others_see_what_was_committed(open_ledger: Callable[..., Ledger]) -> None:
    one, other = open_ledger(), open_ledger()
    planned(one, 1)
    claim = other.claim_collect("other", now=LONG_AFTER)
    assert claim is not None
    other.commit_collect(claim, counted(claim))
    claim = one.claim_evaluate("one")
    assert claim is not None
    one.commit_evaluate(claim, judged(claim))

    assert other.results() == one.results() != ()
