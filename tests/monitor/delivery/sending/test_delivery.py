"""Delivery in turn and within its time; destinations here only keep what they got."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from threading import Event

import pytest

from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery
from pumonitor.monitor.delivery.sending.sending_thread import SendingThread
from tests.monitor.delivery.sending.deliveries import (
    HOUR,
    PATIENCE,
    PATIENT_SECONDS,
    Clock,
    Recorder,
    deliver,
    down,
    fill,
)
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory


def test_all_is_delivered_in_order(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder
) -> None:
    fill(outbox, "abacbbacaab")
    assert deliver(deliverer) == Delivery(delivered=11, stopped="nothing due")
    assert sink.got == list(range(11))
    assert deliver(deliverer).delivered == 0


def test_a_message_is_marked_only_after_it_was_sent(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "ab")

    def killed(number: int) -> None:
        raise KeyboardInterrupt

    sink.react = killed
    with pytest.raises(KeyboardInterrupt):
        deliver(deliverer)
    assert outbox.states() == ["waiting", "waiting"]
    sink.react = lambda number: None
    deliver(deliverer)
    assert sink.got == [1], "the claim of the other has not run out"
    clock.forward(PATIENCE.lease)
    deliver(deliverer)
    assert sink.got == [1, 0]
    assert outbox.states() == ["delivered", "delivered"]


def test_told_to_stop_it_ends_after_the_message_that_is_being_sent(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder
) -> None:
    fill(outbox, "aab")
    sink.react = lambda number: deliverer.stop()
    assert deliver(deliverer) == Delivery(delivered=1, stopped="told to stop")
    assert deliver(deliverer) == Delivery(delivered=0, stopped="told to stop")
    # Others may send the rest at once.
    assert [one.payload["number"] for one in outbox.claim("mlflow", limit=9, lease=HOUR)] == [1, 2]


def test_nothing_of_a_lane_overtakes_a_message_that_fails(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "aabbab")
    sink.react = lambda number: down(number) if number == 1 else None
    assert deliver(deliverer).reason == "nobody there"
    assert sink.got == [0, 2, 3, 5]
    sink.react = lambda number: None
    deliver(deliverer)
    assert sink.got == [0, 2, 3, 5], "it is not due yet"
    clock.forward(PATIENCE.first_wait)
    deliver(deliverer)
    assert sink.got == [0, 2, 3, 5, 1, 4]


def test_a_round_ends_when_its_time_is_over(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "aaaaaaa")
    sink.react = lambda number: clock.forward(timedelta(seconds=10))
    assert deliver(deliverer, timedelta(seconds=25)) == Delivery(delivered=3, stopped="out of time")
    assert deliver(deliverer).delivered == 4, "what was claimed and not sent went back"


def test_a_destination_s_own_budget_holds_where_delivery_has_begun_before(
    deliverer: Deliverer,
    outbox: OutboxInMemory,
    sink: Recorder,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, told = Event(), Event()

    def end(thread: SendingThread, budgets: Mapping[str, timedelta]) -> None:
        end_thread(thread, budgets)
        told.set()

    def slow(number: int) -> None:
        asked.set()
        assert told.wait(PATIENT_SECONDS)
        clock.forward(timedelta(seconds=10))

    end_thread = SendingThread.end
    monkeypatch.setattr(SendingThread, "end", end)
    fill(outbox, "aaaaaaa")
    sink.react = slow
    deliverer.start()
    assert asked.wait(PATIENT_SECONDS)
    found = deliverer.deliver(budget=HOUR, budgets={"mlflow": timedelta(seconds=25)})["mlflow"]
    assert (found.delivered, found.stopped) == (4, "out of time"), "the one being sent, then three"


def test_nothing_is_sent_in_the_second_half_of_a_lease(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "aaaa")
    claims = []

    def slow(number: int) -> None:
        claims.append(outbox.rows[number + 1].message.claim)
        clock.forward(timedelta(minutes=2))

    sink.react = slow
    assert deliver(deliverer).delivered == 4
    assert claims == ["1", "2", "5", "6"], "two of a claim of six minutes, then a claim anew"


def test_a_destination_that_fails_keeps_no_other(outbox: OutboxInMemory, clock: Clock) -> None:
    broken, other = Recorder(), Recorder()
    broken.react = down
    deliverer = Deliverer(
        outbox, {"mlflow": broken, "hook": other}, clock=clock, patience=PATIENCE, seed=5
    )
    fill(outbox, "aabb")
    fill(outbox, "aabb", destination="hook")
    found = deliverer.deliver(budget=HOUR)
    assert found["mlflow"].stopped == "left alone"
    assert found["hook"] == Delivery(delivered=4)


def test_a_worker_whose_lease_ran_out_changes_nothing(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "a")

    def stalls(number: int) -> None:
        clock.forward(PATIENCE.lease)
        outbox.claim("mlflow", limit=1, lease=PATIENCE.lease)

    sink.react = stalls
    deliver(deliverer)
    assert outbox.states() == ["waiting"], "the other worker's now"
