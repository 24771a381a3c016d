"""Group alerts of one transaction into one message, so that a reader gets one and not thirty."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError

_SENT_WITH = "told_with"


def sent_in_group(key: str) -> dict[str, Any]:
    """Outbox payload of an alert that is sent within the group message of the given key.

    Every alert has an outbox row with its own key for each destination, also if nothing is sent for
    it. These rows record which destinations were notified that an alert fired, and so where its
    resolution is sent. An empty key stands for no group: the destination does not want such events.
    """
    return {_SENT_WITH: key}


def is_sent_in_group(payload: Mapping[str, Any]) -> bool:
    """Whether a payload is that of an alert sent within a group message: nothing is sent for it."""
    return _SENT_WITH in payload


def group_of(payload: Mapping[str, Any]) -> str | None:
    """Key of the group message that an alert is sent within; None if it is sent by itself.

    "" if the destination does not want such events.
    """
    return payload.get(_SENT_WITH)


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
            msg = "the alerts of a group must be of one monitor"
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
            msg = "a group of alerts must not be empty"
            raise MessageRefusedError(msg, for_good=True)
        try:
            return cls(alerts=tuple(AlertMessage.from_payload(one) for one in given))
        except ValueError as error:
            raise MessageRefusedError(str(error), for_good=True) from None
