"""Several windows in one query: which of them a time is in, and what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.time_columns import chosen_by_edges, microseconds

UNREAD: Final = -1
"""Place of rows whose time cannot be read: they are of no window, or of any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWindow:
    """A window among several that are counted by one query.

    Attributes
    ----------
    start, end : datetime
    as_of : tuple of datetime
        Ascending moments.
    """

    start: datetime
    end: datetime
    as_of: tuple[datetime, ...]


def place_of(time: str, windows: Sequence[CountedWindow], dialect: Dialect) -> str:
    """SQL of the place of the window that microseconds are in; null between windows.

    Windows may be of any length and lie anywhere, in order and without overlap: bounds in a zone
    whose clocks change make days of 23 and of 25 hours. Of those of one length, without a gap, the
    place is a quotient: Java does not compile the many comparisons that it takes elsewhere.
    """
    first, last = microseconds(windows[0].start), microseconds(windows[-1].end)
    length = microseconds(windows[0].end) - first
    if all(
        microseconds(window.start) == first + number * length
        and microseconds(window.end) == first + (number + 1) * length
        for number, window in enumerate(windows)
    ):
        quotient = dialect.divided(f"({time} - {first})", length)
        return f"CASE WHEN {time} >= {first} AND {time} < {last} THEN {quotient} END"
    pieces: list[tuple[int, str]] = []
    for place, window in enumerate(windows):
        start, end = microseconds(window.start), microseconds(window.end)
        if not pieces or pieces[-1][0] < start:
            pieces.append((start, "NULL"))
        pieces.append((end, str(place)))
    return chosen_by_edges(time, pieces, "NULL")


def stretches(windows: Sequence[CountedWindow]) -> list[tuple[datetime, datetime]]:
    """Stretches of time that the windows cover, those that touch as one."""
    found: list[tuple[datetime, datetime]] = []
    for window in windows:
        if found and found[-1][1] == window.start:
            found[-1] = (found[-1][0], window.end)
        else:
            found.append((window.start, window.end))
    return found


def moment(number: int, windows: Sequence[CountedWindow]) -> str:
    """SQL of the microseconds of a moment of each window, by its place.

    Where a window has fewer moments its last one stands again: the label state there is the same.
    """
    return _by_place([window.as_of[min(number, len(window.as_of) - 1)] for window in windows])


def last_moment(windows: Sequence[CountedWindow]) -> str:
    """SQL of the microseconds of the last moment of each window."""
    return _by_place([window.as_of[-1] for window in windows])


def _by_place(moments: Sequence[datetime]) -> str:
    counts = [microseconds(one) for one in moments]
    step = counts[1] - counts[0] if len(counts) > 1 else 0
    if all(later - earlier == step for earlier, later in pairwise(counts)):
        return f"({counts[0]} + {step} * place)" if step else str(counts[0])
    pieces = [
        (place, str(counts[place - 1]))
        for place in range(1, len(counts))
        if counts[place] != counts[place - 1]
    ]
    return chosen_by_edges("place", pieces, str(counts[-1]))
