"""A period as people name it: a year, a quarter, a month, a day, or from one date to another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from pumonitor.errors import InputError, shortened

_MONTH = re.compile(r"(\d{4})-(\d\d)")
_QUARTER = re.compile(r"(\d{4})-[Qq]([1-4])")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"\d{4}")
_FORMS: Final = "2026-03, 2026-03-01, 2026-Q1, 2026 or 2026-01-01..2026-02-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPeriod:
    """Windows that start in [start, end).

    Attributes
    ----------
    name : str
        As it is written on the report.
    start, end : datetime
        In UTC.
    """

    name: str
    start: datetime
    end: datetime


def read_period(text: str, *, zone: str) -> NamedPeriod:
    """Read a period, which begins and ends at midnight of the zone unless it has times.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> march = read_period("2026-03", zone="Europe/Berlin")
    >>> march.start.isoformat(), march.end.isoformat()
    ('2026-02-28T23:00:00+00:00', '2026-03-31T22:00:00+00:00')
    >>> read_period("2026-Q4", zone="UTC").end.isoformat()
    '2027-01-01T00:00:00+00:00'
    """
    given = text.strip()
    if found := _MONTH.fullmatch(given):
        return _months(given, int(found[1]), int(found[2]), 1, zone)
    if found := _QUARTER.fullmatch(given):
        return _months(given.upper(), int(found[1]), 3 * int(found[2]) - 2, 3, zone)
    if _YEAR.fullmatch(given):
        return _months(given, int(given), 1, 12, zone)
    if _DAY.fullmatch(given):
        return _day(given, zone)
    first, dots, last = given.partition("..")
    if not dots:
        raise _unreadable(given)
    start, end = _moment(first, given, zone), _moment(last, given, zone)
    if end <= start:
        msg = (
            f"a period must end after it starts, got {shortened(given)}: the end is not part of it"
        )
        raise InputError(msg)
    return NamedPeriod(name=f"{first.strip()} to {last.strip()}", start=start, end=end)


def month_of(moment: datetime, *, zone: str) -> NamedPeriod:
    """The calendar month of a moment.

    Examples
    --------
    >>> month_of(datetime(2026, 2, 28, 23, tzinfo=UTC), zone="Europe/Berlin").name
    '2026-03'
    """
    there = moment.astimezone(ZoneInfo(zone))
    return _months(f"{there:%Y-%m}", there.year, there.month, 1, zone)


def _day(name: str, zone: str) -> NamedPeriod:
    try:
        # The day after on the zone's clock: some days have 23 hours.
        after = str(date.fromisoformat(name) + timedelta(days=1))
    except (ValueError, OverflowError):
        raise _unreadable(name) from None
    return NamedPeriod(name=name, start=_moment(name, name, zone), end=_moment(after, name, zone))


def _months(name: str, year: int, month: int, many: int, zone: str) -> NamedPeriod:
    after = 12 * year + month - 1 + many
    try:
        start, end = (
            datetime(*of, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)
            for of in ((year, month), (after // 12, after % 12 + 1))
        )
    except (ValueError, OverflowError):
        raise _unreadable(name) from None
    return NamedPeriod(name=name, start=start, end=end)


def _moment(text: str, given: str, zone: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
        there = found if found.tzinfo else found.replace(tzinfo=ZoneInfo(zone))
        return there.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _unreadable(given) from None


def _unreadable(given: str) -> InputError:
    return InputError(f"a period is written as {_FORMS}, got {shortened(given)!r}")
