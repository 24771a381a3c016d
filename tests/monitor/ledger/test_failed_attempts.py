"""Failed attempts: how long they wait, whose fault they are, and what their errors may say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest

from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.monitored_days import (
    LONG_AFTER,
    MONITOR,
    collected,
    day,
    planned,
    run_out,
)


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
