"""Leases of processes that died, of others that may live, and of this one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
from sqlalchemy import select, update

from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.ledger.claims import renewal
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.database.schema import outbox, windows
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.outbox import StoredOutbox
from tests.monitor.ledger.monitored_days import LONG_AFTER, MONITOR, message, planned

HOUR = timedelta(hours=1)
PATIENT_SECONDS = 20.0


def the_dead() -> str:
    """A process that had the number of this one before it."""
    me = this_process()
    return str(replace(me, began=me.began - 1))


ELSEWHERE = "web-2/17/4711/another machine"


def put(ledger: Ledger, *keys: str) -> None:
    with ledger.database.writing() as connection:
        enqueue(
            connection,
            ledger.database,
            [message(key, lane=key) for key in keys],
            at=ledger.database.now(connection),
        )


def claimed_by(ledger: Ledger, owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All messages, as another process would."""
    with monkeypatch.context() as patch:
        patch.setattr("pumonitor.monitor.ledger.outbox.this_process", lambda: owner)
        assert ledger.outbox.claim("mlflow", limit=9, lease=HOUR)


def test_a_window_of_a_dead_worker_is_taken_over_at_once(ledger: Ledger) -> None:
    planned(ledger, 1)
    before = ledger.claim_collect(the_dead(), now=LONG_AFTER)
    after = ledger.claim_collect("another", now=LONG_AFTER)
    assert before is not None
    assert after is not None
    assert (after.window_key, after.fence, after.attempts) == (before.window_key, 2, 1)
    (window,) = ledger.windows(MONITOR)
    assert window.last_error == (
        f"{this_process().shown} died or did not finish before its lease ran out"
    )


def test_a_window_of_a_dead_worker_that_another_is_just_freeing_is_passed_by(
    postgres_address: str,
) -> None:
    with Ledger.open(postgres_address) as one, Ledger.open(postgres_address) as other:
        planned(one, 1)
        assert one.claim_collect(the_dead(), now=LONG_AFTER) is not None
        with one.database.writing() as connection:
            connection.execute(select(windows).with_for_update())
            assert other.claim_collect("other", now=LONG_AFTER) is None
        assert other.claim_collect("other", now=LONG_AFTER) is not None


@pytest.mark.parametrize(
    "owner", [ELSEWHERE, str(this_process()), "somebody"], ids=["elsewhere", "this", "unknown"]
)
def test_a_window_of_a_worker_that_may_live_is_waited_for(ledger: Ledger, owner: str) -> None:
    planned(ledger, 1)
    assert ledger.claim_collect(owner, now=LONG_AFTER) is not None
    assert ledger.claim_collect("another", now=LONG_AFTER) is None


def test_it_is_told_who_works_on_windows_until_when(ledger: Ledger) -> None:
    planned(ledger, 3)
    claims = [
        ledger.claim_collect(owner, now=LONG_AFTER)
        for owner in (ELSEWHERE, str(this_process()), the_dead())
    ]
    others, mine = sorted(ledger.holders(), key=lambda one: one.lives_here)
    assert (others.name, others.held, others.lives_here) == ("web-2, process 17", 1, False)
    assert claims[0] is not None
    assert others.until == claims[0].lease_until
    assert (mine.name, mine.held, mine.lives_here) == (this_process().shown, 1, True)
    assert ledger.holders("another monitor") == ()


def test_messages_of_a_dead_sender_are_sent_by_others_at_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ledger, "a", "b")
    claimed_by(ledger, the_dead(), monkeypatch)
    assert ledger.outbox.waiting()["mlflow"].holders == ()
    assert [one.key for one in ledger.outbox.claim("mlflow", limit=9, lease=HOUR)] == ["a", "b"]


def test_messages_of_a_sender_elsewhere_are_waited_for_and_it_is_told_until_when(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ledger, "a", "b")
    claimed_by(ledger, ELSEWHERE, monkeypatch)
    assert ledger.outbox.claim("mlflow", limit=9, lease=HOUR) == ()
    waiting = ledger.outbox.waiting()["mlflow"]
    (holder,) = waiting.holders
    assert (holder.name, holder.held, waiting.messages) == ("web-2, process 17", 2, 2)


def test_a_sender_takes_back_what_it_could_not_give_back(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ledger, "a", "b")
    messages = ledger.outbox.claim("mlflow", limit=9, lease=HOUR)

    def away(*_: object) -> None:
        msg = "the state database is away"
        raise StateError(msg)

    def try_to_give_back() -> None:
        with ledger.outbox.keeping(messages, lease=HOUR):
            ledger.outbox.release(messages)

    with monkeypatch.context() as patch:
        patch.setattr(StoredOutbox, "_change", away)
        with pytest.raises(StateError, match="away"):
            try_to_give_back()
    assert [one.key for one in ledger.outbox.claim("mlflow", limit=9, lease=HOUR)] == ["a", "b"]
    assert ledger.outbox.claim("mlflow", limit=9, lease=HOUR) == (), "now it keeps them"


def test_a_lease_is_renewed_three_times_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    renewals: list[int] = []

    class Ended(Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            return len(waits) > 3

    monkeypatch.setattr(renewal, "Event", Ended)
    with renewal.renewed(lambda: renewals.append(1), lease=timedelta(minutes=2)):
        pass
    assert waits == [40.0] * 4
    assert len(renewals) == 3


def test_a_claim_is_renewed_while_messages_are_sent(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ledger, "a")
    lease = timedelta(seconds=0.9)
    renewed = Event()
    renew = StoredOutbox._renew

    def watched(self: StoredOutbox, messages: list[OutboxMessage], lease: timedelta) -> None:
        with self._database.writing() as connection:
            # As if it were about to run out.
            at = self._database.now(connection)
            connection.execute(update(outbox).values(claimed_until=at + timedelta(seconds=0.3)))
        renew(self, messages, lease)
        renewed.set()

    monkeypatch.setattr(StoredOutbox, "_renew", watched)
    messages = ledger.outbox.claim("mlflow", limit=9, lease=lease)
    with ledger.outbox.keeping(messages, lease=lease) as is_held:
        assert is_held()
        assert renewed.wait(PATIENT_SECONDS)
        (holder,) = ledger.outbox.waiting()["mlflow"].holders
        with ledger.database.reading() as connection:
            left = holder.until - ledger.database.now(connection)
        assert left > timedelta(seconds=0.3)
        ledger.outbox.delivered(messages[0])
    assert ledger.outbox.waiting() == {}
