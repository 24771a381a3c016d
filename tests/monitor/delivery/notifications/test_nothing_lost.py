"""Alerts from the stored outbox to receivers that fail in every way: none lost, none twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import select, update

from pumonitor.monitor.alerts.notifiers import NotifyingDeliverer
from pumonitor.monitor.alerts.routing import packed
from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.config.values.variables import Secret
from pumonitor.monitor.delivery.http.signatures import message_id
from pumonitor.monitor.delivery.notifications.alertmanager import AlertmanagerSink, labels
from pumonitor.monitor.delivery.notifications.group import AlertGroup, is_sent_in_group
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Patience
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.database.schema import outbox as outbox_table
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.rules.alerts.alert import Alert
from tests.monitor.delivery.notifications.alerts import alert, ended
from tests.monitor.delivery.notifications.conftest import QUICK, Clock
from tests.monitor.delivery.notifications.receivers import OK, Answer, HttpReceiver, Request

HOUR = timedelta(hours=1)
PATIENCE = Patience(failures_to_open=1000)


def hook(**others: object) -> Destination:
    return Destination(
        webhook=Secret("https://hook.example/x"),
        **others,  # type: ignore[arg-type]
    )


def new_messages(alerts: Iterable[AlertMessage], destinations: Iterable[str]) -> list[NewMessage]:
    """As the ledger makes them: one for each alert and destination."""
    return [
        NewMessage(
            destination=outbox_destination(name), lane=one.lane, key=one.key,
            payload=one.to_payload(),
        )
        for one in alerts
        for name in destinations
    ]  # fmt: skip


def put(ledger: Ledger, alerts: Iterable[AlertMessage], **destinations: Destination) -> None:
    with ledger.database.writing() as connection:
        enqueue(
            connection,
            ledger.database,
            packed(destinations, new_messages(alerts, destinations)),
            at=ledger.database.now(connection),
        )


def deliverer(ledger: Ledger, receiver: HttpReceiver, clock: Clock) -> Deliverer:
    sink = WebhookSink(receiver.address, allow_private=True, limits=QUICK, clock=clock)
    return Deliverer(ledger.outbox, {"alerts:hook": sink}, clock=clock, patience=PATIENCE, seed=1)


def everything_is_due(ledger: Ledger) -> None:
    """As if waits were over and the leases of dead workers had run out."""
    with ledger.database.writing() as connection:
        connection.execute(
            update(outbox_table).values(not_before=None, claimed_by=None, claimed_until=None)
        )


def rounds(ledger: Ledger, sender: Deliverer, clock: Clock, *, most: int = 60) -> int:
    for number in range(most):
        if not any(one.messages for one in ledger.outbox.waiting().values()):
            return number
        sender.deliver(budget=HOUR)
        clock.forward(HOUR)
        everything_is_due(ledger)
    return most


def history(days: int, segments: Iterable[str] = ("",)) -> list[AlertMessage]:
    """Incidents that begin and end, in turn, for each segment."""
    return [
        alert(
            day,
            segment=segment,
            incident=1 + day // 2,
            kind="resolved" if day % 2 else "fired",
            reason="good" if day % 2 else "",
        )
        for day in range(days)
        for segment in segments
    ]


def test_nothing_is_lost_and_what_comes_twice_has_the_same_id(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    told = history(10, ("", "country=DE", "country=FR"))
    put(ledger, told, hook=hook())
    rng = np.random.default_rng(3)
    faults = [
        Answer(500),
        Answer(503, b"", {"Retry-After": "7"}),
        Answer(429, b"", {"Retry-After": "Thu, 02 Apr 2026 07:00:00 GMT"}),
        Answer(500, b"x" * 3_000_000),
        receiver.too_late,
        None,
        None,
    ]
    accepted: list[str] = []

    def react(request: Request) -> Answer | None:
        fault = faults[int(rng.integers(len(faults)))] if rng.random() < 0.25 else OK
        if fault is OK or fault is None or callable(fault):
            # It acts on what it got, whether or not its answer arrives.
            accepted.append(request.headers["webhook-id"])
        if callable(fault):
            return fault(request)
        return fault

    receiver.react = react
    rounds(ledger, deliverer(ledger, receiver, clock), clock)

    expected = [message_id("alerts:hook", one.key) for one in told]
    assert set(accepted) == set(expected)
    assert len(accepted) > len(expected), "some answers were lost: the faults did their work"
    bodies = {(one.headers["webhook-id"], one.body) for one in receiver.requests}
    assert len(bodies) == len(expected), "what is sent again is the same"
    assert ledger.outbox.waiting() == {}
    # By its first arrival nothing of an alert overtakes.
    first_at = {identity: accepted.index(identity) for identity in expected}
    for segment in ("", "country=DE", "country=FR"):
        own = [
            first_at[message_id("alerts:hook", one.key)]
            for one in told
            if one.transition.segment == segment
        ]
        assert own == sorted(own)


def test_a_worker_that_dies_between_sending_and_noting_it_sends_twice_with_one_id(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ledger, [alert()], hook=hook())
    with monkeypatch.context() as patch:

        def killed(message: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(ledger.outbox, "delivered", killed)
        with pytest.raises(KeyboardInterrupt):
            deliverer(ledger, receiver, clock).deliver(budget=HOUR)
    everything_is_due(ledger)
    deliverer(ledger, receiver, clock).deliver(budget=HOUR)

    assert Counter(receiver.ids) == {message_id("alerts:hook", alert().key): 2}
    assert ledger.outbox.waiting() == {}


def test_the_same_transition_is_put_there_once(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    for _ in range(3):
        put(ledger, history(4), hook=hook())
    rounds(ledger, deliverer(ledger, receiver, clock), clock)
    assert set(Counter(receiver.ids).values()) == {1}
    assert len(receiver.ids) == 4


def test_what_is_refused_is_set_aside_at_once_told_and_taken_up(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    put(ledger, history(3), hook=hook())
    receiver.in_turn(Answer(403, b"token revoked"))
    sender = deliverer(ledger, receiver, clock)

    done = sender.deliver(budget=HOUR)["alerts:hook"]
    assert (done.delivered, done.failed, done.set_aside) == (2, 0, 1)
    waiting = ledger.outbox.waiting()["alerts:hook"]
    assert (waiting.messages, waiting.set_aside) == (0, 1)
    assert waiting.last_error == "the webhook answers 403: token revoked"

    assert ledger.outbox.take_up("alerts:hook") == 1
    sender.deliver(budget=HOUR)
    assert ledger.outbox.waiting() == {}
    assert len(set(receiver.ids)) == 3


def test_a_receiver_that_asks_for_time_is_given_it(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    put(ledger, [alert()], hook=hook())
    receiver.in_turn(Answer(429, b"", {"Retry-After": "1800"}))
    deliverer(ledger, receiver, clock).deliver(budget=HOUR)
    with ledger.database.reading() as connection:
        not_before = connection.scalar(select(outbox_table.c.not_before))
        now = ledger.database.now(connection)
    assert timedelta(minutes=29) < not_before - now <= timedelta(minutes=30)


def test_a_broken_destination_keeps_nothing_from_another(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    put(ledger, history(4), hook=hook(), gone=hook())
    good = WebhookSink(receiver.address, allow_private=True, limits=QUICK, clock=clock)
    gone = WebhookSink("http://gone.invalid/x", limits=QUICK, clock=clock)
    sinks = {"alerts:gone": gone, "alerts:hook": good}
    done = Deliverer(ledger.outbox, sinks, clock=clock).deliver(budget=HOUR)
    assert done["alerts:hook"].delivered == 4
    assert ledger.outbox.waiting()["alerts:gone"].messages == 4


# -- who is told of what ----------------------------------------------------------------------


def test_a_retraining_hook_is_told_of_beginnings_alone(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    told = [*history(4), alert(4, kind="reminder", reminder=1, incident=2)]
    put(ledger, told, hook=hook(events=("fired",)))
    rounds(ledger, deliverer(ledger, receiver, clock), clock)
    assert [document["type"] for document in receiver.documents] == ["alert.fired"] * 2


class Recorder:
    """An Apprise destination but for Apprise: keeps what it would be told."""

    def __init__(self) -> None:
        self.told: list[list[str]] = []

    def send(self, message: OutboxMessage) -> None:
        if not is_sent_in_group(message.payload):
            alerts = AlertGroup.from_payload(message.payload).alerts
            self.told.append([one.key for one in alerts])


def test_people_are_told_once_of_what_happens_together(ledger: Ledger, clock: Clock) -> None:
    chat = Destination(apprise=Secret("json://chat"), events=("fired", "resolved"))
    recorder = Recorder()
    sender = Deliverer(ledger.outbox, {"alerts:chat": recorder}, clock=clock)
    together = [alert(segment=f"country={number}") for number in range(30)]
    unwanted = alert(segment="other", kind="reminder", reminder=1)
    elsewhere = alert(monitor="churn")
    for _ in range(2):
        put(ledger, [*together, unwanted, elsewhere], chat=chat)
    over = [ended(one) for one in together[:2]]
    put(ledger, over, chat=chat)
    put(ledger, [alert(segment="alone")], chat=chat)
    sender.deliver(budget=HOUR)

    assert recorder.told == [
        [one.key for one in together],
        [elsewhere.key],
        [one.key for one in over],
        [alert(segment="alone").key],
    ]
    assert ledger.outbox.waiting() == {}
    with ledger.database.reading() as connection:
        keys = set(connection.scalars(select(outbox_table.c.key)))
    told = [*together, unwanted, elsewhere, *over, alert(segment="alone")]
    assert {one.key for one in told} <= keys, "by them it is known who was told of what"


def test_machines_get_them_one_by_one() -> None:
    alerts = [alert(segment=f"country={number}") for number in range(3)]
    destinations = {"hook": hook(), "am": Destination(alertmanager=Secret("http://am"))}
    messages = new_messages(alerts, destinations)
    found = packed(destinations, messages)
    assert sorted(found, key=lambda one: (one.destination, one.key)) == sorted(
        messages, key=lambda one: (one.destination, one.key)
    )


# -- Alertmanager in every round --------------------------------------------------------------


def test_every_round_tells_alertmanager_what_is_on_and_ends_what_is_over(
    ledger: Ledger, receiver: HttpReceiver, clock: Clock
) -> None:
    on, over, other, untold = (alert(segment=f"country={name}") for name in ("a", "b", "c", "d"))
    put(ledger, [on, over], am=Destination(alertmanager=Secret("http://am")))
    put(ledger, [other], hook=hook())
    states = [(on, 1, True), (over, 1, False), (other, 1, True), (untold, 0, False)]
    with ledger.database.writing() as connection:
        AlertTables(connection, ledger.database).put_alerts(
            Alert(
                **{name: getattr(one.transition, name) for name in (
                    "monitor", "rule_key", "model_version", "segment", "rule", "metric", "severity",
                )},
                incident=1, is_firing=told_firing, told_incident=told, told_firing=told_firing,
                # Its rule was deleted.
                closed_at=clock.now if one is over else None,
            )
            for one, told, told_firing in states
        )  # fmt: skip
    sink = AlertmanagerSink(receiver.address, clock=clock)
    sender = NotifyingDeliverer(ledger, {"alerts:am": sink}, clock=clock)
    assert sender.deliver(budget=HOUR)["alerts:am"].delivered == 2
    receiver.requests.clear()
    held = [{"labels": labels(one.transition)} for one in (on, over)]
    receiver.react = lambda request: Answer(200, json.dumps(held).encode())

    sender.deliver(budget=HOUR)
    kept, asked, ended = receiver.requests
    ((again,), (end,)) = json.loads(kept.body), json.loads(ended.body)
    assert (again["labels"]["segment"], end["labels"]["segment"]) == ("country=a", "country=b")
    assert again["annotations"]["runbook_url"] == on.runbook
    assert again["endsAt"] > clock.now.isoformat()
    assert end["endsAt"] == clock.now.isoformat()
    assert asked.method == "GET"

    receiver.react = lambda request: Answer(503, b"starting")
    failed = sender.deliver(budget=HOUR)["alerts:am"]
    assert failed.reason == "Alertmanager answers 503: starting"
