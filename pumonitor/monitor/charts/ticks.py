"""Where the lines of a grid stand: round values, and round moments in a time zone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_HOURS: Final = (1, 2, 3, 6, 12)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 3, 6, 12, 24, 60, 120)
_DAYS_OF_A_MONTH: Final = 30.4
_MONDAY: Final = datetime(2001, 1, 1)  # noqa: DTZ001 (a date of the calendar, in any zone)


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid and what it says.

    Attributes
    ----------
    at : float or datetime
    text : str
    """

    at: float | datetime
    text: str


def value_ticks(low: float, high: float, *, most: int = 5) -> list[Tick]:
    """Round values within [low, high], at steps of 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    low, high : float
        Finite, low < high.
    most : int
        Steps that there may be.

    Examples
    --------
    >>> [one.text for one in value_ticks(0.13, 0.58)]
    ['0.2', '0.3', '0.4', '0.5']
    >>> [one.text for one in value_ticks(-5, 1300)]
    ['0', '500', '1,000']
    """
    rough = (high - low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * one for one in (1, 2, 5, 10) if size * one >= rough * (1 - 1e-9))
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [Tick(step * one, f"{step * one:,.{decimals}f}") for one in range(first, last + 1)]


def moment_ticks(begin: datetime, end: datetime, zone: tzinfo, *, most: int = 8) -> list[Tick]:
    """Round hours, days, Mondays or months of a zone within [begin, end].

    Examples
    --------
    >>> from datetime import UTC
    >>> begin = datetime(2026, 1, 3, tzinfo=UTC)
    >>> [one.text for one in moment_ticks(begin, begin + timedelta(days=70), UTC)]
    ['2026-01-12', '2026-01-26', '2026-02-09', '2026-02-23', '2026-03-09']
    >>> [one.text for one in moment_ticks(begin, begin + timedelta(hours=9), UTC)][:3]
    ['2026-01-03 00:00', '02:00', '04:00']
    """
    span = end - begin
    local_begin, local_end = begin.astimezone(zone), end.astimezone(zone)
    for hours in _HOURS:
        if span / (hours * _HOUR) <= most:
            found = _every(local_begin, local_end, hours * _HOUR)
            return [_hour_tick(one, first=not place) for place, one in enumerate(found)]
    for days in _DAYS:
        if span / (days * _DAY) <= most:
            return [
                Tick(one, f"{one:%Y-%m-%d}") for one in _every(local_begin, local_end, days * _DAY)
            ]
    months = next(
        (one for one in _MONTHS if span / _DAY / (_DAYS_OF_A_MONTH * one) <= most), _MONTHS[-1]
    )
    found = _every_month(local_begin, local_end, months)
    return [Tick(one, f"{one:%Y-%m}" if months % 12 else f"{one:%Y}") for one in found]


def _hour_tick(moment: datetime, *, first: bool) -> Tick:
    says_day = first or moment.hour == 0
    return Tick(moment, f"{moment:%Y-%m-%d %H:%M}" if says_day else f"{moment:%H:%M}")


def _every(begin: datetime, end: datetime, step: timedelta) -> Iterator[datetime]:
    """By the clock on the wall: from midnights of Mondays on."""
    zone, wall = begin.tzinfo, begin.replace(tzinfo=None)
    moment = _MONDAY + math.ceil((wall - _MONDAY) / step) * step
    while (found := moment.replace(tzinfo=zone)) <= end:
        yield found
        moment += step


def _every_month(begin: datetime, end: datetime, months: int) -> Iterator[datetime]:
    number = begin.year * 12 + begin.month - 1
    number -= number % months
    while True:
        year, month = divmod(number, 12)
        found = datetime(year, month + 1, 1, tzinfo=begin.tzinfo)
        if found > end:
            return
        if found >= begin:
            yield found
        number += months
