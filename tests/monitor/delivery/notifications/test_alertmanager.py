"""A real Alertmanager: alerts begin, last, end, and are there again after it was restarted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.delivery.notifications.alertmanager import (
    AlertmanagerSink,
    alert_document,
    labels,
)
from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from tests.monitor.delivery.notifications.alerts import DAY, alert, outgoing
from tests.monitor.delivery.notifications.conftest import NOW, Clock
from tests.monitor.delivery.notifications.receivers import (
    ALERTMANAGER,
    Alertmanager,
    Answer,
    HttpReceiver,
    http_receiver,
    wait_for,
)

needs_alertmanager = pytest.mark.skipif(
    ALERTMANAGER is None, reason="no Alertmanager here: apt-get install prometheus-alertmanager"
)


@pytest.fixture(scope="module")
def pager() -> Iterator[HttpReceiver]:
    """What Alertmanager tells."""
    with http_receiver() as one:
        yield one


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, pager: HttpReceiver
) -> Iterator[Alertmanager]:
    one = Alertmanager(tmp_path_factory.mktemp("alertmanager"), f"{pager.address}/page")
    one.start()
    yield one
    one.stop()


def told(pager: HttpReceiver, monitor: str) -> list[tuple[str, str]]:
    """Status and summary of what was told of a monitor, in order."""
    return [
        (one["status"], one["annotations"]["summary"])
        for document in pager.documents
        for one in document["alerts"]
        if one["labels"]["monitor"] == monitor
    ]


def held(running: Alertmanager, monitor: str) -> list[dict[str, Any]]:
    return [one for one in running.alerts() if one["labels"]["monitor"] == monitor]


@needs_alertmanager
def test_an_alert_begins_lasts_and_ends(running: Alertmanager, pager: HttpReceiver) -> None:
    sink = AlertmanagerSink(running.address)
    links = {"mlflow": "https://mlflow.example/#/runs/0f1e"}
    sink.send(outgoing(alert(monitor="one", links=links)))
    wait_for(lambda: told(pager, "one"))
    (found,) = held(running, "one")
    assert found["labels"] == {
        "alertname": "PumonitorAlert",
        "monitor": "one",
        "rule": "5f0c5f0c5f0c5f0c",
        "metric": "f1",
        "severity": "critical",
        "model_version": "7",
    }
    assert found["annotations"] == {
        "summary": "[critical] one, version 7: F1 below 0.75",
        "description": "F1 is 0.70 (0.66 to 0.73), below 0.75 for 2 windows.",
        "runbook_url": "https://example.org/runbooks/f1",
        "cause": "The ranking got worse.",
        "next_steps": "Look at what changed when it began. Mend or roll back what changed at that "
        "time, if something did. Otherwise let an audit decide between the causes. Wait with "
        "retraining and with a new threshold until the cause is known.",
        "incident": alert(monitor="one").transition.dedup_key,
        "mlflow_url": links["mlflow"],
    }
    left = datetime.fromisoformat(found["endsAt"]) - datetime.now(UTC)
    assert timedelta(days=6) < left < timedelta(days=8), "not the second of its resolve_timeout"

    sink.send(outgoing(alert(5, monitor="one", kind="reminder", reminder=1)))
    (again,) = held(running, "one")
    assert again["fingerprint"] == found["fingerprint"]
    assert again["startsAt"] == found["startsAt"]

    sink.send(outgoing(alert(9, monitor="one", kind="resolved", reason="good")))
    wait_for(lambda: told(pager, "one")[-1][0] == "resolved")
    assert held(running, "one") == []
    assert told(pager, "one")[0] == ("firing", "[critical] one, version 7: F1 below 0.75")

    sink.send(outgoing(alert(12, monitor="one", incident=2, firing_since=None)))
    assert len(held(running, "one")) == 1


@needs_alertmanager
def test_segments_versions_and_severities_are_alerts_of_their_own(running: Alertmanager) -> None:
    sink = AlertmanagerSink(running.address)
    of_many: list[dict[str, Any]] = [
        {},
        {"segment": "country=DE"},
        {"segment": 'city="São Paulo"\n{}'},
        {"model_version": ""},
        {"severity": "warning"},
        {"rule_key": "other"},
        {"metric": "health:no_data", "value": None, "low": None, "high": None, "limit_value": None},
    ]
    for others in of_many:
        sink.send(outgoing(alert(monitor="many", **others)))
    assert len(held(running, "many")) == len(of_many)
    sink.send(outgoing(alert(3, monitor="many", segment="country=DE", kind="resolved")))
    assert len(held(running, "many")) == len(of_many) - 1


@needs_alertmanager
def test_after_a_restart_it_learns_anew_what_is_on(tmp_path: Path, pager: HttpReceiver) -> None:
    one = Alertmanager(tmp_path, f"{pager.address}/page")
    on = [alert(monitor="again", segment=f"country={number}") for number in range(150)]
    try:
        one.start()
        sink = AlertmanagerSink(one.address)
        sink.send(outgoing(on[0]))
        one.stop()
        with pytest.raises(DestinationDownError, match="Alertmanager cannot be reached"):
            sink.refresh(on)
        one.start()
        assert held(one, "again") == []
        sink.refresh(on)
        sink.refresh(on)
        assert len(held(one, "again")) == 150
    finally:
        one.stop()


@needs_alertmanager
def test_a_beginning_that_comes_after_the_end_is_put_right(running: Alertmanager) -> None:
    """Its sender was stopped for minutes while another one told the end."""
    sink = AlertmanagerSink(running.address)
    late = outgoing(alert(monitor="late"))
    over = alert(4, monitor="late", kind="resolved", reason="good")
    elsewhere = alert(monitor="late", model_version="8")
    sink.send(outgoing(elsewhere))
    sink.send(late)
    sink.send(outgoing(over))
    sink.send(late)
    assert len(held(running, "late")) == 2

    sink.refresh([elsewhere], [over])
    assert [one["labels"]["model_version"] for one in held(running, "late")] == ["8"]


@needs_alertmanager
def test_what_it_refuses_is_reported(running: Alertmanager, clock: Clock) -> None:
    elsewhere = AlertmanagerSink(f"{running.address}/elsewhere", clock=clock)
    with pytest.raises(MessageRefusedError, match="Alertmanager answers 404") as caught:
        elsewhere.send(outgoing(alert()))
    assert caught.value.for_good


# -- without one ------------------------------------------------------------------------------


def test_the_end_is_far_unless_it_is_the_end() -> None:
    def ends(**others: Any) -> timedelta:
        document = alert_document(alert(**others), now=NOW, life=timedelta(days=7))
        return datetime.fromisoformat(document["endsAt"]) - NOW

    assert ends() == timedelta(days=7)
    assert ends(kind="reminder", reminder=3) == timedelta(days=7)
    assert ends(window_end=alert().transition.window_start + 30 * DAY) == timedelta(days=90)
    assert ends(kind="resolved") == timedelta()


def test_labels_are_the_same_from_beginning_to_end() -> None:
    other: dict[str, Any] = {"rule": "renamed", "runbook": "", "cause": {}, "sentence": "Over."}
    messages = [
        alert(),
        alert(3, kind="reminder", reminder=1, late=True, value=None, **other),
        alert(9, kind="resolved", reason="configuration", **other),
        alert(20, incident=2, **other),
    ]
    assert len({tuple(labels(one.transition).items()) for one in messages}) == 1


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"<html>", b'[{"labels": 1}]', b"x" * 2_000_000])
def test_what_is_no_alertmanager_is_noticed(
    receiver: HttpReceiver, clock: Clock, body: bytes
) -> None:
    receiver.react = lambda request: Answer(200, body if request.method == "GET" else b"")
    over: list[AlertMessage] = [alert(kind="resolved")]
    sink = AlertmanagerSink(receiver.address, clock=clock)
    with pytest.raises(DestinationDownError, match="Alertmanager answers"):
        sink.refresh([], over)


def test_a_private_address_can_be_forbidden(receiver: HttpReceiver, clock: Clock) -> None:
    with pytest.raises(DestinationDownError, match="allow_private"):
        AlertmanagerSink(receiver.address, allow_private=False, clock=clock).send(outgoing(alert()))
    assert receiver.requests == []
