"""Delivery in turn, with patience, through outages; destinations here only keep what they got."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest

from pumonitor.errors import PumonitorError
from pumonitor.monitor.delivery.sending import sending_thread
from pumonitor.monitor.delivery.sending.circuit_breaker import CircuitBreaker
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery, Patience
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from pumonitor.monitor.delivery.sending.sender import Sender
from pumonitor.monitor.delivery.sending.sending_thread import SendingThread
from pumonitor.ports import OutboxMessage
from tests.monitor.delivery.sending.outbox_in_memory import OutboxInMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PATIENT_SECONDS = 20.0
PATIENCE = Patience(
    first_wait=timedelta(seconds=40),
    longest_wait=timedelta(minutes=10),
    refusals=3,
    failures_to_open=2,
    batch=4,
    lease=timedelta(minutes=6),
)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        self.now += by


class Recorder:
    """A destination: keeps the numbers it got, fails as it is told."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.asked: list[int] = []
        self.react: Callable[[int], None] = lambda number: None

    def send(self, message: OutboxMessage) -> None:
        number = message.payload["number"]
        self.asked.append(number)
        self.react(number)
        self.got.append(number)


def down(number: int) -> None:
    msg = "nobody there"
    raise DestinationDownError(msg)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outbox(clock: Clock) -> OutboxInMemory:
    return OutboxInMemory(clock)


@pytest.fixture
def sink() -> Recorder:
    return Recorder()


@pytest.fixture
def deliverer(clock: Clock, outbox: OutboxInMemory, sink: Recorder) -> Deliverer:
    return Deliverer(outbox, {"mlflow": sink}, clock=clock, patience=PATIENCE, seed=5)


def fill(outbox: OutboxInMemory, lanes: str, **others: str) -> None:
    for number, lane in enumerate(lanes):
        outbox.add({"number": number}, lane=lane, **others)


def deliver(deliverer: Deliverer, budget: timedelta = HOUR) -> Delivery:
    return deliverer.deliver(budget=budget)["mlflow"]


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
    assert "delivery to mlflow is interrupted: the state database is away" in caplog.text
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
    assert record.getMessage() == f"delivery to mlflow is interrupted: {said}"
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
