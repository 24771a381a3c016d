"""What destinations are sent about a promotion and its undo."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from markdown import markdown

from pumonitor.monitor.delivery.notifications.alertmanager import AlertmanagerSink
from pumonitor.monitor.delivery.notifications.apprise import AppriseSink
from pumonitor.monitor.delivery.notifications.message import Format
from pumonitor.monitor.delivery.notifications.promotion_message import PromotionMessage
from pumonitor.monitor.delivery.notifications.promotion_words import (
    promotion_body,
    promotion_sentence,
    promotion_title,
)
from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.ledger.records.promotions import Evidence
from tests.monitor.delivery.notifications.receivers import HttpReceiver

AT = datetime(2026, 4, 1, 6, 30, tzinfo=UTC)
EVIDENCE = Evidence(
    metric="recall", difference=0.0312, low=0.012, high=0.05, confidence_level=0.95, labels=1412,
    windows=12, first_window=datetime(2026, 1, 5, tzinfo=UTC),
    last_window=datetime(2026, 3, 23, tzinfo=UTC), verdict="better", evaluation="5f0c77aa",
)  # fmt: skip
PROMOTED = PromotionMessage(
    number=3, action="promote", monitor="card-fraud", model="fraud-model", alias="champion",
    from_version="7", to_version="9", actor="ana", begun_at=AT, at=AT, evidence=EVIDENCE,
    links={"page": "https://pages.example/m/card-fraud"},
)  # fmt: skip


def changed(view: Any, **values: Any) -> Any:
    return type(view).model_validate(view.model_dump() | values)


UNDONE = changed(PROMOTED, number=4, action="undo", from_version="9", to_version="7", evidence=None)


def outgoing(one: PromotionMessage) -> OutboxMessage:
    return OutboxMessage(
        id=1, destination="alerts:hook", lane=one.lane, key=one.key, payload=one.to_payload()
    )


def test_a_promotion_by_an_audit_says_how_many_cases_were_reviewed() -> None:
    found = changed(EVIDENCE, metric="precision", labels=200, windows=1)
    said = promotion_body(changed(PROMOTED, evidence=found), "text").splitlines()
    assert said[5:7] == ["Cases reviewed: 200", "Audits between the two models: 1"]
    assert not any("onfirmed" in line for line in said)


def test_a_promotion_says_which_version_in_place_of_which_and_why() -> None:
    title = "[promoted] card-fraud: version 9 of model fraud-model is champion"
    assert promotion_title(PROMOTED) == title
    assert promotion_sentence(PROMOTED) == (
        "ana made version 9 of model fraud-model champion, in place of version 7: its Recall "
        "differs by +0.0312 (+0.0120 to +0.0500)."
    )
    assert promotion_body(PROMOTED, "text").splitlines()[1:] == [
        "Model: fraud-model",
        "New champion: version 9",
        "Before: version 7",
        "Difference in Recall: +0.0312 (+0.0120 to +0.0500), interval of 95%",
        "Confirmed positives compared: 1,412",
        "Windows compared: 12, from that of 2026-01-05 00:00 UTC to that of 2026-03-23 00:00 UTC",
        "Evaluation: 5f0c77aa",
        "By: ana",
        "At: 2026-04-01 06:30 UTC",
        "Page of this monitor: https://pages.example/m/card-fraud",
    ]


def test_a_first_champion_is_in_nobodys_place() -> None:
    first = changed(PROMOTED, from_version=None, evidence=changed(EVIDENCE, low=-0.001))
    assert "in place" not in promotion_sentence(first)
    assert "(-0.00100 to +0.0500)" in promotion_sentence(first)
    assert "Before: none" in promotion_body(first, "text")


def test_an_undo_says_which_version_is_back() -> None:
    title = "[promotion undone] card-fraud: version 7 of model fraud-model is champion again"
    assert promotion_title(UNDONE) == title
    assert promotion_sentence(UNDONE) == (
        "Version 7 of model fraud-model is champion again, in place of version 9: ana undid the "
        "last promotion."
    )
    assert "Difference" not in promotion_body(UNDONE, "text")


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_what_people_name_is_never_markup(format: Format) -> None:  # noqa: A002
    evil = changed(PROMOTED, actor="@all <b>*x*</b>\r\nBcc: y", model="<i>m</i>")
    body = promotion_body(evil, format)
    shown = markdown(body) if format == "markdown" else body
    if format != "text":
        assert not {"<b>", "<i>", "<em>"} & {f"<{part.split('>')[0]}>" for part in shown.split("<")}
    assert "@all" not in shown
    assert promotion_title(evil).isprintable()


def test_a_webhook_gets_it_as_an_event_of_its_own(receiver: HttpReceiver) -> None:
    sink = WebhookSink(f"{receiver.address}/in", allow_private=True)
    for one in (PROMOTED, PROMOTED, UNDONE):
        sink.send(outgoing(one))
    first, again, undone = receiver.documents
    assert first == again
    assert receiver.ids[0] == receiver.ids[1] != receiver.ids[2]
    assert (first["type"], undone["type"]) == ("model.promoted", "model.promotion_undone")
    assert first["timestamp"] == AT.isoformat()
    data = first["data"]
    assert data["evidence"] == EVIDENCE.to_dict()
    assert (data["model"], data["from_version"], data["to_version"]) == ("fraud-model", "7", "9")
    assert (data["kind"], data["action"], data["promotion"]) == ("promoted", "promote", 3)
    assert data["title"] == promotion_title(PROMOTED)
    assert undone["data"]["evidence"] is None


def test_chat_gets_a_title_and_a_body(receiver: HttpReceiver) -> None:
    sink = AppriseSink(f"json://127.0.0.1:{receiver.port}", format="text")
    sink.send(outgoing(PROMOTED))
    [document] = receiver.documents
    assert document["title"] == promotion_title(PROMOTED)
    assert document["message"] == promotion_body(PROMOTED, "text")
    assert document["type"] == "info"


def test_alertmanager_is_sent_nothing(receiver: HttpReceiver) -> None:
    AlertmanagerSink(receiver.address).send(outgoing(PROMOTED))
    assert receiver.requests == []


@pytest.mark.parametrize(
    "wrong",
    [{"to_version": None}, {"at": "soon"}, {"evidence": {"metric": "recall"}}, {"more": 1}],
)
def test_what_cannot_be_read_is_set_aside_at_once(wrong: dict[str, Any]) -> None:
    payload = {**PROMOTED.to_payload(), **wrong}
    if wrong == {"to_version": None}:
        del payload["to_version"]
    with pytest.raises(MessageRefusedError, match="message about a promotion cannot") as caught:
        PromotionMessage.from_payload(payload)
    assert caught.value.for_good


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"high": float("nan")}, "must be finite"),
        ({"low": 0.2}, "low <= high"),
        ({"confidence_level": 95}, "0 < it < 1, got 95"),
        ({"first_window": datetime(2026, 1, 5)}, "must have a zone"),  # noqa: DTZ001
    ],
)
def test_evidence_that_is_none_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        changed(EVIDENCE, **wrong)
    assert changed(EVIDENCE, labels=1413).digest != EVIDENCE.digest
