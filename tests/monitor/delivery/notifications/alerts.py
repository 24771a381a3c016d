"""Messages about alerts, as the ledger would make them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.rules.alerts.alert import Transition

DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, tzinfo=UTC)


def alert(day: int = 0, **others: Any) -> AlertMessage:
    """Others are fields of the transition or of the message."""
    values: dict[str, Any] = {
        "monitor": "card-fraud",
        "rule": "F1 below 0.75",
        "rule_key": "5f0c" * 16,
        "severity": "critical",
        "kind": "fired",
        "incident": 1,
        "model_version": "7",
        "segment": "",
        "window_start": FIRST + day * DAY,
        "window_end": FIRST + (day + 1) * DAY,
        "as_of": FIRST + (day + 31) * DAY,
        "metric": "f1",
        "value": 0.704,
        "low": 0.66,
        "high": 0.73,
        "limit_value": 0.75,
        "reference": 0.82,
        "sentence": "F1 is 0.70 (0.66 to 0.73), below 0.75 for 2 windows.",
        "cause": {"sentence": "The ranking got worse."},
        "firing_since": FIRST,
    }
    own = {"runbook": "https://example.org/runbooks/f1"}
    own |= {name: others.pop(name) for name in ("late", "runbook", "links") if name in others}
    return AlertMessage(transition=Transition(**{**values, **others}), number=day + 1, **own)


def ended(one: AlertMessage) -> AlertMessage:
    """The end of the incident that a message tells of."""
    return replace(one, transition=replace(one.transition, kind="resolved", reason="good"))


def outgoing(one: AlertMessage, destination: str = "alerts:hook") -> OutboxMessage:
    return OutboxMessage(
        id=1, destination=destination, lane=one.lane, key=one.key, payload=one.to_payload()
    )
