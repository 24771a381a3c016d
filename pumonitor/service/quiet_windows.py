"""Windows of which it is agreed that nothing had changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pumonitor.ports import Window
from pumonitor.service.config import Monitor

__all__ = ["quiet_windows"]

_WITHOUT_REFERENCE: Final = 30


def quiet_windows(windows: Sequence[Window], monitor: Monitor) -> list[Window]:
    """Those of the reference, or else the first ones.

    Parameters
    ----------
    windows : sequence of Window
        In order of time.
    monitor : Monitor
    """
    if monitor.reference is None:
        return list(windows[:_WITHOUT_REFERENCE])
    start, end = monitor.reference.span(monitor.zone)
    return [one for one in windows if start <= one.start and one.end <= end]
