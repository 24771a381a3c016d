"""Destinations in the configuration, the series that is drawn, `pumonitor notify --test`."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.monitor.alerts.notifiers import NotifyingDeliverer, alert_sinks, series_reader
from pumonitor.monitor.app import utc_now
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.delivery.http.posting import Limits
from pumonitor.monitor.delivery.notifications.alertmanager import AlertmanagerSink
from pumonitor.monitor.delivery.notifications.apprise import AppriseSink
from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.delivery import Patience
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.delivery.notifications.alerts import alert, outgoing
from tests.monitor.delivery.notifications.conftest import Clock
from tests.monitor.delivery.notifications.receivers import Answer, HttpReceiver
from tests.monitor.delivery.notifications.test_canary import MONITOR
from tests.monitor.ledger.monitored_days import DAY, FIRST, counted, judged, message, planned


def read(destination: str, **environment: str) -> Configuration:
    text = f"destinations:\n  one: {destination}\n{MONITOR}"
    return read_configuration_text(text, environment=environment).configuration


@pytest.mark.parametrize(
    ("destination", "kind"),
    [
        ("{webhook: 'https://example.org/in'}", WebhookSink),
        ("{webhook: 'http://10.0.0.1/in', allow_private: true, events: [fired]}", WebhookSink),
        ("{webhook: 'https://example.org/in', secret: '${KEY}'}", WebhookSink),
        ("{alertmanager: 'http://localhost:9093/prefix/'}", AlertmanagerSink),
        ("{alertmanager: 'http://am.example', allow_private: false}", AlertmanagerSink),
        ("{apprise: 'json://localhost', format: html, events: [fired, resolved]}", AppriseSink),
    ],
)
def test_what_is_read_makes_a_sink(destination: str, kind: type) -> None:
    configuration = read(destination, KEY="a key that is long")
    sinks = alert_sinks(configuration, read_series=lambda message: (), clock=utc_now)
    assert {name: type(sink) for name, sink in sinks.items()} == {"alerts:one": kind}


@pytest.mark.parametrize(
    ("destination", "message"),
    [
        ("{webhook: 'http://localhost/in'}", "allow_private: true"),
        ("{webhook: 'http://192.168.1.1/in'}", "allow_private: true"),
        ("{webhook: 'http://[::1]/in', allow_private: false}", "allow_private: true"),
        ("{webhook: 'https:///in'}", "names a host"),
        ("{webhook: 'https://[x/in'}", "names a host"),
        ("{webhook: 'https://x.org', allow_private: 1}", "must be true or false"),
        ("{webhook: 'https://x.org', format: html}", "has format, which is for apprise"),
        ("{apprise: 'json://x', allow_private: true}", "is for webhook or alertmanager"),
        ("{alertmanager: 'http://x', events: [fired]}", "is for apprise or webhook"),
        ("{webhook: 'https://x.org', events: [fire]}", "must be 'fired', 'resolved'"),
        ("{webhook: 'https://x.org', events: []}", "must not be empty"),
        ("{webhook: 'https://x.org', events: fired}", "must be a list"),
        ("{webhook: 'https://x.org', secret: '${KEY}'}", "has a secret that must"),
        ("{apprise: 'json://x', format: rich}", "must be 'text', 'markdown' or 'html'"),
        ("{apprise: 'slak://a/b/c'}", "did you mean 'slack'"),
        ("{apprise: 'tel://1'}", "does not know: tel"),
        (
            "{apprise: 'file:///tmp/told'}",
            "is the address of a file, to which notifications are not sent",
        ),
        (
            "{apprise: 'FILE://told'}",
            "is the address of a file, to which notifications are not sent",
        ),
        ("{webhook: 'file:///tmp/told'}", "begins with https:// or http:// and names a host"),
        ("{alertmanager: 'file:///tmp/told'}", "begins with https:// or http://"),
        ("{webhook: 'http://[::127.0.0.1]/in'}", "allow_private: true"),
        ("{webhook: 'http://[64:ff9b::10.0.0.1]/in'}", "allow_private: true"),
        ("{webhook: 'http://[64:ff9b:1::1]/in'}", "allow_private: true"),
        ("{webhook: 'http://[::ffff:0:127.0.0.1]/in'}", "allow_private: true"),
    ],
)
def test_what_makes_no_sense_is_refused(destination: str, message: str) -> None:
    with pytest.raises(InputError, match=r"destinations\.one.*line 2: ") as caught:
        read(destination, KEY="short")
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ["webhook", "alertmanager"])
def test_limits_hold_for_every_destination(kind: str, receiver: HttpReceiver, clock: Clock) -> None:
    receiver.in_turn(Answer(503, headers={"Retry-After": "7200"}))
    configuration = read(f"{{{kind}: '{receiver.address}', allow_private: true}}")
    sinks = alert_sinks(
        configuration,
        read_series=lambda message: (),
        clock=clock,
        limits=Limits(longest_wait=timedelta(minutes=5)),
    )
    with pytest.raises(DestinationDownError) as caught:
        sinks["alerts:one"].send(outgoing(alert()))
    assert caught.value.retry_after == timedelta(minutes=5)


def test_a_notifier_has_the_patience_it_is_given(ledger: Ledger, clock: Clock) -> None:
    class Refusing:
        def send(self, message: OutboxMessage) -> None:
            msg = "no"
            raise MessageRefusedError(msg)

    with ledger.database.writing() as connection:
        told = [message("a", destination="alerts:hook")]
        enqueue(connection, ledger.database, told, at=ledger.database.now(connection))
    deliverer = NotifyingDeliverer(
        ledger, {"alerts:hook": Refusing()}, clock=clock, patience=Patience(refusals=1)
    )
    assert deliverer.deliver(budget=DAY)["alerts:hook"].set_aside == 1


# -- the series -------------------------------------------------------------------------------


def worked_through(ledger: Ledger, days: int) -> None:
    """Windows of four days, each day's panes with a value of their own."""
    planned(ledger, 4)
    for day in range(1, days + 1):
        while claim := ledger.claim_collect("one", now=FIRST + day * DAY):
            ledger.commit_collect(claim, counted(claim))
        while claim := ledger.claim_evaluate("one"):
            ledger.commit_evaluate(claim, judged(claim, value=round(0.9 - 0.01 * day, 2)))


def test_the_series_is_what_was_known_then(ledger: Ledger) -> None:
    worked_through(ledger, 12)
    read_series = series_reader(ledger)

    def values(metric: str, as_of: int, **others: Any) -> list[float | None]:
        about = {"window_start": FIRST + 3 * DAY, "window_end": FIRST + 4 * DAY}
        message = alert(metric=metric, as_of=FIRST + as_of * DAY, **{**about, **others})
        return [point.value for point in read_series(message.transition)]

    # Looked at 0, 2 and 4 days after their ends; the fourth ended on the fourth day.
    assert values("auc", 4) == [0.87, 0.86, 0.87, 0.86]
    assert values("auc", 6) == [0.85, 0.84, 0.85, 0.84]
    assert values("auc", 99) == [0.85, 0.84, 0.83, 0.82]
    second = {"window_start": FIRST + DAY, "window_end": FIRST + 2 * DAY}
    assert values("auc", 99, **second) == [0.85, 0.84], "nothing after its own window"
    assert values("labeled_positives", 99) == [10] * 4
    assert values("predictions", 99) == [5_000_000_010] * 4
    assert values("mcc", 99) == [None] * 4
    for others in ({"metric": "health:no_data"}, {"monitor": "other"}, {"segment": "a=b"}):
        assert values(**{"metric": "auc", "as_of": 99, **others}) == []
    point = read_series(
        alert(
            metric="auc", as_of=FIRST + 99 * DAY, window_start=FIRST, window_end=FIRST + DAY
        ).transition
    )[0]
    assert (point.start, point.end, point.low, point.high) == (FIRST, FIRST + DAY, 0.8, 0.95)


# -- the command ------------------------------------------------------------------------------


@pytest.fixture
def configured(tmp_path: Path, receiver: HttpReceiver) -> Path:
    path = tmp_path / "pumonitor.yaml"
    path.write_text(
        "destinations:\n"
        f"  hook: {{webhook: '{receiver.address}/hook', allow_private: true}}\n"
        f"  am: {{alertmanager: '{receiver.address}/am'}}\n"
        f"  chat: {{apprise: 'json://127.0.0.1:{receiver.port}/chat'}}\n"
        f"{MONITOR}"
    )
    return path


def notify(path: Path, *arguments: str) -> Any:
    return CliRunner(env={"COLUMNS": "200"}).invoke(
        app, ["notify", *arguments, "--config", str(path)]
    )


def test_a_test_goes_to_all_and_says_that_it_is_one(
    configured: Path, receiver: HttpReceiver
) -> None:
    done = notify(configured, "--test")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "delivered hook (webhook): accepted the message",
        "delivered am (alertmanager): accepted the message",
        "delivered chat (apprise): accepted the message",
    ]
    paths = [request.path.partition("?")[0] for request in receiver.requests]
    assert paths == ["/hook", "/am/api/v2/alerts", "/chat"]
    for request in receiver.requests:
        assert b"nothing is wrong" in request.body
    chat = receiver.documents[2]
    assert chat["attachments"][0]["mimetype"] == "image/png"
    (told,) = receiver.documents[1]
    assert told["labels"]["monitor"] == "pumonitor-test"


def test_what_came_back_is_reported(configured: Path, receiver: HttpReceiver) -> None:
    receiver.in_turn(Answer(403, b"who are you?"), Answer(200), Answer(500))
    done = notify(configured, "--test", "--json")
    assert done.exit_code == 3
    found = {one["destination"]: one for one in json.loads(done.stdout)}
    assert found["hook"]["message"] == "the webhook answers 403: who are you?"
    assert [one["delivered"] for one in found.values()] == [False, True, False]
    assert "error=500" in found["chat"]["message"]


def test_one_can_be_named(configured: Path, receiver: HttpReceiver) -> None:
    assert notify(configured, "--test", "chat").exit_code == 0
    assert len(receiver.requests) == 1
    for arguments, said in (
        (["--test", "caht"], "chat"),
        ([], "--test"),
    ):
        done = notify(configured, *arguments)
        assert done.exit_code == 2
        assert said in done.stderr
    assert len(receiver.requests) == 1


def test_without_destinations_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pumonitor.yaml"
    path.write_text(MONITOR)
    done = notify(path, "--test")
    assert done.exit_code == 2
    assert "has no destinations" in done.stderr
