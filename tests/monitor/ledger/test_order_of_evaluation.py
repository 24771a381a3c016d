"""Panes wait for what earlier windows knew at their moment, and for nothing else."""

from __future__ import annotations

from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.monitored_days import (
    CONFIGURATION,
    LONG_AFTER,
    MONITOR,
    collected,
    counted,
    day,
    days_of,
    evaluated,
    key,
    panes_of,
    planned,
    run_out,
)


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
