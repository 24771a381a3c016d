"""Groups alerts decided at the same time into one message, so that people read one, not thirty."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError

__all__ = ["AlertGroup", "is_told_elsewhere", "told_elsewhere"]

_TOLD_WITH = "told_with"


def told_elsewhere(key: str) -> dict[str, Any]:
    """Outbox payload of an alert that is sent within the group message of the given key.

    Every alert has a message of its own key for each destination, sent by itself or not: by it is
    known who was told of its beginning, and so who is to be told of its end. An empty key stands
    for none, where a destination does not want to be told of such events.
    """
    return {_TOLD_WITH: key}


def is_told_elsewhere(payload: Mapping[str, Any]) -> bool:
    """Whether a payload is that of an alert sent within a group message: nothing is sent for it."""
    return _TOLD_WITH in payload


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertGroup:
    """Alerts of one monitor that were decided at the same time.

    Receivers that group by themselves (webhooks that keep records, Alertmanager) get the messages
    one by one and never a group.

    Attributes
    ----------
    alerts : tuple of AlertMessage
        One or more, all of one monitor.
    """

    alerts: tuple[AlertMessage, ...]

    def __post_init__(self) -> None:
        if len({alert.transition.monitor for alert in self.alerts}) != 1:
            msg = "a group has messages of exactly one monitor"
            raise ValueError(msg)

    @property
    def lane(self) -> str:
        """Lane of the outbox: messages about one monitor arrive in order."""
        return self.alerts[0].transition.monitor

    @property
    def key(self) -> str:
        """Key of the group, independent of the order of its messages."""
        if len(self.alerts) == 1:
            return self.alerts[0].key
        members = "\n".join(sorted(alert.key for alert in self.alerts))
        return f"{self.lane}/{hashlib.sha256(members.encode()).hexdigest()[:32]}"

    def to_payload(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"alerts": [alert.to_payload() for alert in self.alerts]}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> AlertGroup:
        """Read `to_payload`'s values, or those of a single message.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be.
        """
        given = payload.get("alerts", [payload])
        if not isinstance(given, list) or not given:
            msg = "a group of alerts has none"
            raise MessageRefusedError(msg, for_good=True)
        try:
            return cls(alerts=tuple(AlertMessage.from_payload(one) for one in given))
        except ValueError as error:
            raise MessageRefusedError(str(error), for_good=True) from None
