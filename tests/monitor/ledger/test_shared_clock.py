"""The clock that decides what is due: the database's, and never one that jumped back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from sqlalchemy import select

from pumonitor.monitor.ledger import shared_clock
from pumonitor.monitor.ledger.database.schema import panes
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.shared_clock import ClockError, SharedClock
from tests.monitor.ledger.monitored_days import collected, day, planned

HOURS = timedelta(hours=5)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST = datetime(2000, 1, 1, tzinfo=UTC)
LAST = day(1).end + timedelta(minutes=1)


@pytest.fixture
def clock(ledger: Ledger) -> Callable[[timedelta], SharedClock]:
    """The clock of a machine that is off by some time, and right otherwise."""

    def off_by(time: timedelta) -> SharedClock:
        return SharedClock(ledger.database, own=lambda: datetime.now(UTC) + time)

    return off_by


@pytest.fixture(autouse=True)
def boot(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Seconds since the machine's boot; another boot at each look unless it is set."""
    boots = count()
    found: dict[str, float] = {}

    def since_boot() -> tuple[str, float]:
        return ("this", found["seconds"]) if found else (f"boot-{next(boots)}", 0.0)

    monkeypatch.setattr(shared_clock, "since_boot", since_boot)
    return found


def test_a_clock_that_was_ahead_is_seen_also_after_it_was_caught_up_with(
    ledger: Ledger, boot: dict[str, float]
) -> None:
    if not ledger.database.is_sqlite:
        pytest.skip("with PostgreSQL nothing is collected early")
    planned(ledger, 2)
    true = day(1).end - timedelta(hours=1)
    boot["seconds"] = 1_000.0
    assert at(ledger, true - HOURS).check() == ""
    boot["seconds"] += HOURS.total_seconds()
    ahead = at(ledger, true + HOURS)
    assert "was set forward by 5 hours" in ahead.check()
    for _ in range(2):
        collected(ledger, now=ahead())
    boot["seconds"] += 7 * 3600
    later = at(ledger, true + timedelta(hours=7))
    assert "set back by 5 hours since" in (note := later.check())
    assert "1 evaluations that were made too early are made again" in note
    again = ledger.claim_collect("worker", now=later())
    assert again is not None
    assert [one.pane.as_of for one in again.panes] == [day(1).end]
    assert later.check() == ""


def at(ledger: Ledger, moment: datetime) -> SharedClock:
    """The clock of a machine with SQLite, which knows no other."""
    return SharedClock(ledger.database, own=lambda: moment)


@pytest.mark.parametrize("off", [HOURS, -HOURS])
def test_with_postgresql_another_clock_is_refused_and_nobody_goes_by_it(
    ledger: Ledger, clock: Callable[[timedelta], SharedClock], off: timedelta
) -> None:
    if ledger.database.is_sqlite:
        pytest.skip("its clock is the machine's")
    wrong = clock(off)
    assert abs(wrong() - datetime.now(UTC)) < timedelta(minutes=1)
    how = "5 hours ahead of" if off > timedelta() else "5 hours behind"
    with pytest.raises(ClockError, match=f"this machine is {how} that of the state database"):
        wrong.check()
    clock(timedelta(seconds=30)).check()


def test_a_clock_that_jumps_back_is_refused_until_it_is_accepted(
    ledger: Ledger, clock: Callable[[timedelta], SharedClock]
) -> None:
    ahead = at(ledger, NOON + HOURS) if ledger.database.is_sqlite else clock(timedelta())
    ahead.check()
    if ledger.database.is_sqlite:
        now = at(ledger, NOON)
    else:
        # The server's clock was ahead.
        ahead._note(datetime.now(UTC) + HOURS, only_later=True)
        now = clock(timedelta())
    with pytest.raises(ClockError, match=r"5 hours behind the latest moment.*--accept-clock"):
        now.check()
    assert now.problem() is not None
    assert now.accept(by="ana") == 0
    now.check()
    (entry,) = ledger.audit(actions=["accept clock"])
    assert entry.actor == "ana"


def test_a_minute_back_is_nothing(ledger: Ledger) -> None:
    if not ledger.database.is_sqlite:
        pytest.skip("its clock cannot be set here")
    at(ledger, NOON).check()
    at(ledger, NOON - timedelta(seconds=59)).check()
    assert at(ledger, NOON - timedelta(seconds=61)).problem() is not None


def test_what_was_collected_too_early_is_due_again_in_its_time(ledger: Ledger) -> None:
    if not ledger.database.is_sqlite:
        pytest.skip("with PostgreSQL nothing is collected early")
    planned(ledger, 2)
    right = day(0).end + timedelta(minutes=1)
    ahead = at(ledger, day(1).end + timedelta(minutes=1))
    ahead.check()
    for _ in range(2):
        collected(ledger, now=ahead())
    assert status(ledger) == {True}
    with pytest.raises(ClockError):
        at(ledger, right).check()
    assert status(ledger, until=right) == {True}
    assert status(ledger, since=right) == {False}
    at(ledger, right).accept(by="ana")
    assert ledger.claim_collect("worker", now=right) is None
    again = ledger.claim_collect("worker", now=ahead())
    assert again is not None
    assert {one.pane.as_of > right for one in again.panes} == {True}


def status(
    ledger: Ledger,
    *,
    since: datetime = FIRST,
    until: datetime = LAST,
) -> set[bool]:
    """Whether panes of some time are collected."""
    query = select(panes.c.status).where(panes.c.as_of > since, panes.c.as_of <= until)
    with ledger.database.reading() as connection:
        return {one != "planned" for one in connection.scalars(query)}
