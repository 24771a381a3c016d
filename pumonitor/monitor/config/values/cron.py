"""Cron expressions: five fields; 0 and 7 are Sunday; day of month or day of week may match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pumonitor.errors import shortened

# fmt: off
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun",
                  "jul", "aug", "sep", "oct", "nov", "dec")
# fmt: on
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MACROS: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """Range of a field, and names for its numbers."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS: Final = (
    _Field(name="minute", least=0, most=59),
    _Field(name="hour", least=0, most=23),
    _Field(name="day of the month", least=1, most=31),
    _Field(name="month", least=1, most=12, names=_MONTHS),
    _Field(name="day of the week", least=0, most=7, names=_WEEKDAYS),
)
_PART = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d{1,9}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A schedule of moments in UTC.

    Attributes
    ----------
    minutes, hours, days, months : frozenset of int
    weekdays : frozenset of int
        0 is Sunday.
    either_day : bool
        Whether a day is due if its day of the month or its weekday matches. As in cron, that is so
        when both fields are given.

    Examples
    --------
    >>> every_monday = read_cron("0 6 * * 1")
    >>> (trigger,) = every_monday.fields()
    >>> trigger["day_of_week"], trigger["hour"], trigger["minute"]
    ('mon', '6', '0')
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    def fields(self) -> tuple[dict[str, str], ...]:
        """Keyword arguments of one or two APScheduler CronTriggers that together are this schedule.

        APScheduler counts weekdays from Monday, so weekdays are given by name. It requires both
        kinds of day to match, so `either_day` becomes two triggers.
        """
        common = {
            "minute": _listed(self.minutes),
            "hour": _listed(self.hours),
            "month": _listed(self.months),
        }
        days = {"day": _listed(self.days)}
        weekdays = {"day_of_week": ",".join(_WEEKDAYS[day] for day in sorted(self.weekdays))}
        if self.either_day:
            return ({**common, **days}, {**common, **weekdays})
        return ({**common, **days, **weekdays},)

    def first_day(self, moment: datetime) -> datetime:
        """Begin of the first day from this moment's on, in UTC, on which it is due.

        Examples
        --------
        >>> from datetime import UTC
        >>> f"{read_cron('0 6 * * 1').first_day(datetime(2026, 1, 1, 12, tzinfo=UTC)):%a %d}"
        'Mon 05'
        """
        day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        while not self._is_due_on(day):
            day += timedelta(days=1)
        return day

    def _is_due_on(self, day: datetime) -> bool:
        matches = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return day.month in self.months and (any if self.either_day else all)(matches)


def _listed(numbers: frozenset[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


def read_cron(text: object) -> Cron:
    """Read a cron expression.

    Raises
    ------
    ValueError
        If it does not have five fields, a field is out of range, or no day ever matches.

    Examples
    --------
    >>> read_cron("0 0 31 2 *")
    Traceback (most recent call last):
    ValueError: is never due: Feb has no such day (31)
    """
    if not isinstance(text, str):
        msg = 'must be a cron expression in quotes, such as "0 6 * * *"'
        raise ValueError(msg)
    fields = _MACROS.get(text.strip().lower(), text).split()
    if len(fields) != len(_FIELDS):
        msg = (
            f"must have five fields (minute, hour, day of the month, month, day of the week), "
            f'such as "0 6 * * *", got {len(fields)}'
        )
        raise ValueError(msg)
    minutes, hours, days, months, weekdays = (
        _numbers(given, field) for given, field in zip(fields, _FIELDS, strict=True)
    )
    # Cron's own rule: a field that begins with a star does not count as given, not even */2.
    either_day = not fields[2].startswith("*") and not fields[4].startswith("*")
    _refuse_never(days, months, either_day=either_day)
    return Cron(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        either_day=either_day,
    )


def _refuse_never(days: frozenset[int], months: frozenset[int], *, either_day: bool) -> None:
    if either_day or any(min(days) <= _LONGEST_MONTHS[month - 1] for month in months):
        return
    named = " or ".join(_MONTHS[month - 1].capitalize() for month in sorted(months))
    msg = f"is never due: {named} has no such day ({_listed(days)})"
    raise ValueError(msg)


def _numbers(given: str, field: _Field) -> frozenset[int]:
    found: set[int] = set()
    for part in given.split(","):
        read = _PART.fullmatch(part)
        if read is None:
            msg = f"has a {field.name} that cannot be read: {shortened(part)!r}"
            raise ValueError(msg)
        first, last, step = read[1], read[2], int(read[3] or 1)
        if first == "*":
            low, high = field.least, field.most - (field.most == 7)
        else:
            low = _number(first, field)
            # In cron 5/10 means from 5 on.
            high = _number(last, field) if last else field.most if read[3] else low
        if low > high:
            msg = f"has a {field.name} whose start is after its end: {part!r}"
            raise ValueError(msg)
        if step < 1:
            msg = f"has a {field.name} with a step of 0: {part!r}"
            raise ValueError(msg)
        found |= set(range(low, high + 1, step))
    return frozenset(found)


def _number(text: str, field: _Field) -> int:
    if text.lower() in field.names:
        return field.names.index(text.lower()) + field.least
    if not text.isdecimal() or len(text) > 9 or not field.least <= int(text) <= field.most:
        msg = f"has a {field.name} outside {field.least} to {field.most}: {shortened(text)!r}"
        raise ValueError(msg)
    return int(text)
