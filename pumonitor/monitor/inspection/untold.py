"""What is said of alerts that fire and that nobody was told of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pumonitor.monitor.rules.alerts.alert import Alert

__all__ = ["untold_notes"]


def untold_notes(untold: Iterable[Alert]) -> list[tuple[str, str]]:
    """For each monitor what is so, and how to be told."""
    return [
        (
            f"{monitor}: {count} alert{' fires' if count == 1 else 's fire'} that nobody was told "
            "of: of what begins in a backfill, or long ago, nobody is",
            f"pumonitor alerts list {monitor} --firing shows what; pumonitor run tells it with the "
            "next recent window or as a reminder, as long as it fires",
        )
        for monitor, count in Counter(one.monitor for one in untold).items()
    ]
