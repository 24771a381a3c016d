"""Find the destinations to which a round could not deliver."""

from __future__ import annotations

from collections.abc import Mapping

from pumonitor.monitor.delivery.notifications.message import outbox_destination
from pumonitor.monitor.delivery.sending.sender import Delivery
from pumonitor.monitor.ledger.outbox import Waiting

_ALERTS = outbox_destination("")


def undelivered(
    deliveries: Mapping[str, Delivery], waiting: Mapping[str, Waiting]
) -> tuple[str, ...]:
    """Destinations whose messages were not all delivered, so that trying again may help.

    A destination with an alert that still waits is always included. MLflow is included only if
    messages were refused or attempts failed, and not if messages wait because there are many or
    because another process sends them.

    Parameters
    ----------
    deliveries : mapping of str to Delivery
        Deliveries of the round, by destination.
    waiting : mapping of str to Waiting
        Messages that wait after the round.
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
