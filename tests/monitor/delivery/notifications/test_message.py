"""Payloads of messages: the same names and values whatever they are made of."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.ledger.database.schema import alert_states, alert_transitions
from pumonitor.monitor.ledger.records.alerts import StoredTransition
from pumonitor.monitor.rules.alerts.alert import Alert, Transition
from tests.monitor.delivery.notifications.alerts import alert

PAYLOAD = {
    "transition": 3,
    "monitor": "card-fraud",
    "rule": "F1 below 0.75",
    "rule_key": "5f0c" * 16,
    "severity": "critical",
    "kind": "reminder",
    "incident": 1,
    "model_version": "7",
    "segment": "country=DE",
    "window_start": "2026-03-03T00:00:00+00:00",
    "window_end": "2026-03-04T00:00:00+00:00",
    "as_of": "2026-04-03T00:00:00+00:00",
    "metric": "f1",
    "sentence": "F1 is 0.70 (0.66 to 0.73), below 0.75 for 2 windows.",
    "value": 0.704,
    "low": 0.66,
    "high": 0.73,
    "limit": 0.75,
    "reference": 0.82,
    "reason": "",
    "reminder": 2,
    "late": True,
    "cause": {"sentence": "The ranking got worse."},
    "onset": None,
    "runbook": "https://example.org/runbooks/f1",
    "links": {"mlflow": "https://mlflow.example/1"},
    "firing_since": "2026-03-01T00:00:00+00:00",
    "dedup_key": f"card-fraud/{'5f0c' * 16}/country=DE/7/1",
}


def message() -> AlertMessage:
    return alert(
        2,
        kind="reminder",
        reminder=2,
        segment="country=DE",
        late=True,
        links={"mlflow": "https://mlflow.example/1"},
    )


def test_a_payload_has_these_names_and_values() -> None:
    assert message().to_payload() == PAYLOAD
    assert alert(firing_since=None).to_payload()["firing_since"] is None


def test_a_payload_is_read_back_and_what_else_it_has_is_let_pass() -> None:
    assert AlertMessage.from_payload(PAYLOAD) == message()
    assert AlertMessage.from_payload({**PAYLOAD, "colour": "red"}) == message()
    assert AlertMessage.from_payload(alert(firing_since=None).to_payload()) == alert(
        firing_since=None
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"kind": "began"}, "'kind' must be one of fired, resolved, reminder, got 'began'"),
        ({"as_of": "2026-03-03"}, "'as_of' must be a time with its zone, got '2026-03-03'"),
        ({"firing_since": 1}, "'firing_since' must be a time with its zone, got 1"),
    ],
)
def test_a_payload_that_makes_no_sense_is_refused(
    changed: dict[str, object], expected: str
) -> None:
    with pytest.raises(MessageRefusedError, match=expected):
        AlertMessage.from_payload({**PAYLOAD, **changed})


def test_what_a_payload_lacks_is_named() -> None:
    lacking = {name: PAYLOAD[name] for name in PAYLOAD if name not in {"transition", "rule_key"}}
    with pytest.raises(MessageRefusedError, match=r"lacks transition, rule_key$"):
        AlertMessage.from_payload(lacking)


def test_records_of_alerts_are_the_columns_of_their_tables() -> None:
    of_the_store = {one.name for one in fields(StoredTransition)} - {"transition"}
    happened = {one.name for one in fields(Transition)}
    assert happened | of_the_store == set(alert_transitions.columns.keys())
    assert not happened & of_the_store
    assert {one.name for one in fields(Alert)} == set(alert_states.columns.keys())
