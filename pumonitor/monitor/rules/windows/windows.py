"""Windows: consecutive stretches of time, without gaps, in the monitor's time zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pumonitor.errors import InputError, did_you_mean, shortened
from pumonitor.ports import Window

_UNITS: Final = ("h", "d", "w", "mo")
_LENGTH: Final = re.compile(rf"(\d{{1,18}})({'|'.join(_UNITS)})")
_HOUR: Final = timedelta(hours=1)
_SECOND: Final = timedelta(seconds=1)
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 (a time on the clocks of a zone)
_FIRST_MONDAY: Final = datetime(1969, 12, 29)  # noqa: DTZ001
_FORM: Final = "a whole number of h, d, w or mo, such as 1h, 6h, 1d, 1w or 1mo"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowGrid:
    """All windows of one length in one time zone, from 1970 on.

    Windows of days, weeks, months and several hours begin at local times: days at midnight, weeks
    on Monday, months on the 1st. When clocks change, a day has 23 or 25 hours, and a window of
    several hours is an hour shorter or longer. Windows of one hour always last one hour, so such a
    day has 23 or 25 of them.

    Attributes
    ----------
    every : str
        Length: a whole number and h, d, w or mo. Whole weeks given in days begin on Monday too.
    zone : str
        Name in the IANA time zone database.

    Raises
    ------
    InputError
        If the length or the zone cannot be read.

    Notes
    -----
    Window 0 begins on 1 January 1970 local time; for whole weeks on 29 December 1969. Window 0 of
    one-hour windows contains the begin of 1970 in UTC. A local time that occurs twice means its
    first occurrence; one that is skipped means the moment at which clocks were put forward. The
    number of a day that a zone skipped (Samoa, 30 December 2011) is not used.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> grid = WindowGrid(every="1d", zone="Europe/Berlin")
    >>> window = grid.containing(datetime(2026, 3, 29, 12, tzinfo=UTC))
    >>> print(window.start, window.end - window.start)
    2026-03-28 23:00:00+00:00 23:00:00
    >>> grid.next(window).index - window.index
    1
    """

    every: str = "1d"
    zone: str = "UTC"
    _count: int = field(init=False, repr=False)
    _unit: str = field(init=False, repr=False)
    _zone: ZoneInfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        count, unit = _read_length(self.every)
        object.__setattr__(self, "_count", count)
        object.__setattr__(self, "_unit", unit)
        object.__setattr__(self, "_zone", _read_zone(self.zone))

    def containing(self, moment: datetime) -> Window:
        """The window that contains a moment.

        Raises
        ------
        ValueError
            If the moment has no zone.
        """
        index = self._near(_in_utc(moment, name="moment"))
        while moment < self._start(index):
            index -= 1
        while moment >= self._start(index + 1):
            index += 1
        return self._window(index)

    def between(self, start: datetime, end: datetime) -> Iterator[Window]:
        """Whole windows, in order, that cover the half-open range from `start` to `end`.

        Raises
        ------
        InputError
            If `end` is before `start`.
        ValueError
            If either has no zone.

        Examples
        --------
        >>> from datetime import datetime, UTC
        >>> first, after = datetime(2026, 1, 31, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
        >>> [f"{window.start:%b}" for window in WindowGrid(every="1mo").between(first, after)]
        ['Jan', 'Feb']
        """
        start, end = _in_utc(start, name="start"), _in_utc(end, name="end")
        if end < start:
            msg = f"end must not be before start, got start={start} and end={end}: swap them"
            raise InputError(msg)
        return takewhile(lambda window: window.start < end, self._from(start, end))

    def next(self, window: Window) -> Window:
        """The window after one."""
        return self.containing(window.end)

    def previous(self, window: Window) -> Window:
        """The window before one."""
        return self.containing(window.start - timedelta.resolution)

    def _from(self, start: datetime, end: datetime) -> Iterator[Window]:
        if start == end:
            return
        window = self.containing(start)
        while True:
            yield window
            window = self.next(window)

    def _window(self, index: int) -> Window:
        return Window(start=self._start(index), end=self._start(index + 1), index=index)

    def _start(self, index: int) -> datetime:
        if self._unit == "real hour":
            return _EPOCH.replace(tzinfo=UTC) + index * _HOUR - self._phase
        if self._unit == "mo":
            years, month = divmod(index * self._count, 12)
            local = _EPOCH.replace(year=1970 + years, month=month + 1)
        else:
            local = self._origin + index * self._step
        return self._moment(local)

    def _moment(self, local: datetime) -> datetime:
        """UTC moment at which a local time first occurs, or at which it is skipped."""
        moment = local.replace(tzinfo=self._zone).astimezone(UTC)
        if moment.astimezone(self._zone).replace(tzinfo=None) == local:
            return moment
        # A skipped time maps to after the change when read with the old offset, and to before it
        # when read with the new one. Every skipped time becomes the moment of the change, found by
        # bisection; otherwise windows would be out of order when a whole day is skipped.
        before, after = local.replace(tzinfo=self._zone, fold=1).astimezone(UTC), moment
        changed = after.astimezone(self._zone).utcoffset()
        while after - before > _SECOND:
            middle = before + _SECOND * ((after - before) // _SECOND // 2)
            if middle.astimezone(self._zone).utcoffset() == changed:
                after = middle
            else:
                before = middle
        return after

    def _near(self, moment: datetime) -> int:
        """Number of the window that contains the moment; one off near a clock change."""
        if self._unit == "real hour":
            return (moment + self._phase - _EPOCH.replace(tzinfo=UTC)) // _HOUR
        local = moment.astimezone(self._zone).replace(tzinfo=None)
        if self._unit == "mo":
            return (12 * (local.year - 1970) + local.month - 1) // self._count
        return (local - self._origin) // self._step

    @property
    def _step(self) -> timedelta:
        return self._count * (_HOUR if self._unit == "h" else timedelta(days=1))

    @property
    def _origin(self) -> datetime:
        whole_weeks = self._unit == "d" and self._count % 7 == 0
        return _FIRST_MONDAY if whole_weeks else _EPOCH

    @property
    def _phase(self) -> timedelta:
        """By how much the zone's full hours come before those of UTC."""
        offset = self._zone.utcoffset(_EPOCH.replace(year=2000))
        return (offset or timedelta()) % _HOUR


def _read_length(every: object) -> tuple[int, str]:
    found = _LENGTH.fullmatch(every.strip()) if isinstance(every, str) else None
    if found is None:
        got = shortened(every) if isinstance(every, str) else every
        msg = f"a window's length must be {_FORM}, got {got!r}{_hint(str(got).strip())}"
        raise InputError(msg)
    count, unit = int(found[1]), found[2]
    if count == 0:
        msg = f"a window's length must be above 0, got {every!r}"
        raise InputError(msg)
    if unit == "w":
        return 7 * count, "d"
    return count, "real hour" if (count, unit) == (1, "h") else unit


def _hint(every: str) -> str:
    """The end of the message about an invalid length: a suggestion, or ""."""
    found = re.fullmatch(r"(-?)(\d{,18}) *([a-zA-Z]+)", every)
    if found is None:
        return ""
    if found[1]:
        return ": a window cannot end before it starts"
    count, unit = int(found[2] or 1), found[3]
    if unit in ("m", "min", "s"):
        return "; write mo for months, and no window is shorter than an hour"
    months = {"q": 3, "y": 12}.get(unit[0].lower())
    meant = "mo" if months or unit[0] in "mM" else unit[0].lower()
    return f"; did you mean {count * (months or 1)}{meant}?" if meant in _UNITS else ""


def _read_zone(zone: str) -> ZoneInfo:
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError):
        hint = did_you_mean(str(zone), sorted(available_timezones()))
        msg = f"no time zone {zone!r}{hint or ': give a name such as UTC or Europe/Berlin'}"
        raise InputError(msg) from None


def _in_utc(moment: datetime, *, name: str) -> datetime:
    if moment.tzinfo is None:
        msg = f"{name} must have a time zone, got {moment}"
        raise ValueError(msg)
    return moment.astimezone(UTC)
