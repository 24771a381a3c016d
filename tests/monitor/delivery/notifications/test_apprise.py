"""Apprise against a real mail server and real HTTP: words, pictures, failures that do not raise."""

from __future__ import annotations

import email
import email.policy
import json
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage

import pytest

from pumonitor.masks import Mask, hidden_parts
from pumonitor.monitor.delivery.notifications import apprise as module
from pumonitor.monitor.delivery.notifications.apprise import AppriseSink, check_apprise_address
from pumonitor.monitor.delivery.notifications.group import AlertGroup, sent_in_group
from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.notifications.picture import SeriesPoint
from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.rules.alerts.alert import Transition
from tests.monitor.delivery.notifications.alerts import DAY, FIRST, alert, outgoing
from tests.monitor.delivery.notifications.receivers import (
    Answer,
    HttpReceiver,
    Mailbox,
    free_port,
    mail_server,
)


@pytest.fixture(scope="module")
def mail() -> Iterator[tuple[Mailbox, str]]:
    with mail_server() as (mailbox, port):
        yield mailbox, f"mailto://127.0.0.1:{port}?from=watch@example.org&to=oncall@example.org"


@pytest.fixture
def mailbox(mail: tuple[Mailbox, str]) -> Mailbox:
    mail[0].got.clear()
    mail[0].answer = "250 OK"
    return mail[0]


def letter(mailbox: Mailbox) -> EmailMessage:
    (envelope,) = mailbox.got
    read = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert isinstance(read, EmailMessage)
    return read


def group(*alerts: AlertMessage) -> OutboxMessage:
    found = AlertGroup(alerts=alerts)
    return OutboxMessage(
        id=1, destination="alerts:oncall", lane=found.lane, key=found.key,
        payload=found.to_payload(),
    )  # fmt: skip


def series(about: Transition) -> list[SeriesPoint]:
    return [
        SeriesPoint(start=FIRST + day * DAY, end=FIRST + (day + 1) * DAY, value=0.8 - 0.01 * day)
        for day in range(-8, 1)
    ]


def test_mail_has_the_words_and_the_picture(mail: tuple[Mailbox, str], mailbox: Mailbox) -> None:
    AppriseSink(mail[1], read_series=series).send(group(alert()))
    read = letter(mailbox)
    (picture,) = read.iter_attachments()
    html = read.get_body(("html",))
    assert html is not None

    assert read["Subject"] == "[critical] card-fraud, version 7: F1 below 0.75"
    assert read["To"] == "oncall@example.org"
    text = html.get_content()
    for said in ("0.704 (0.660 to 0.730)", "The ranking got worse.", "runbooks/f1", "2026-03-01"):
        assert said in text
    assert picture.get_content_type() == "image/png"
    assert picture.get_content().startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_what_stands_in_the_data_is_no_markup(
    mail: tuple[Mailbox, str], mailbox: Mailbox, form: module.Format
) -> None:
    evil = "city=<script>alert(1)</script> & <!channel> *b* [x](http://evil.example) @everyone"
    AppriseSink(mail[1], format=form).send(group(alert(segment=evil)))
    part = letter(mailbox).get_body(("html", "plain"))
    assert part is not None
    text = part.get_content()
    assert "alert(1)" in text
    assert "@everyone" not in text
    if form == "text":
        assert part.get_content_type() == "text/plain"
        return
    assert "<script" not in text
    assert "<!channel" not in text
    assert "<a href='http://evil" not in text.replace('"', "'")


def test_one_mail_for_all_that_begins_together(mail: tuple[Mailbox, str], mailbox: Mailbox) -> None:
    many = [alert(segment=f"country={number}", severity="warning") for number in range(29)]
    AppriseSink(mail[1], format="text").send(group(*many, alert(kind="resolved", reason="good")))
    read = letter(mailbox)
    body = read.get_body(("html", "plain"))
    assert body is not None
    assert read["Subject"] == "[warning] card-fraud: 30 alerts: 29 began, 1 over"
    assert "And 20 more." in body.get_content()


def test_a_line_break_begins_no_header(mail: tuple[Mailbox, str], mailbox: Mailbox) -> None:
    evil = "country=DE\r\nBcc: all@example.org\r\n\r\nhello"
    sink = AppriseSink(mail[1])
    sink.send(group(alert(segment=evil)))
    read = letter(mailbox)
    assert read["Bcc"] is None
    assert mailbox.got[0].rcpt_tos == ["oncall@example.org"]
    with pytest.raises(MessageRefusedError, match="line break") as caught:
        sink.notify("a\r\nBcc: all@example.org", "text")
    assert caught.value.for_good


def test_without_a_picture_it_is_sent_all_the_same(
    mail: tuple[Mailbox, str], mailbox: Mailbox
) -> None:
    def broken(about: Transition) -> list[SeriesPoint]:
        raise ZeroDivisionError

    AppriseSink(mail[1], read_series=broken).send(group(alert()))
    assert list(letter(mailbox).iter_attachments()) == []


def test_a_failure_is_an_error_with_its_reason(mail: tuple[Mailbox, str], mailbox: Mailbox) -> None:
    mailbox.answer = "451 try later"
    with pytest.raises(DestinationDownError, match="Apprise could not send it"):
        AppriseSink(mail[1]).send(group(alert()))
    nobody = f"mailto://127.0.0.1:{free_port()}?from=a@example.org&to=b@example.org"
    with pytest.raises(DestinationDownError, match="Connection error while submitting email"):
        AppriseSink(nobody).send(group(alert()))


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_an_answer_that_is_no_success_is_an_error(receiver: HttpReceiver, status: int) -> None:
    receiver.in_turn(Answer(status))
    sink = AppriseSink(f"json://127.0.0.1:{receiver.port}/x")
    with pytest.raises(DestinationDownError, match=f"error={status}"):
        sink.send(group(alert()))
    sink.send(group(alert()))


def test_a_service_that_says_nothing_is_given_up(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_READ_SECONDS", 0.2)
    receiver.in_turn(receiver.too_late)
    with pytest.raises(DestinationDownError):
        AppriseSink(f"json://127.0.0.1:{receiver.port}/x?rto=60").send(group(alert()))


def test_a_service_that_goes_on_for_ever_is_given_up(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS_IN_ALL", 0.2)
    receiver.in_turn(receiver.too_late)
    with pytest.raises(DestinationDownError, match="did not finish within"):
        AppriseSink(f"json://127.0.0.1:{receiver.port}/x").send(group(alert()))


def test_limits_are_ours_and_not_those_of_the_address() -> None:
    service = module._service("json://localhost?rto=999&cto=999")
    assert service is not None
    assert service.request_timeout == (module._CONNECT_SECONDS, module._READ_SECONDS)


def test_slack_gets_its_signs_escaped(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service's own address is replaced; all else is as it is sent to Slack."""
    from apprise.plugins.slack import NotifySlack

    monkeypatch.setattr(NotifySlack, "webhook_url", f"{receiver.address}/services")
    receiver.react = lambda request: Answer(200, b"ok")
    address = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#alerts"
    for form in ("text", "markdown"):
        AppriseSink(address, format=form).send(  # type: ignore[arg-type]
            group(alert(segment="city=A&B <!channel> <@U123>"))
        )
    assert len(receiver.requests) == 2
    for request in receiver.requests:
        said = json.dumps(json.loads(request.body), ensure_ascii=False)
        assert "<!channel>" not in said
        assert "<@U123>" not in said
        assert "A&B" not in said
        assert "A&amp;B" in said
        assert "A&amp;amp;B" not in said


def test_a_single_message_is_taken_as_well(mail: tuple[Mailbox, str], mailbox: Mailbox) -> None:
    AppriseSink(mail[1]).send(outgoing(alert(), destination="alerts:oncall"))
    assert len(mailbox.got) == 1


def test_what_is_told_with_another_is_not_sent(receiver: HttpReceiver) -> None:
    message = replace(group(alert()), payload=sent_in_group("card-fraud/1"))
    AppriseSink(f"json://127.0.0.1:{receiver.port}/x").send(message)
    WebhookSink(receiver.address, allow_private=True).send(message)
    assert receiver.requests == []


def test_a_service_that_tells_its_address_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    from apprise.plugins.custom_json import NotifyJSON

    def send(self: NotifyJSON, *_: object, **__: object) -> bool:
        self.logger.warning("no answer from %s", self.url())
        return False

    monkeypatch.setattr(NotifyJSON, "send", send)
    address = "json://localhost/kanarienvogel"
    sink = AppriseSink(address, mask=Mask(hidden_parts(address, also_path=True)))
    with pytest.raises(DestinationDownError, match="no answer from") as caught:
        sink.send(group(alert()))
    assert "kanarienvogel" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["json://localhost", "mailtos://me:word@example.org", "ntfy://topic"]
)
def test_addresses_that_apprise_knows(address: str) -> None:
    check_apprise_address(address)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("slak://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "did you mean 'slack'"),
        ("https-x://token", "does not know: https-x"),
        ("slack://kanarienvogel", "is not a valid Apprise address of slack"),
        ("mailto://x?to=a@b.cd&name=x%0d%0aBcc:y@z.de", "line break"),
        ("mailto://x?to=a@b.cd&name=x%250aBcc:y@z.de", "line break"),
    ],
)
def test_addresses_that_it_would_not_send_to(address: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        check_apprise_address(address)
    assert "kanarienvogel" not in str(caught.value)
