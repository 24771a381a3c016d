"""Which windows of a monitor are due: those with predictions, and the first ones without."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.standings import Standing
from pumonitor.ports import Window
from pumonitor.text import moment_text, percent_text, window_text

_LATE_START: Final = 0.05
"""Share of a window before its first prediction, or after its last, that leaves it whole."""


def empty_windows(monitor: Monitor) -> int:
    """Number of empty windows to evaluate after the last prediction: as many as a rule needs.

    Further empty windows would add nothing.
    """
    return max([1, *(rule.empty_windows for rule in monitor.rules)])


def end_of_windows(monitor: Monitor, last: datetime) -> datetime:
    """End of the last window that is due while `last` is the last prediction."""
    window = monitor.windows.containing(last)
    for _ in range(empty_windows(monitor)):
        window = monitor.windows.next(window)
    return window.end


def due_windows(
    monitor: Monitor, first: datetime, last: datetime, *, now: datetime
) -> list[Window]:
    """Ended windows, from the one with the first prediction to a few after the last.

    Parameters
    ----------
    monitor : Monitor
    first, last : datetime
        Of the predictions.
    now : datetime
    """
    start = monitor.windows.containing(first).start
    end = min(now, end_of_windows(monitor, last))
    if end <= start:
        return []
    return [window for window in monitor.windows.between(start, end) if window.end <= now]


def have_stopped(monitor: Monitor, last: datetime, *, now: datetime) -> bool:
    """Whether no further window is due until there are new predictions."""
    return end_of_windows(monitor, last) <= now


def partial_beginning(monitor: Monitor, first: datetime) -> str:
    """Warning if predictions begin in the middle of the first window; else ""."""
    window = monitor.windows.containing(first)
    length, late = window.end - window.start, first - window.start
    if late <= max(_LATE_START * length, timedelta(minutes=5)):
        return ""
    return (
        f"the first window, {window_text(window.start, window.end)}, is "
        f"incomplete: predictions begin at {moment_text(first)}, when "
        f"{percent_text(late / length)} of it had passed. Its row counts cannot be compared with "
        "those of other windows, and a reference should begin later"
    )


def beginning_of(monitor: Monitor, standing: Standing | None) -> str:
    """`partial_beginning` for the first prediction that the last round found."""
    first = None if standing is None else standing.first_prediction
    return "" if first is None else partial_beginning(monitor, first)


def partial_end(monitor: Monitor, last: datetime, *, now: datetime) -> str:
    """Warning if predictions end in the middle of the last window; else "".

    "" if that window has not ended.
    """
    window = monitor.windows.containing(last)
    length, early = window.end - window.start, window.end - last
    if window.end > now or early <= max(_LATE_START * length, timedelta(minutes=5)):
        return ""
    return (
        f"the last window with predictions, "
        f"{window_text(window.start, window.end)}, is incomplete: predictions end at "
        f"{moment_text(last)}, when {percent_text((last - window.start) / length)} of it had "
        "passed. It is evaluated like a complete one, but its row counts cannot be compared with "
        "those of other windows"
    )


def end_of(monitor: Monitor, standing: Standing | None, *, now: datetime) -> str:
    """`partial_end` for the last prediction that the last round found."""
    last = None if standing is None else standing.last_prediction
    return "" if last is None else partial_end(monitor, last, now=now)
