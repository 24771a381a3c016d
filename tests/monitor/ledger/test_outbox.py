"""The outbox: order within lanes, claims that run out, failures, what is set aside."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from pumonitor.monitor.delivery_ports import Outbox, OutboxMessage
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import outbox as outbox_table
from pumonitor.monitor.ledger.database.schema import sent_keys
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.outbox import StoredOutbox
from tests.monitor.ledger.monitored_days import message, run_out

LEASE = timedelta(minutes=10)


def add(ledger: Ledger, lanes: str, *, destination: str = "mlflow", first: int = 1) -> None:
    """One message per letter, in a lane of that name, numbered."""
    with ledger.database.writing() as connection:
        enqueue(
            connection,
            ledger.database,
            [
                message(f"{lane}{number}", lane=lane, destination=destination)
                for number, lane in enumerate(lanes, start=first)
            ],
            at=ledger.database.now(connection),
        )


def claim(ledger: Ledger, *, limit: int = 100, destination: str = "mlflow") -> list[OutboxMessage]:
    return list(ledger.outbox.claim(destination, limit=limit, lease=LEASE))


def keys(messages: list[OutboxMessage]) -> list[str]:
    return [one.key for one in messages]


def test_it_keeps_the_rules_of_the_port(ledger: Ledger) -> None:
    as_port: Outbox = ledger.outbox

    assert isinstance(as_port, StoredOutbox)


def test_messages_come_in_order_and_once(ledger: Ledger) -> None:
    add(ledger, "abab")
    add(ledger, "c", destination="chat")

    first = claim(ledger, limit=3)

    assert keys(first) == ["a1", "b2", "a3"]
    assert [one.payload for one in first[:1]] == [{"text": "a1", "number": 1.5}]
    assert (first[0].destination, first[0].lane, first[0].attempts) == ("mlflow", "a", 0)
    assert keys(claim(ledger)) == []  # b4 must not overtake b2
    assert keys(claim(ledger, destination="chat")) == ["c1"]


def test_a_delivered_message_is_not_sent_again(ledger: Ledger) -> None:
    add(ledger, "aa")
    (first,) = claim(ledger, limit=1)

    ledger.outbox.delivered(first)
    run_out(ledger)

    assert keys(claim(ledger)) == ["a2"]


def test_a_claim_alone_delivers_nothing(ledger: Ledger) -> None:
    add(ledger, "a")
    claim(ledger)  # and its worker dies
    assert ledger.outbox.waiting()["mlflow"].messages == 1

    run_out(ledger)

    assert keys(claim(ledger)) == ["a1"]


def test_a_claim_runs_out_by_the_database_s_clock(ledger: Ledger) -> None:
    add(ledger, "a")
    (slow,) = ledger.outbox.claim("mlflow", limit=1, lease=timedelta(milliseconds=50))
    fast: list[OutboxMessage] = []
    while not fast:  # as long as the database's clock takes
        fast = claim(ledger)

    ledger.outbox.failed(slow, reason="slow", retry_after=LEASE, refused=True)
    ledger.outbox.set_aside(slow, reason="slow")
    ledger.outbox.release([slow])
    ledger.outbox.delivered(slow)

    assert ledger.outbox.waiting()["mlflow"].messages == 1
    assert ledger.outbox.waiting()["mlflow"].last_error is None
    assert claim(ledger) == []
    ledger.outbox.delivered(fast[0])
    assert ledger.outbox.waiting() == {}


def test_a_claim_that_has_run_out_changes_nothing(ledger: Ledger) -> None:
    add(ledger, "a")
    (slow,) = claim(ledger)
    run_out(ledger)

    ledger.outbox.delivered(slow)

    assert keys(claim(ledger)) == ["a1"]


def test_at_the_moment_at_which_a_claim_runs_out_it_is_another_s(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(ledger, "ab")
    now = datetime(2026, 3, 1, tzinfo=UTC)
    monkeypatch.setattr(Database, "now", lambda *_: now)
    slow, other = claim(ledger)

    now += LEASE
    ledger.outbox.delivered(slow)
    assert keys(claim(ledger)) == ["a1", "b2"]
    ledger.outbox.release([slow, other])
    assert claim(ledger) == [], "what the former holder gives back is no longer its own"


def test_a_failure_holds_up_its_lane_only(ledger: Ledger) -> None:
    add(ledger, "abab")
    first, second, third, fourth = claim(ledger)
    ledger.outbox.failed(first, reason="no", retry_after=LEASE, refused=False)
    ledger.outbox.delivered(second)
    ledger.outbox.release([third, fourth])

    assert keys(claim(ledger)) == ["b4"]

    run_out(ledger)
    again = claim(ledger)
    assert keys(again) == ["a1", "a3", "b4"]
    assert [(one.attempts, one.refusals) for one in again] == [(1, 0), (0, 0), (0, 0)]


def test_what_is_set_aside_holds_up_nothing_and_can_be_taken_up(ledger: Ledger) -> None:
    add(ledger, "aa")
    first, second = claim(ledger)
    ledger.outbox.failed(first, reason="no", retry_after=LEASE, refused=True)
    ledger.outbox.release([second])
    run_out(ledger)
    (first, second) = claim(ledger)
    assert (first.attempts, first.refusals) == (1, 1)
    ledger.outbox.set_aside(first, reason="never")
    ledger.outbox.release([second])
    assert keys(claim(ledger)) == ["a2"]
    with ledger.database.reading() as connection:
        refused = select(outbox_table.c.refusals).where(outbox_table.c.key == "a1")
        assert connection.scalar(refused) == 2
    waiting = ledger.outbox.waiting()["mlflow"]
    assert (waiting.messages, waiting.set_aside) == (1, 1)

    assert ledger.outbox.take_up("chat") == 0
    assert ledger.outbox.take_up("mlflow") == 1
    run_out(ledger)
    again = claim(ledger)
    assert [(one.key, one.attempts, one.refusals) for one in again] == [("a1", 2, 0), ("a2", 0, 0)]


def test_the_error_that_is_told_is_of_the_oldest_that_waits_or_the_last_set_aside(
    ledger: Ledger,
) -> None:
    add(ledger, "abcd")
    first, second, third, fourth = claim(ledger)
    ledger.outbox.set_aside(first, reason="no such metric")
    ledger.outbox.set_aside(second, reason="no such run")
    assert ledger.outbox.waiting()["mlflow"].last_error == "no such run"
    ledger.outbox.failed(fourth, reason="no answer", retry_after=LEASE, refused=False)
    ledger.outbox.failed(third, reason="too busy", retry_after=LEASE, refused=False)
    assert ledger.outbox.waiting()["mlflow"].last_error == "too busy"


def test_what_is_given_back_is_as_it_was(ledger: Ledger) -> None:
    add(ledger, "aa")
    before = claim(ledger)
    ledger.outbox.release(before)
    ledger.outbox.release([])
    after = claim(ledger)

    assert keys(after) == keys(before)
    assert [one.attempts for one in after] == [0, 0]
    assert {one.claim for one in after}.isdisjoint({one.claim for one in before})


def test_ages_of_what_waits_by_destination(ledger: Ledger) -> None:
    add(ledger, "aab")
    add(ledger, "c", destination="chat")
    add(ledger, "d", destination="done")
    ledger.outbox.delivered(claim(ledger, destination="done")[0])
    with ledger.database.writing() as connection:
        now = ledger.database.now(connection)
        for key, age in (("a1", 90), ("b3", 500), ("c1", 7)):
            connection.execute(
                update(outbox_table)
                .where(outbox_table.c.key == key)
                .values(created=now - timedelta(seconds=age))
            )
    (first, *_) = claim(ledger)
    ledger.outbox.failed(first, reason="no answer", retry_after=LEASE, refused=False)

    waiting = ledger.outbox.waiting()

    assert {name: (one.messages, one.set_aside) for name, one in waiting.items()} == {
        "mlflow": (3, 0),
        "chat": (1, 0),
    }
    assert timedelta(seconds=500) <= waiting["mlflow"].oldest < timedelta(seconds=560)
    assert timedelta(seconds=7) <= waiting["chat"].oldest < timedelta(seconds=67)
    assert (waiting["mlflow"].last_error, waiting["chat"].last_error) == ("no answer", None)
    assert (waiting["mlflow"].failed, waiting["chat"].failed) == (1, 0)
    assert (waiting["mlflow"].next_try - now) >= LEASE
    assert waiting["chat"].next_try is None


def delivered_long_ago(ledger: Ledger, *, days: int = 31) -> None:
    """Deliver what can be claimed, so many days ago by the database's clock."""
    for one in claim(ledger):
        ledger.outbox.delivered(one)
    with ledger.database.writing() as connection:
        connection.execute(
            update(outbox_table)
            .where(outbox_table.c.delivered_at.is_not(None))
            .values(delivered_at=ledger.database.now(connection) - timedelta(days=days))
        )


def kept(ledger: Ledger) -> list[str]:
    with ledger.database.reading() as connection:
        return list(connection.scalars(select(outbox_table.c.key).order_by(outbox_table.c.id)))


MONTH = timedelta(days=30)


def test_what_was_delivered_long_ago_is_deleted_and_never_sent_again(ledger: Ledger) -> None:
    add(ledger, "abc")
    delivered_long_ago(ledger)
    add(ledger, "abcd")

    assert ledger.outbox.forget_delivered(older_than=MONTH) == 3
    assert kept(ledger) == ["d4"]
    add(ledger, "abcd")
    assert keys(claim(ledger)) == ["d4"]
    # Of another destination the same key is another message.
    add(ledger, "a", destination="chat")
    assert keys(claim(ledger, destination="chat")) == ["a1"]


def test_only_what_was_delivered_long_ago_is_deleted(ledger: Ledger) -> None:
    add(ledger, "ab")
    delivered_long_ago(ledger, days=29)
    add(ledger, "cde", first=3)
    (waiting, refused, *_) = claim(ledger)
    ledger.outbox.failed(waiting, reason="down", retry_after=timedelta(), refused=False)
    ledger.outbox.set_aside(refused, reason="no")

    assert ledger.outbox.forget_delivered(older_than=MONTH) == 0
    assert len(kept(ledger)) == 5


def test_what_is_still_asked_for_stays_and_batches_are_small(ledger: Ledger) -> None:
    add(ledger, "abcd")
    delivered_long_ago(ledger)

    found = [
        ledger.outbox.forget_delivered(older_than=MONTH, keep=["b2"], limit=2) for _ in range(3)
    ]

    assert found == [2, 1, 0]
    assert list(ledger.outbox.payloads("mlflow", ["a1", "b2"])) == ["b2"]
    with ledger.database.reading() as connection:
        hashes = list(connection.scalars(select(sent_keys.c.key_hash)))
    assert sorted(map(len, hashes)) == [32] * 3


def test_secrets_in_reasons_are_hidden(open_ledger: Callable[..., Ledger]) -> None:
    ledger = open_ledger(mask=lambda text: text.replace("hunter2", "****"))
    add(ledger, "ab")
    first, second = claim(ledger)
    ledger.outbox.failed(first, reason="by hunter2", retry_after=LEASE, refused=False)
    ledger.outbox.set_aside(second, reason="of hunter2")

    with ledger.database.reading() as connection:
        stored = connection.scalars(select(outbox_table.c.last_error)).all()
    assert sorted(stored) == ["by ****", "of ****"]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_two_deliverers_share_lanes_without_overtaking(
    open_ledger: Callable[..., Ledger], limit: int
) -> None:
    one, other = open_ledger(), open_ledger()
    add(one, "abcab")

    sent: list[str] = []
    rounds = 0
    while rounds < 20 and one.outbox.waiting():
        rounds += 1
        held = [(ledger, claim(ledger, limit=limit)) for ledger in (one, other)]
        lanes = [{found.lane for found in messages} for _, messages in held]
        assert not lanes[0] & lanes[1]
        for ledger, messages in reversed(held):
            for found in messages:
                sent.append(found.key)
                ledger.outbox.delivered(found)

    assert sorted(sent) == ["a1", "a4", "b2", "b5", "c3"]
    assert sent.index("a1") < sent.index("a4")
    assert sent.index("b2") < sent.index("b5")


def test_run_ids_are_remembered_and_replaced(ledger: Ledger) -> None:
    assert ledger.run_ids.get("card-fraud 7") is None
    ledger.run_ids.set("card-fraud 7", "one")
    ledger.run_ids.set("card-fraud 7", "two")
    ledger.run_ids.set("card-fraud 8", "three")

    assert ledger.run_ids.get("card-fraud 7") == "two"
    assert ledger.run_ids.get("card-fraud 8") == "three"
