"""Find the destinations to which a round could not deliver."""

from __future__ import annotations

from collections.abc import Mapping

from pumonitor.monitor.delivery.notifications.message import outbox_destination
from pumonitor.monitor.delivery.sending.sender import Delivery
from pumonitor.monitor.ledger.outbox import Waiting

__all__ = ["undelivered"]

_ALERTS = outbox_destination("")


def undelivered(
    deliveries: Mapping[str, Delivery], waiting: Mapping[str, Waiting]
) -> tuple[str, ...]:
    """Destinations whose messages were not all delivered, so that trying again may help.

    An alert that still waits is one, for whatever reason. Points and reports for MLflow that wait
    because there are many, or because another process is sending them, are none: only those are
    that were refused, or tried in vain.

    Parameters
    ----------
    deliveries : mapping of str to Delivery
        Of the round, by destination.
    waiting : mapping of str to Waiting
        What waits after it.
    """
    return tuple(
        name
        for name, done in deliveries.items()
        if done.set_aside or _is_overdue(name, waiting.get(name))
    )


def _is_overdue(name: str, waiting: Waiting | None) -> bool:
    if waiting is None or not waiting.messages:
        return False
    return name.startswith(_ALERTS) or waiting.failed > 0
