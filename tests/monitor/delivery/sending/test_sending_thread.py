"""Destinations are served by threads: none delays another, and all end when they are told to."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

import pytest

from pumonitor.errors import PumonitorError
from pumonitor.monitor.delivery.sending import sending_thread
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery
from pumonitor.monitor.delivery.sending.sender import Sender
from pumonitor.monitor.delivery.sending.sending_thread import SendingThread
from pumonitor.monitor.delivery_ports import OutboxMessage
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


class Held:
    """A destination that takes a message and says nothing until it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = Event(), Event()

    def send(self, message: OutboxMessage) -> None:
        self.asked.set()
        assert self.let_go.wait(PATIENT_SECONDS)


class Told:
    """A destination that says when it got so many."""

    def __init__(self, number: int) -> None:
        self.number, self.got, self.all = number, 0, Event()

    def send(self, message: OutboxMessage) -> None:
        self.got += 1
        if self.got == self.number:
            self.all.set()


def test_a_destination_that_hangs_delays_no_other(outbox: OutboxInMemory, clock: Clock) -> None:
    hangs, other = Held(), Told(4)
    deliverer = Deliverer(outbox, {"mlflow": hangs, "hook": other}, clock=clock)
    fill(outbox, "aabb")
    fill(outbox, "aabb", destination="hook")
    deliverer.start()
    assert hangs.asked.wait(PATIENT_SECONDS)
    assert other.all.wait(PATIENT_SECONDS), "it waits for one that hangs"
    hangs.let_go.set()
    found = deliverer.finish(budget=HOUR)
    assert (found["mlflow"].delivered, found["hook"].delivered) == (4, 4)


def test_what_is_put_there_later_is_sent_at_once_while_another_hangs(
    outbox: OutboxInMemory, clock: Clock
) -> None:
    hangs, other = Held(), Told(1)
    deliverer = Deliverer(outbox, {"mlflow": hangs, "hook": other}, clock=clock)
    fill(outbox, "a")
    deliverer.start()
    assert hangs.asked.wait(PATIENT_SECONDS)
    fill(outbox, "a", destination="hook")
    deliverer.wake()
    assert other.all.wait(PATIENT_SECONDS)
    hangs.let_go.set()
    deliverer.close()
    assert outbox.states() == ["delivered", "delivered"], "what was being sent is noted at the end"


def test_destinations_of_one_sink_take_turns_and_the_first_goes_first(
    outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    sinks = {"mlflow": sink, "mlflow-files": sink}
    deliverer = Deliverer(outbox, sinks, clock=clock, patience=PATIENCE)
    for number in range(3):
        outbox.add({"number": number}, lane="a", destination="mlflow-files")

    second = Event()

    def points_come_meanwhile(number: int) -> None:
        if sink.got:
            second.set()
        else:
            outbox.add({"number": 10}, lane="a")
            deliverer.wake()

    sink.react = points_come_meanwhile
    deliverer.start()
    deliverer.wake()
    assert second.wait(PATIENT_SECONDS)
    deliverer.finish(budget=HOUR)
    assert sink.got == [0, 10, 1, 2]


def test_what_goes_wrong_beside_sending_is_reported_and_delivery_goes_on(
    outbox: OutboxInMemory, sink: Recorder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    fill(outbox, "aa")

    class AwayError(PumonitorError):
        pass

    def away(message: OutboxMessage) -> None:
        msg = "the state database is away"
        raise AwayError(msg)

    deliverer = Deliverer(outbox, {"mlflow": sink}, clock=clock, patience=PATIENCE)
    outbox.delivered = away  # type: ignore[method-assign]
    found = deliver(deliverer)
    assert (found.stopped, found.reason) == ("failed", "the state database is away")
    assert "delivery to mlflow stopped: the state database is away" in caplog.text
    del outbox.delivered  # type: ignore[method-assign]
    assert deliver(deliverer).delivered == 1
    assert sink.got == [0, 1], "what arrived is noted, and not sent a second time"
    assert outbox.states() == ["delivered", "delivered"]


@pytest.mark.parametrize(
    ("error", "said", "has_traceback"),
    [
        (PumonitorError("the state database is away"), "the state database is away", False),
        (ZeroDivisionError("oh"), "ZeroDivisionError: oh", True),
    ],
)
def test_what_nobody_expected_is_logged_with_where_it_happened(
    error: Exception,
    said: str,
    has_traceback: bool,
    deliverer: Deliverer,
    outbox: OutboxInMemory,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(outbox, "claim", fail)
    assert deliver(deliverer).reason == said
    (record,) = caplog.records
    assert record.getMessage() == f"delivery to mlflow stopped: {said}"
    assert bool(record.exc_info) == has_traceback


def test_what_is_noted_as_delivered_is_noted_once(
    deliverer: Deliverer, outbox: OutboxInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = []

    def note(message: OutboxMessage) -> None:
        noted.append(message.id)
        OutboxInMemory.delivered(outbox, message)

    monkeypatch.setattr(outbox, "delivered", note)
    fill(outbox, "aa")
    deliver(deliverer)
    deliver(deliverer)
    assert noted == [1, 2]


def test_a_thread_that_waits_for_news_ends_at_once_when_it_is_told_to(
    outbox: OutboxInMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending_thread, "_POLL_SECONDS", 3600.0)
    busy = Held()
    sender = Sender("mlflow", outbox, busy, clock=clock, patience=PATIENCE)
    thread = SendingThread(
        [sender],
        clock=clock,
        stopped=Event(),
        refresh=lambda name: None,
        on_delivery=lambda name, done: None,
    )
    fill(outbox, "a")
    thread.start()
    assert busy.asked.wait(PATIENT_SECONDS)
    thread.end({"mlflow": HOUR})
    busy.let_go.set()
    thread.join(PATIENT_SECONDS)
    assert not thread.is_alive()
    assert thread.done["mlflow"].delivered == 1


def test_a_thread_with_nothing_to_do_looks_once_and_then_waits(
    outbox: OutboxInMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    course: list[str] = []
    stopped = Event()

    class Waited(Event):
        def wait(self, timeout: float | None = None) -> bool:
            course.append("has news" if self.is_set() else "waits")
            return True

    def claim(destination: str, *, limit: int, lease: timedelta) -> list[OutboxMessage]:
        course.append("looks")
        if course.count("looks") == 3:
            stopped.set()
        return []

    monkeypatch.setattr(outbox, "claim", claim)
    monkeypatch.setattr(sending_thread, "Event", Waited)
    thread = SendingThread(
        [Sender("mlflow", outbox, Recorder(), clock=clock, patience=PATIENCE)],
        clock=clock,
        stopped=stopped,
        refresh=lambda name: None,
        on_delivery=lambda name, done: None,
    )
    thread.wake()
    thread.run()
    assert course == ["looks", "waits", "looks", "waits", "looks"]


def test_who_asks_is_told_of_each_pass_that_sent_something(
    outbox: OutboxInMemory, sink: Recorder, clock: Clock
) -> None:
    idle = Recorder()
    deliverer = Deliverer(
        outbox, {"mlflow": sink, "hook": idle}, clock=clock, patience=PATIENCE, seed=5
    )
    fill(outbox, "aab")
    sink.react = lambda number: down(number) if number == 2 else None
    told: list[tuple[str, Delivery]] = []
    deliverer.start(lambda name, done: told.append((name, done)))
    deliverer.finish(budget=HOUR)
    assert told == [("mlflow", Delivery(delivered=2, failed=1, reason="nobody there"))]
