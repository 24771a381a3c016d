"""Waits after failures, destinations that are left alone, and messages that are set aside."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pumonitor.monitor.delivery.sending.circuit_breaker import CircuitBreaker
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery, Patience
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from tests.monitor.delivery.sending.deliveries import (
    HOUR,
    NOON,
    PATIENCE,
    Clock,
    Recorder,
    deliver,
    down,
    fill,
)
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory


def test_waits_double_up_to_a_limit_and_differ_by_chance(
    outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    def waits(seed: int) -> list[float]:
        deliverer = Deliverer(outbox, {"mlflow": sink}, clock=clock, patience=PATIENCE, seed=seed)
        number = outbox.add({"number": 0}, lane=f"lane {seed}")
        found = []
        for _ in range(8):
            deliver(deliverer)
            found.append((outbox.rows[number].due - clock.now).total_seconds())
            clock.forward(HOUR)
        outbox.rows[number].state = "delivered"
        return found

    sink.react = down
    first = waits(1)
    longest = [40.0, 80.0, 160.0, 320.0, 600.0, 600.0, 600.0, 600.0]
    for wait, most in zip(first, longest, strict=True):
        assert most / 2 < wait <= most
    assert waits(1) == first
    assert waits(2) != first


def test_a_destination_may_ask_for_a_longer_wait(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    def busy(number: int) -> None:
        msg = "later"
        raise DestinationDownError(msg, retry_after=timedelta(hours=2))

    fill(outbox, "a")
    sink.react = busy
    deliver(deliverer)
    assert outbox.rows[1].due == NOON + timedelta(hours=2)


def test_a_destination_that_is_down_is_left_alone_then_probed(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "abcdefgh")
    sink.react = down
    assert deliver(deliverer) == Delivery(failed=2, stopped="left alone", reason="nobody there")
    assert sink.asked == [0, 1]
    assert deliver(deliverer).stopped == "left alone"
    assert sink.asked == [0, 1], "nobody asks while the circuit is open"

    clock.forward(timedelta(seconds=40))
    sink.asked.clear()
    deliver(deliverer)
    assert len(sink.asked) == 1, "one probe"
    clock.forward(timedelta(seconds=40))
    assert deliver(deliverer).stopped == "left alone", "a probe that failed doubles the wait"

    clock.forward(timedelta(seconds=40))
    sink.react = lambda number: None
    assert deliver(deliverer).stopped == "nothing due"
    clock.forward(HOUR)
    deliver(deliverer)
    assert sorted(sink.got) == list(range(8))


def test_outages_set_nothing_aside(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    fill(outbox, "aab")
    sink.react = down
    for _ in range(50):
        deliver(deliverer)
        clock.forward(HOUR)

    def refuse(number: int) -> None:
        msg = "no"
        raise MessageRefusedError(msg)

    sink.react = refuse
    deliver(deliverer)
    assert outbox.states() == ["waiting"] * 3, "a first refusal after many outages"
    clock.forward(HOUR)
    sink.react = lambda number: None
    deliver(deliverer)
    assert outbox.states() == ["delivered"] * 3


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MessageRefusedError("no such metric"), "no such metric"),
        (ZeroDivisionError("https://me:secret@host"), "ZeroDivisionError: https://***@host"),
    ],
)
def test_a_message_at_fault_is_set_aside_with_the_reason_and_its_lane_goes_on(
    error: Exception,
    reason: str,
    deliverer: Deliverer,
    outbox: OutboxInMemory,
    sink: Recorder,
    clock: Clock,
) -> None:
    def refuse(number: int) -> None:
        if number == 1:
            raise error

    fill(outbox, "aaab")
    sink.react = refuse
    for expected in ([0, 3], [0, 3], [0, 3, 2]):
        found = deliver(deliverer)
        assert sink.got == expected
        assert found.reason == reason
        clock.forward(HOUR)
    assert found.set_aside == 1
    assert outbox.states() == ["delivered", "set aside", "delivered", "delivered"]
    assert outbox.rows[2].reason == reason
    assert sink.asked.count(1) == 3


def test_a_refusal_is_an_answer_and_keeps_the_circuit_closed(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: Recorder
) -> None:
    def odd(number: int) -> None:
        if number % 2:
            msg = "odd"
            raise MessageRefusedError(msg)
        down(number)

    fill(outbox, "abcdef")
    sink.react = odd
    assert deliver(deliverer).failed == 6


def test_a_circuit_counts_failures_in_a_row() -> None:
    breaker = CircuitBreaker(failures_to_open=2, first_wait=HOUR, longest_wait=3 * HOUR)
    breaker.failed(NOON)
    breaker.succeeded()
    breaker.failed(NOON)
    assert breaker.allowed(NOON, most=7) == 7
    for wait in (1, 2, 3, 3):
        breaker.failed(NOON)
        assert breaker.allowed(NOON + wait * HOUR - timedelta(seconds=1), most=7) == 0
        assert breaker.allowed(NOON + wait * HOUR, most=7) == 1
    breaker.succeeded()
    assert breaker.allowed(NOON, most=7) == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"first_wait": timedelta()},
        {"first_wait": 2 * HOUR, "longest_wait": HOUR},
        {"refusals": 0},
        {"batch": 0},
        {"lease": timedelta()},
    ],
)
def test_impatience_is_refused(wrong: dict[str, timedelta | int]) -> None:
    with pytest.raises(ValueError, match="must"):
        Patience(**wrong)  # type: ignore[arg-type]
