"""Notes on alerts that fire and for which no notification was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pumonitor.monitor.rules.alerts.alert import Alert


def unsent_notes(unnotified: Iterable[Alert]) -> list[tuple[str, str]]:
    """One note for each monitor: the number of such alerts, and how to get the notification."""
    return [
        (
            f"{monitor}: {count} alert{' fires' if count == 1 else 's fire'} without a "
            "notification, because none is sent when an alert begins in a backfill or in a window "
            "of long ago",
            f"pumonitor alerts list {monitor} --firing lists them; if the alert still fires then, "
            "pumonitor run sends one with the next recent window or as a reminder",
        )
        for monitor, count in Counter(one.monitor for one in unnotified).items()
    ]
