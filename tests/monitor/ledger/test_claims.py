"""Which window a worker gets, for how long, and what happens when it is too slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import windows
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import window_key
from tests.monitor.ledger.monitored_days import (
    CONFIGURATION,
    DAY,
    LONG_AFTER,
    MONITOR,
    collected,
    counted,
    day,
    days_of,
    evaluated,
    judged,
    key,
    panes_of,
    planned,
    run_out,
)


def test_a_key_is_that_of_its_parts() -> None:
    start, end = day(0).start, day(0).end

    assert len(window_key("a", "b", start, end)) == 64
    assert window_key("a", "bc", start, end) != window_key("ab", "c", start, end)
    assert window_key("a", "b", start, end) == window_key(
        "a", "b", start.astimezone(), end.astimezone()
    )
    with pytest.raises(ValueError, match="times must have a zone"):
        window_key("a", "b", start.replace(tzinfo=None), end)


def test_planning_twice_adds_nothing(ledger: Ledger) -> None:
    planned(ledger, 3)
    before = ledger.windows()

    assert ledger.plan(MONITOR, CONFIGURATION, panes_of(day(1))) == 0
    assert ledger.plan(MONITOR, CONFIGURATION, panes_of(day(3))) == 1
    assert ledger.windows()[:3] == before


def test_planning_adds_panes_to_a_window_that_was_finished(ledger: Ledger) -> None:
    ledger.register_monitor(MONITOR, CONFIGURATION, meaning={})
    ledger.plan(MONITOR, CONFIGURATION, panes_of(day(0))[:1])
    collected(ledger)
    evaluated(ledger)

    assert ledger.plan(MONITOR, CONFIGURATION, panes_of(day(0))) == 0

    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    assert [(one.pane.number, one.revision) for one in claim.panes] == [(1, 1), (2, 2)]


def test_planning_many_windows_at_once(ledger: Ledger) -> None:
    ledger.register_monitor(MONITOR, CONFIGURATION, meaning={})
    panes = [pane for number in range(700) for pane in panes_of(day(number))]

    assert ledger.plan(MONITOR, CONFIGURATION, reversed(panes)) == 700
    assert ledger.counts(now=LONG_AFTER).to_collect == 700


def test_a_monitor_that_is_not_registered_cannot_be_planned(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="monitor 'x' is not registered with the configuration"):
        ledger.plan("x", "y", panes_of(day(0)))


def test_the_oldest_window_comes_first_and_each_only_once(ledger: Ledger) -> None:
    planned(ledger, 3)

    claims = [ledger.claim_collect(f"worker {n}", now=LONG_AFTER) for n in range(4)]

    assert days_of(claims) == [0, 1, 2, -1]


def test_a_window_that_another_is_just_claiming_is_passed_by(postgres_address: str) -> None:
    with Ledger.open(postgres_address) as one, Ledger.open(postgres_address) as other:
        planned(one, 2)
        with one.database.writing() as connection:
            connection.execute(
                select(windows).where(windows.c.window_key == key(0)).with_for_update()
            )
            claim = other.claim_collect("other", now=LONG_AFTER)
    assert days_of([claim]) == [1]


def test_a_pane_is_due_from_its_moment_on(ledger: Ledger) -> None:
    planned(ledger, 1)
    as_of = panes_of(day(0))[0].as_of

    assert ledger.claim_collect("me", now=as_of - timedelta(microseconds=1)) is None
    claim = ledger.claim_collect("me", now=as_of)
    assert claim is not None
    assert [one.pane for one in claim.panes] == panes_of(day(0))[:1]


def test_all_due_panes_of_a_window_are_claimed_together(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger, now=day(0).end)

    assert ledger.claim_collect("me", now=day(0).end + DAY) is None
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    assert [one.pane for one in claim.panes] == panes_of(day(0))[1:]


def test_only_what_the_worker_knows_is_claimed(ledger: Ledger) -> None:
    planned(ledger, 1)

    assert ledger.claim_collect("me", now=LONG_AFTER, monitors={}) is None
    assert ledger.claim_collect("me", now=LONG_AFTER, monitors={MONITOR: "other"}) is None
    assert ledger.claim_collect("me", now=LONG_AFTER, monitors={"other": CONFIGURATION}) is None
    mine = {"other": "x", MONITOR: CONFIGURATION}
    claim = ledger.claim_collect("me", now=LONG_AFTER, monitors=mine)
    assert claim is not None
    ledger.commit_collect(claim, counted(claim))
    assert ledger.claim_evaluate("me", monitors={MONITOR: "other"}) is None
    assert ledger.claim_evaluate("me", monitors=mine) is not None


def test_a_window_is_worked_on_in_one_step_at_a_time(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger, now=day(0).end)
    evaluating = ledger.claim_evaluate("me")
    assert evaluating is not None

    assert ledger.claim_collect("you", now=LONG_AFTER) is None
    ledger.commit_evaluate(evaluating, judged(evaluating))
    assert ledger.claim_collect("you", now=LONG_AFTER) is not None


# -- leases and fences ------------------------------------------------------------------------


def test_a_window_is_free_again_when_its_lease_has_run_out(
    open_ledger: Callable[..., Ledger],
) -> None:
    ledger = open_ledger(rules=WorkRules(lease=timedelta(milliseconds=50)))
    planned(ledger, 1)
    first = ledger.claim_collect("first", now=LONG_AFTER)
    assert first is not None
    second = None
    while second is None:  # as long as the database's clock takes
        second = ledger.claim_collect("second", now=LONG_AFTER)

    assert second.fence == first.fence + 1
    assert second.lease_until - timedelta(milliseconds=50) >= first.lease_until
    assert second.attempts == 1
    assert ledger.windows()[0].last_error == "first died or did not finish before its lease ran out"


def test_work_under_a_claim_that_others_took_over_is_refused(ledger: Ledger) -> None:
    planned(ledger, 1)
    slow = ledger.claim_collect("worker", now=LONG_AFTER)
    run_out(ledger)
    fast = ledger.claim_collect("worker", now=LONG_AFTER)
    assert slow is not None
    assert fast is not None

    for act in (
        lambda: ledger.commit_collect(slow, counted(slow, digest="slow")),
        lambda: ledger.renew(slow),
    ):
        with pytest.raises(StaleClaimError, match="worker no longer holds the window of card-"):
            act()
    ledger.release(slow, error="too slow")
    ledger.commit_collect(fast, counted(fast, digest="fast"))
    with pytest.raises(StaleClaimError, match=r"Nothing was stored$"):
        ledger.commit_collect(slow, counted(slow, digest="slow"))

    assert [pane.digest for pane in ledger.windows()[0].panes] == ["fast0", "fast1", "fast2"]
    assert ledger.windows()[0].last_error is None


def test_an_evaluation_is_stored_by_one_of_two_workers(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    slow = ledger.claim_evaluate("worker")
    run_out(ledger)
    fast = ledger.claim_evaluate("worker")
    assert slow is not None
    assert fast is not None

    assert ledger.commit_evaluate(fast, judged(fast, value=0.81)) == (0, 1, 2)
    with pytest.raises(StaleClaimError):
        ledger.commit_evaluate(slow, judged(slow, value=0.82))

    found = ledger.results(metrics=["auc"], revisions="all")
    assert [(one.revision, one.value) for one in found] == [(0, 0.81), (1, 0.81), (2, 0.81)]
    assert ledger.outbox.waiting()["mlflow"].messages == 3


def test_a_claim_serves_once(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = collected(ledger)

    with pytest.raises(StaleClaimError):
        ledger.commit_collect(claim, counted(claim))


def test_late_work_counts_as_long_as_nobody_took_over(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("slow", now=LONG_AFTER)
    assert claim is not None
    run_out(ledger)

    ledger.commit_collect(claim, counted(claim))

    assert ledger.windows()[0].panes[0].status == "collected"


def test_renewing_keeps_a_window(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    run_out(ledger)

    ledger.renew(claim)

    assert ledger.claim_collect("you", now=LONG_AFTER) is None
    (window,) = ledger.windows()
    assert window.lease_until is not None
    assert window.lease_until >= claim.lease_until
    ledger.commit_collect(claim, counted(claim))


def test_the_worker_s_clock_has_no_part_in_leases(address: str) -> None:
    script = Path(__file__).with_name("clock_worker.py")
    with Ledger.open(address) as ledger:
        planned(ledger, 3)
        ledger.claim_collect("here", now=LONG_AFTER)
        for number, hours in ((1, 5), (2, -5)):
            done = subprocess.run(
                [sys.executable, str(script), address, str(hours)],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
            # The first day is leased, whatever the clock over there says.
            assert done.stdout == f"the clock is off by {hours} hours, claimed day {number}\n"
        assert ledger.claim_collect("here", now=LONG_AFTER) is None
        with ledger.database.reading() as connection:
            now = ledger.database.now(connection)
        for window in ledger.windows():
            assert window.lease_until is not None
            assert timedelta(minutes=1) < window.lease_until - now <= timedelta(minutes=2)


def test_the_database_s_clock_has_a_zone_and_runs(ledger: Ledger) -> None:
    with ledger.database.reading() as connection:
        first, second = (ledger.database.now(connection) for _ in range(2))

    assert first <= second
    assert abs(second - datetime.now(UTC)) < timedelta(minutes=1)


# -- failures ---------------------------------------------------------------------------------


def test_keys_of_windows_are_those_of_the_ledger(ledger: Ledger) -> None:
    planned(ledger, 2)

    assert [window.window_key for window in ledger.windows()] == [key(0), key(1)]
