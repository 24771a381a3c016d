"""Webhooks against real HTTP: what is sent, what answers mean, where it does not go."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from pumonitor.monitor.delivery.http import guarded_connection
from pumonitor.monitor.delivery.http.posting import Limits
from pumonitor.monitor.delivery.http.public_addresses import is_public
from pumonitor.monitor.delivery.http.signatures import signing_key
from pumonitor.monitor.delivery.notifications import webhook
from pumonitor.monitor.delivery.notifications.picture import SeriesPoint
from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from pumonitor.monitor.rules.alerts.alert import Transition
from tests.monitor.delivery.notifications.alerts import DAY, FIRST, alert, outgoing
from tests.monitor.delivery.notifications.conftest import QUICK, Clock
from tests.monitor.delivery.notifications.receivers import (
    Answer,
    HttpReceiver,
    free_port,
    raw_receiver,
)

SIGNED_WITH = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def sink(address: str, clock: Clock, **others: Any) -> WebhookSink:
    options = {"allow_private": True, "limits": QUICK, "clock": clock}
    return WebhookSink(address, **{**options, **others})


@pytest.mark.parametrize("secret", [SIGNED_WITH, "a plain text that is long"])
def test_an_independent_implementation_verifies_the_signature(
    receiver: HttpReceiver, secret: str
) -> None:
    from datetime import UTC, datetime

    WebhookSink(receiver.address, secret=secret, allow_private=True, limits=QUICK).send(
        outgoing(alert())
    )
    (request,) = receiver.requests
    theirs = Webhook(secret if secret == SIGNED_WITH else secret.encode())

    assert theirs.verify(request.body, request.headers)["type"] == "alert.fired"
    with pytest.raises(WebhookVerificationError):
        theirs.verify(request.body.replace(b"0.704", b"0.904"), request.headers)
    other_id = {**request.headers, "webhook-id": "msg_other"}
    with pytest.raises(WebhookVerificationError):
        theirs.verify(request.body, other_id)
    moment = int(request.headers["webhook-timestamp"])
    assert abs(datetime.now(UTC).timestamp() - moment) < 60


def test_what_is_sent(receiver: HttpReceiver, clock: Clock) -> None:
    sink(receiver.address, clock).send(outgoing(alert()))
    (request,) = receiver.requests
    document = json.loads(request.body)

    assert "webhook-signature" not in {name.lower() for name in request.headers}
    assert (request.method, request.headers["Content-Type"]) == ("POST", "application/json")
    assert document["type"] == "alert.fired"
    assert document["timestamp"] == "2026-04-01T00:00:00+00:00"
    data = document["data"]
    assert data["title"] == "[critical] card-fraud, version 7: F1 below 0.75"
    assert (data["metric"], data["value"], data["limit"]) == ("f1", 0.704, 0.75)
    assert data["dedup_key"] == alert().transition.dedup_key
    assert data["cause"] == {"sentence": "The ranking got worse."}
    assert data["next_steps"][0] == "Look at what changed when it began."
    assert data["text"] == f"{alert().transition.sentence} The ranking got worse."
    assert "picture" not in data


def series(about: Transition) -> list[SeriesPoint]:
    return [
        SeriesPoint(start=FIRST + day * DAY, end=FIRST + (day + 1) * DAY, value=0.8 - 0.01 * day)
        for day in range(-8, 1)
    ]


def test_a_picture_goes_to_a_webhook_that_asks_for_it(receiver: HttpReceiver, clock: Clock) -> None:
    hook = sink(receiver.address, clock, read_series=series, secret=SIGNED_WITH)
    hook.send(outgoing(alert()))
    hook.send(outgoing(alert()))
    first, again = receiver.requests
    picture = json.loads(first.body)["data"]["picture"]

    assert picture["content_type"] == "image/png"
    drawn = base64.b64decode(picture["base64"], validate=True)
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) < webhook._LARGEST_PICTURE / 2
    assert first.body == again.body


def test_without_a_picture_it_is_sent_all_the_same(
    receiver: HttpReceiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(about: Transition) -> list[SeriesPoint]:
        raise OSError

    sink(receiver.address, clock, read_series=broken).send(outgoing(alert()))
    sink(receiver.address, clock, read_series=lambda message: []).send(outgoing(alert()))
    monkeypatch.setattr(webhook, "_LARGEST_PICTURE", 1000)
    sink(receiver.address, clock, read_series=series).send(outgoing(alert()))

    assert ["picture" in json.loads(one.body)["data"] for one in receiver.requests] == [False] * 3


def test_ids_are_those_of_the_transition_and_the_destination(
    receiver: HttpReceiver, clock: Clock
) -> None:
    hook = sink(receiver.address, clock, secret=SIGNED_WITH)
    hook.send(outgoing(alert()))
    clock.forward(timedelta(hours=1))
    hook.send(outgoing(alert()))
    hook.send(outgoing(alert(), destination="alerts:other"))
    hook.send(outgoing(alert(kind="reminder", reminder=1)))
    hook.send(outgoing(alert(kind="reminder", reminder=2)))
    first, again, *_ = receiver.requests

    assert receiver.ids[0] == receiver.ids[1]
    assert len(set(receiver.ids)) == 4
    assert first.body == again.body
    assert first.headers["webhook-timestamp"] != again.headers["webhook-timestamp"]
    assert first.headers["webhook-signature"] != again.headers["webhook-signature"]
    assert all("." not in identity for identity in receiver.ids)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_success_is_one(receiver: HttpReceiver, clock: Clock, status: int) -> None:
    receiver.in_turn(Answer(status, b""))
    sink(receiver.address, clock).send(outgoing(alert()))


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (408, None, None),
        (425, "5", 5),
        (429, "90", 90),
        (429, "Thu, 02 Apr 2026 06:02:00 GMT", 120),
        (429, "Thu, 02 Apr 2026 05:00:00 GMT", 0),
        (503, "99999999999999999999", 3600),
        (503, "Fri, 02 Apr 2100 06:02:00 GMT", 3600),
        (503, "soon", None),
        (503, "-5", None),
        (500, None, None),
        (599, "1", 1),
    ],
)
def test_what_may_pass_is_tried_again_when_the_receiver_says(
    receiver: HttpReceiver, clock: Clock, status: int, header: str | None, seconds: float | None
) -> None:
    receiver.in_turn(Answer(status, b"busy", {} if header is None else {"Retry-After": header}))
    with pytest.raises(DestinationDownError, match=f"answers {status}: busy") as caught:
        sink(receiver.address, clock).send(outgoing(alert()))
    asked = caught.value.retry_after
    assert (None if asked is None else asked.total_seconds()) == seconds


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 422, 451])
def test_what_will_not_pass_is_refused_for_good(
    receiver: HttpReceiver, clock: Clock, status: int
) -> None:
    receiver.in_turn(Answer(status, b'{"error":\n"no such\x00hook"}'))
    with pytest.raises(MessageRefusedError, match=f"answers {status}") as caught:
        sink(receiver.address, clock).send(outgoing(alert()))
    assert caught.value.for_good
    assert 'no such hook"}' in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(receiver: HttpReceiver, clock: Clock, status: int) -> None:
    receiver.in_turn(Answer(status, b"", {"Location": f"{receiver.address}/elsewhere"}))
    with pytest.raises(MessageRefusedError, match="redirect") as caught:
        sink(f"{receiver.address}/here", clock).send(outgoing(alert()))
    assert [request.path for request in receiver.requests] == ["/here"]
    assert caught.value.for_good
    assert "elsewhere" not in str(caught.value)


def test_an_answer_that_is_lost_says_that_it_may_have_arrived(
    receiver: HttpReceiver, clock: Clock
) -> None:
    receiver.in_turn(receiver.too_late, None)
    hook = sink(receiver.address, clock)
    for _ in range(2):
        with pytest.raises(DestinationDownError, match="may have arrived"):
            hook.send(outgoing(alert()))
    hook.send(outgoing(alert()))
    assert len(set(receiver.ids)) == 1
    assert len(receiver.ids) == 3


def test_what_was_not_sent_is_distinguished(clock: Clock) -> None:
    for address in (f"http://127.0.0.1:{free_port()}/x", "http://hook.invalid/x"):
        with pytest.raises(DestinationDownError, match="cannot be reached") as caught:
            sink(address, clock).send(outgoing(alert()))
        assert "arrived" not in str(caught.value)


def drip_headers(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.wait(0.05):
        connection.sendall(b"X-More: 1\r\n")


def drip_status(connection: socket.socket, over: Event) -> None:
    while not over.wait(0.05):
        connection.sendall(b"H")


def endless_error(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 99999999999\r\n\r\n")
    while not over.is_set():
        connection.sendall(b"word " * 10_000)


def endless_success(connection: socket.socket, over: Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not over.is_set():
        connection.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")


@pytest.mark.parametrize("talk", [drip_headers, drip_status])
def test_an_answer_that_drips_is_given_up(
    clock: Clock, talk: Callable[[socket.socket, Event], None]
) -> None:
    """Every part comes in time, the whole never would."""
    began = time.monotonic()
    with raw_receiver(talk) as address, pytest.raises(DestinationDownError, match="arrived"):
        sink(address, clock).send(outgoing(alert()))
    assert time.monotonic() - began < 5


def test_of_an_endless_answer_little_is_read(clock: Clock) -> None:
    with (
        raw_receiver(endless_error) as address,
        pytest.raises(DestinationDownError, match="answers 500: word word") as caught,
    ):
        sink(address, clock).send(outgoing(alert()))
    assert len(str(caught.value)) < 500
    with raw_receiver(endless_success) as address:
        sink(address, clock).send(outgoing(alert()))


def test_the_parts_of_a_request_end_before_the_whole() -> None:
    limits = Limits()
    assert limits.connect < limits.total
    assert limits.read < limits.total


# -- where it does not go ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1",  # noqa: S104
        "169.254.169.254", "100.64.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
        "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:7f00:1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "::127.0.0.1", "::10.0.0.1", "64:ff9b::10.0.0.1", "::ffff:0:127.0.0.1",
        "64:ff9b:1::8.8.8.8", "64:ff9b:1:a00:0:100::", "2002:a9fe:a9fe::1",
    ],
)  # fmt: skip
def test_private_addresses_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8", "93.184.216.34", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
        "::ffff:0:8.8.8.8", "2002:808:808::1",
    ],
)  # fmt: skip
def test_public_addresses_are_known(address: str) -> None:
    assert is_public(address)


def port_of(receiver: HttpReceiver) -> int:
    return receiver.port


def test_private_addresses_are_refused_unless_allowed(receiver: HttpReceiver, clock: Clock) -> None:
    port = port_of(receiver)
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
        hook = sink(f"http://{host}:{port}/in", clock, allow_private=False)
        with pytest.raises(DestinationDownError, match="allow_private: true"):
            hook.send(outgoing(alert()))
    assert receiver.requests == []
    sink(f"http://127.0.0.1:{port}/in", clock).send(outgoing(alert()))
    assert len(receiver.requests) == 1


def resolver(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A name server that gives these answers in turn; returns what was asked."""
    left, asked = list(answers), []
    real = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *rest: Any, **others: Any) -> Any:
        if host != "rebound.example":
            return real(host, port, *rest, **others)
        asked.append(host)
        addresses = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_a_name_that_changes_its_mind_leads_nowhere_else(
    receiver: HttpReceiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """127.0.0.2 plays a public address at which nobody listens; then the name is 127.0.0.1."""
    monkeypatch.setattr(guarded_connection, "is_public", lambda address: address == "127.0.0.2")
    asked = resolver(monkeypatch, ["127.0.0.2"], ["127.0.0.1"])
    server = socket.create_server(("127.0.0.2", port_of(receiver) ^ 1))
    server.close()
    hook = sink(f"http://rebound.example:{port_of(receiver)}/in", clock, allow_private=False)

    with pytest.raises(DestinationDownError, match="cannot be reached"):
        hook.send(outgoing(alert()))
    assert asked == ["rebound.example"]
    with pytest.raises(DestinationDownError, match=r"at 127\.0\.0\.1, which is not a public"):
        hook.send(outgoing(alert()))
    assert receiver.requests == []


def test_one_private_address_among_public_ones_is_enough(
    receiver: HttpReceiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver(monkeypatch, ["93.184.216.34", "127.0.0.1"])
    hook = sink(f"http://rebound.example:{port_of(receiver)}/in", clock, allow_private=False)
    with pytest.raises(DestinationDownError, match=r"127\.0\.0\.1"):
        hook.send(outgoing(alert()))
    assert receiver.requests == []


def test_the_next_address_is_tried_and_the_name_is_kept(
    receiver: HttpReceiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver(monkeypatch, ["127.0.0.3", "127.0.0.1"])
    sink(f"http://rebound.example:{port_of(receiver)}/in", clock).send(outgoing(alert()))
    assert receiver.requests[0].headers["Host"] == f"rebound.example:{port_of(receiver)}"


def test_no_proxy_of_the_environment_is_used(
    receiver: HttpReceiver, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, receiver.address)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(DestinationDownError, match="cannot be reached"):
        sink("http://hook.invalid/x", clock, allow_private=False).send(outgoing(alert()))
    assert receiver.requests == []


@pytest.mark.parametrize("secret", ["whsec_###", "whsec_abc", "short", "whsec_"])
def test_a_key_that_is_none_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="must") as caught:
        signing_key(secret)
    assert secret not in str(caught.value).replace("whsec_ ", "")
