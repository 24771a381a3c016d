"""Which window a worker gets, for how long, and what happens when it fails or is too slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import select

from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import windows
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim, window_key
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


def days_of(claims: list[Claim | None]) -> list[int]:
    return [-1 if claim is None else claim.window.index - 20454 for claim in claims]


def test_a_key_is_that_of_its_parts() -> None:
    start, end = day(0).start, day(0).end

    assert len(window_key("a", "b", start, end)) == 64
    assert window_key("a", "bc", start, end) != window_key("ab", "c", start, end)
    assert window_key("a", "b", start, end) == window_key(
        "a", "b", start.astimezone(), end.astimezone()
    )
    with pytest.raises(ValueError, match="times must carry their zone"):
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


# -- order of evaluation ----------------------------------------------------------------------


def test_a_pane_waits_for_what_earlier_windows_knew_at_its_moment(ledger: Ledger) -> None:
    planned(ledger, 2)
    first = ledger.claim_collect("slow", now=day(1).end)
    second = ledger.claim_collect("fast", now=day(1).end)
    assert first is not None
    assert second is not None
    ledger.commit_collect(second, counted(second))

    assert ledger.claim_evaluate("me") is None

    ledger.commit_collect(first, counted(first))
    assert days_of([ledger.claim_evaluate("me") for _ in range(3)]) == [0, 1, -1]


def test_a_pane_does_not_wait_for_what_earlier_windows_learn_later(ledger: Ledger) -> None:
    planned(ledger, 2)
    collected(ledger, now=day(0).end)
    evaluated(ledger)
    collected(ledger, now=day(1).end)  # the second day at once; the first day's next is due later

    claim = ledger.claim_evaluate("me")
    assert days_of([claim]) == [1]


def test_only_panes_that_need_not_wait_are_claimed(ledger: Ledger) -> None:
    planned(ledger, 2)
    collected(ledger, now=day(0).end)
    evaluated(ledger)
    hold = ledger.claim_collect("slow", now=LONG_AFTER)
    assert hold is not None
    second = ledger.claim_collect("fast", now=LONG_AFTER)
    assert second is not None
    ledger.commit_collect(second, counted(second))

    # As of the end of the second day, the first day's pane of that moment was the first one.
    claim = ledger.claim_evaluate("me")
    assert claim is not None
    assert [one.pane.number for one in claim.panes] == [0]


def test_windows_of_other_monitors_are_not_waited_for(ledger: Ledger) -> None:
    planned(ledger, 3, monitor="other")
    for _ in range(3):
        ledger.claim_collect("slow", now=LONG_AFTER)
    ledger.register_monitor(MONITOR, CONFIGURATION, meaning={})
    ledger.plan(MONITOR, CONFIGURATION, panes_of(day(1)))
    collected(ledger)

    assert days_of([ledger.claim_evaluate("me")]) == [1]


def test_one_broken_window_does_not_stop_the_others(ledger: Ledger) -> None:
    planned(ledger, 2)
    for attempt in range(3):
        run_out(ledger)
        broken = ledger.claim_collect("me", now=LONG_AFTER)
        assert broken is not None
        assert broken.attempts == attempt
        ledger.release(broken, error="the warehouse is gone")
        if attempt == 0:
            collected(ledger)
            assert ledger.claim_evaluate("me") is None

    assert days_of([ledger.claim_evaluate("me")]) == [1]
    run_out(ledger)
    assert days_of([ledger.claim_collect("me", now=LONG_AFTER)]) == [0]


def test_it_is_told_which_windows_wait_for_one_that_fails(ledger: Ledger) -> None:
    planned(ledger, 4)
    planned(ledger, 2, monitor="other")
    assert ledger.hold_ups() == ()
    broken = ledger.claim_collect("me", now=LONG_AFTER, monitors={MONITOR: CONFIGURATION})
    assert broken is not None
    ledger.release(broken, error="the warehouse is gone")
    assert ledger.hold_ups() == (), "nothing is collected that could wait"
    for waiting in ({key(1)}, {key(1), key(2)}):
        claim = ledger.claim_collect("me", now=LONG_AFTER, monitors={MONITOR: CONFIGURATION})
        assert claim is not None
        ledger.commit_collect(claim, counted(claim))
        (found,) = ledger.hold_ups()
        assert found.waiting == waiting

    assert (found.monitor, found.window, found.error) == (MONITOR, day(0), "the warehouse is gone")
    assert found.attempts_left == 2
    assert ledger.hold_ups("other") == ()


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
    assert ledger.windows()[0].last_error == "first died, or did not finish within its lease"


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


def test_waits_double_from_failure_to_failure(ledger: Ledger) -> None:
    planned(ledger, 1)
    waits = []
    for attempt in range(9):
        run_out(ledger)
        claim = ledger.claim_collect("me", now=LONG_AFTER)
        assert claim is not None
        with ledger.database.reading() as connection:
            before = ledger.database.now(connection)
        ledger.release(claim, error=f"failure {attempt}")
        (window,) = ledger.windows()
        assert window.not_before is not None
        assert (window.attempts, window.last_error) == (attempt + 1, f"failure {attempt}")
        assert ledger.claim_collect("me", now=LONG_AFTER) is None
        waits.append(round((window.not_before - before).total_seconds(), -1))

    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert all(before <= after for before, after in pairwise(waits))


def test_success_ends_what_failures_began(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.release(claim, error="no", retry_after=timedelta())
    collected(ledger)

    (window,) = ledger.windows()
    assert (window.attempts, window.last_error, window.not_before) == (0, None, None)


def test_giving_back_without_an_error_is_no_failure(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None

    ledger.release(claim)

    again = ledger.claim_collect("me", now=LONG_AFTER)
    assert again is not None
    assert (again.attempts, again.fence) == (0, 2)


def test_secrets_in_errors_are_hidden_and_errors_are_not_endless(
    open_ledger: Callable[..., Ledger],
) -> None:
    ledger = open_ledger(mask=lambda text: text.replace("hunter2", "****"))
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.release(claim, error="no user with password hunter2" + "!" * 5000)

    (window,) = ledger.windows()
    assert window.last_error is not None
    assert window.last_error.startswith("no user with password ****!!!")
    assert len(window.last_error) == 2000


def test_passwords_in_addresses_are_hidden_by_default(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.release(claim, error="no answer from postgresql://me:hunter2@host/db")

    assert ledger.windows()[0].last_error == "no answer from postgresql://***@host/db"


@pytest.mark.parametrize("first", [timedelta(microseconds=1), timedelta(hours=1)])
def test_the_longest_wait_is_reached_from_any_first_one(first: timedelta) -> None:
    rules = WorkRules(first_wait=first, longest_wait=timedelta(hours=1))
    assert rules.wait(1) == first
    assert rules.wait(1000) == timedelta(hours=1)


@pytest.mark.parametrize(
    "rules",
    [
        {"lease": timedelta()},
        {"attempts_allowed": 0},
        {"first_wait": timedelta(hours=2)},
        {"first_wait": timedelta()},
    ],
)
def test_rules_that_make_no_sense_are_refused(rules: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r">=? 1|<="):
        WorkRules(**rules)  # type: ignore[arg-type]


def test_keys_of_windows_are_those_of_the_ledger(ledger: Ledger) -> None:
    planned(ledger, 2)

    assert [window.window_key for window in ledger.windows()] == [key(0), key(1)]


def test_failures_of_tables_do_not_add_up_and_nobody_waits_after_them(ledger: Ledger) -> None:
    planned(ledger, 2)
    for _ in range(5):
        claim = ledger.claim_collect("worker", now=LONG_AFTER)
        assert claim is not None
        assert claim.window == day(0)
        ledger.release(claim, error="the warehouse is down", fault_of="tables")
    record = ledger.windows(MONITOR)[0]
    assert (record.attempts, record.last_error) == (1, "the warehouse is down")

    # One of its own counts as ever, and then those of the tables take nothing from it.
    for fault_of in ("window", "tables"):
        claim = ledger.claim_collect("worker", now=LONG_AFTER)
        assert claim is not None
        ledger.release(claim, error="a bad row", fault_of=fault_of, retry_after=timedelta())
    assert ledger.windows(MONITOR)[0].attempts == 2
