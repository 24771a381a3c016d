"""Times in tables, of whatever type, as whole microseconds since 1970 in UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pumonitor.errors import InputError, did_you_mean
from pumonitor.sources.column_types.column_kinds import Column
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.monitored_tables import Ambiguous, TimeUnit

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000
_PER_SECOND: Final[dict[TimeUnit, int]] = {
    "s": 1,
    "ms": 1_000,
    "us": 1_000_000,
    "ns": 1_000_000_000,
}
UNIT_NAMES: Final[dict[TimeUnit, str]] = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}
_CLOSE_BY: Final = timedelta(hours=25)
"""Further than clocks were ever changed: a day, where a country moved across the date line."""

_PLAUSIBLE_YEARS: Final = (1990, 2100)
_CALENDAR_SECONDS: Final = (-62_135_596_800, 253_402_300_800)
"""From the year 1 up to 10000, since 1970."""

PLAUSIBLE_FROM: Final = datetime(_PLAUSIBLE_YEARS[0], 1, 1, tzinfo=UTC)
"""No classifier's prediction is older: such a time is a mistake."""

CLOCKS_DIFFER: Final = timedelta(days=1)
"""By how much times of two tables may contradict each other; further apart one is a mistake."""

EARLIEST: Final = _EPOCH
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Later than any time in a table; whole nanoseconds up to it fit in 64 bits."""


def microseconds(moment: datetime) -> int:
    """Whole microseconds from 1970 to a moment.

    Examples
    --------
    >>> microseconds(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_microseconds(count: int) -> datetime:
    """The moment so many microseconds after 1970, in UTC."""
    return _EPOCH + timedelta(microseconds=count)


def shown_moment(count: int) -> str:
    """The moment so many microseconds after 1970, for messages, whatever the number.

    Examples
    --------
    >>> shown_moment(86_400_000_000), shown_moment(10**18)
    ('1970-01-02T00:00:00+00:00', 'in a year after 9999')
    """
    try:
        return from_microseconds(count).isoformat()
    except OverflowError:
        return "in a year before 1" if count < 0 else "in a year after 9999"


def read_zone(name: str, *, where: str) -> ZoneInfo:
    """The zone of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        hint = did_you_mean(name, available_timezones())
        msg = f"time_zone of {where} is {name!r}, which is no time zone{hint}"
        raise InputError(msg) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeColumn:
    """A column of times and how it is read.

    Attributes
    ----------
    column : Column
    zone : str or None
        Of times that bear none.
    unit : {"s", "ms", "us", "ns"} or None
        Of whole numbers.
    ambiguous : {"earlier", "later"} or None
        Of the two moments that a local time may mean where the clocks change; None: neither.
    """

    column: Column
    zone: str | None
    unit: TimeUnit | None
    ambiguous: Ambiguous | None = None

    def clocks(self, dialect: Dialect) -> dict[str, str]:
        """SQL of the column's microseconds: as moments (`clock`), as local times (`local_clock`).

        Text may hold both; each is null where the other is not.
        """
        raw, kind = self.column.sql, self.column.kind
        if kind == "empty":
            return {"clock": f"CAST(NULL AS {dialect.whole})"}
        if self.unit is not None and kind in {"integer", "cell"}:
            each = _PER_SECOND[self.unit]
            count = dialect.key(raw, kind, "integer")
            if each > _SECOND:
                return {"clock": dialect.divided(count, each // _SECOND)}
            # Beyond the calendar a number is no time, and its microseconds may not fit in 64 bits.
            first, beyond = (seconds * each for seconds in _CALENDAR_SECONDS)
            return {
                "clock": f"CASE WHEN {count} >= {first} AND {count} < {beyond} "
                f"THEN {count} * {_SECOND // each} END"
            }
        if kind == "moment":
            return {"clock": dialect.clock(raw, kind)}
        if kind in {"naive", "date"}:
            return {"local_clock": dialect.clock(raw, kind)}
        found = {"clock": dialect.clock_with_offset(raw)}
        if self.zone is not None:
            found["local_clock"] = dialect.clock_without_offset(raw)
        return found

    @property
    def is_exact(self) -> bool:
        """Whether `bounds` select just the rows between two moments."""
        return self.column.kind in {"moment", "integer"}

    def bounds(self, start: datetime, end: datetime) -> tuple[object, object] | None:
        """Values of the column itself between which the rows of a stretch of time are.

        A filter on the bare column is what lets an engine skip files and use an index. It may let
        a few more rows through (`is_exact`); None where text would have to be compared.
        """
        if self.column.kind == "integer" and self.unit is not None:
            return bounds_of(start, end, zone=None, unit=self.unit)
        if self.column.kind == "moment":
            return bounds_of(start, end, zone=None, unit=None)
        if self.column.kind in {"naive", "date"} and self.zone is not None:
            return bounds_of(start, end, zone=self.zone, unit=None)
        return None


def bounds_of(
    start: datetime, end: datetime, *, zone: str | None, unit: TimeUnit | None
) -> tuple[object, object]:
    """A stretch of time in the terms of a column: whole numbers, local times, or moments.

    Local times are as wide as the clock's changes between them and close by ask for.

    Examples
    --------
    >>> hour = datetime(2026, 10, 25, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)
    >>> [str(bound) for bound in bounds_of(*hour, zone="Europe/Berlin", unit=None)]
    ['2026-10-25 01:00:00', '2026-10-25 03:00:00']
    """
    if unit is not None:
        each = _PER_SECOND[unit]
        # Rounded up: a whole number is at or after a moment from the next one on.
        return tuple(-(-microseconds(moment) * each // _SECOND) for moment in (start, end))  # type: ignore[return-value]
    if zone is None:
        return start, end
    known = ZoneInfo(zone)
    offsets = [moment.astimezone(known).utcoffset() or timedelta() for moment in (start, end)]
    for change in _changes(zone):
        # A local time that clocks never show may be read by the offset of the other side.
        if start - _CLOSE_BY <= change.at <= end + _CLOSE_BY:
            offsets += [change.before, change.after]
    return (
        start.astimezone(UTC).replace(tzinfo=None) + min(offsets),
        end.astimezone(UTC).replace(tzinfo=None) + max(offsets),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A moment at which the clocks of a zone change, with the offsets before and after."""

    at: datetime
    before: timedelta
    after: timedelta


@lru_cache(maxsize=16)
def _changes(zone: str) -> tuple[_Change, ...]:
    """All changes of a zone's offset; found day by day, as the library tells offsets only."""
    known = ZoneInfo(zone)

    def offset(moment: datetime) -> timedelta:
        return moment.astimezone(known).utcoffset() or timedelta()

    changes: list[_Change] = []
    day, last = _EPOCH, offset(_EPOCH)
    while day.year < _PLAUSIBLE_YEARS[1]:
        following = day + timedelta(days=1)
        new = offset(following)
        if new != last:
            low, high = day, following
            while high - low > timedelta(seconds=1):
                middle = (low + (high - low) / 2).replace(microsecond=0)
                low, high = (low, middle) if offset(middle) == new else (middle, high)
            changes.append(_Change(at=high, before=last, after=new))
        day, last = following, new
    return tuple(changes)


def to_utc(
    local: str,
    zone: str,
    *,
    between: tuple[datetime, datetime] = (_EPOCH, LATEST),
    ambiguous: Ambiguous | None = None,
) -> str:
    """SQL that turns local microseconds into those of UTC.

    It is null for a time that the clocks of the zone show twice or never, unless it is said how
    these are read. Engines disagree about them and some know no zones, so the zone's changes are
    written out.

    Parameters
    ----------
    local : str
        An expression.
    between : tuple of datetime
        Where the times lie: other changes are left out.
    ambiguous : {"earlier", "later"}, optional
        As of `TimeColumn`.
    """
    margin = timedelta(days=2)
    first, last = between
    pieces: list[tuple[int, str]] = []
    offset: timedelta | None = None
    for change in _changes(zone):
        if change.at < first - margin:
            continue
        if change.at > last + margin:
            break
        edges = sorted(microseconds(change.at + one) for one in (change.before, change.after))
        both = sorted((change.before, change.after))
        # The larger offset makes the earlier moment.
        unclear = {
            None: "NULL",
            "earlier": _shifted(local, both[1]),
            "later": _shifted(local, both[0]),
        }[ambiguous]
        pieces += [(edges[0], _shifted(local, change.before)), (edges[1], unclear)]
        offset = change.after
    if offset is None:
        offset = first.astimezone(ZoneInfo(zone)).utcoffset() or timedelta()
    return chosen_by_edges(local, pieces, _shifted(local, offset))


def _shifted(local: str, offset: timedelta) -> str:
    return f"({local} - {offset // timedelta(microseconds=1)})"


def chosen_by_edges(local: str, pieces: Sequence[tuple[int, str]], otherwise: str) -> str:
    """The piece a value falls into, by halves: a handful of comparisons for a century."""
    if not pieces:
        return otherwise
    half = len(pieces) // 2
    edge, below = pieces[half]
    left = chosen_by_edges(local, pieces[:half], below)
    right = chosen_by_edges(local, pieces[half + 1 :], otherwise)
    return f"CASE WHEN {local} < {edge} THEN {left} ELSE {right} END"


def check_unit(values: Sequence[int], *, unit: TimeUnit | None, column: str, where: str) -> None:
    """Refuse whole numbers without a unit, or with one that puts them into another age.

    Raises
    ------
    InputError
        With the unit that would fit.
    """
    fitting = fitting_unit(values)
    hint = (
        "" if fitting is None else f"; they look like {UNIT_NAMES[fitting]}: time_unit: {fitting}"
    )
    if unit is None:
        msg = (
            f"time column '{column}' of {where} holds whole numbers such as {values[0]}: say their "
            f"time_unit, s, ms, us or ns since 1970{hint}"
        )
        raise InputError(msg)
    wrong = [value for value in values if not _is_plausible(value * _SECOND // _PER_SECOND[unit])]
    if len(wrong) > len(values) / 2:
        msg = (
            f"time column '{column}' of {where} has {len(wrong)} times of {len(values)} looked at "
            f"that are in {_year(wrong[0] * _SECOND // _PER_SECOND[unit])} when "
            f"{wrong[0]} is read as {UNIT_NAMES[unit]} since 1970{hint}"
        )
        raise InputError(msg)


def fitting_unit(values: Sequence[int]) -> TimeUnit | None:
    """The unit in which all these whole numbers are times of our age, if there is one.

    Examples
    --------
    >>> fitting_unit([1_767_225_600, 1_767_225_601]), fitting_unit([12])
    ('s', None)
    """
    return next((unit for unit in _PER_SECOND if values and _fits(values, unit)), None)


def _fits(values: Sequence[int], unit: TimeUnit) -> bool:
    return all(_is_plausible(value * _SECOND // _PER_SECOND[unit]) for value in values)


def _is_plausible(count: int) -> bool:
    low, high = (microseconds(datetime(year, 1, 1, tzinfo=UTC)) for year in _PLAUSIBLE_YEARS)
    return low <= count < high


def _year(count: int) -> str:
    try:
        return f"the year {from_microseconds(count).year}"
    except OverflowError:
        return "no year at all" if count < 0 else "a year after 9999"
