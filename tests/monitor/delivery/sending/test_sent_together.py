"""A destination that takes several messages of a lane at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage
from tests.monitor.delivery.sending.deliveries import (
    HOUR,
    PATIENCE,
    Clock,
    Recorder,
    deliver,
    down,
    fill,
)
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory


class TakesThree(Recorder):
    """Takes up to three messages at once, all or none of them."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[list[int]] = []
        self.settled = 0
        self.react_to_settling: Callable[[], None] = lambda: None

    @contextmanager
    def in_a_row(self) -> Iterator[None]:
        yield

    def together(self, messages: Sequence[OutboxMessage]) -> int:
        return min(len(messages), 3)

    def send(self, message: OutboxMessage) -> None:
        self.requests.append([message.payload["number"]])
        super().send(message)

    def settle(self) -> None:
        self.settled += 1
        self.react_to_settling()

    def send_together(self, messages: Sequence[OutboxMessage]) -> None:
        numbers = [message.payload["number"] for message in messages]
        self.requests.append(numbers)
        for number in numbers:
            self.react(number)
        self.got += numbers


@pytest.fixture
def sink() -> TakesThree:
    return TakesThree()


def test_messages_of_a_lane_that_follow_one_another_are_one_request(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: TakesThree
) -> None:
    fill(outbox, "aaaabbab")
    assert deliver(deliverer) == Delivery(delivered=8, stopped="nothing due")
    assert sink.requests == [[0, 1, 2], [3], [4, 5], [6], [7]]
    assert sink.settled == 1, "once for all that was claimed"
    assert outbox.states() == ["delivered"] * 8


def test_what_does_not_stay_is_sent_again(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: TakesThree, clock: Clock
) -> None:
    sink.react_to_settling = lambda: down(0)
    fill(outbox, "aaab")
    assert deliver(deliverer).failed == 2, "once for each lane"
    assert outbox.states() == ["waiting"] * 4
    clock.forward(HOUR)
    sink.react_to_settling = lambda: None
    assert deliver(deliverer).delivered == 4
    assert sink.got[-4:] == [0, 1, 2, 3]


def test_of_several_one_of_which_is_at_fault_that_one_alone_is_refused(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: TakesThree, clock: Clock
) -> None:
    def refuse(number: int) -> None:
        if number == 1:
            msg = "no such metric"
            raise MessageRefusedError(msg)

    sink.react = refuse
    fill(outbox, "aaa")
    assert deliver(deliverer) == Delivery(failed=1, delivered=1, reason="no such metric")
    assert sink.requests == [[0, 1, 2], [0], [1, 2], [1]], "in ever smaller parts"
    assert outbox.states() == ["delivered", "waiting", "waiting"], "its lane waits for it"
    assert [row.message.refusals for row in outbox.rows.values()] == [0, 1, 0]
    clock.forward(HOUR)
    sink.react = lambda number: None
    deliver(deliverer)
    assert sink.requests[4:] == [[1, 2]]
    assert sink.got == [0, 1, 2]


def test_where_the_destination_is_down_it_is_asked_once_and_one_failure_is_noted(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: TakesThree, clock: Clock
) -> None:
    sink.react = down
    fill(outbox, "aaa")
    assert deliver(deliverer) == Delivery(failed=1, reason="nobody there")
    assert sink.requests == [[0, 1, 2]]
    assert [row.message.attempts for row in outbox.rows.values()] == [1, 0, 0]
    clock.forward(PATIENCE.first_wait)
    sink.react = lambda number: None
    deliver(deliverer)
    assert sink.got == [0, 1, 2]


def test_what_goes_wrong_before_anything_is_sent_keeps_no_claim(
    deliverer: Deliverer,
    outbox: OutboxInMemory,
    sink: TakesThree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(messages: Sequence[OutboxMessage]) -> int:
        raise ZeroDivisionError

    fill(outbox, "aab")
    with monkeypatch.context() as patched:
        patched.setattr(sink, "together", fails)
        assert deliver(deliverer).stopped == "failed"
    assert deliver(deliverer).delivered == 3, "at once: no lease is waited for"


def test_killed_while_several_are_sent_all_are_sent_again_when_the_claim_has_run_out(
    deliverer: Deliverer, outbox: OutboxInMemory, sink: TakesThree, clock: Clock
) -> None:
    def killed(number: int) -> None:
        raise KeyboardInterrupt

    sink.react = killed
    fill(outbox, "aaa")
    with pytest.raises(KeyboardInterrupt):
        deliver(deliverer)
    sink.react = lambda number: None
    assert deliver(deliverer).delivered == 0
    clock.forward(PATIENCE.lease)
    assert deliver(deliverer).delivered == 3
    assert sink.got == [0, 1, 2]
