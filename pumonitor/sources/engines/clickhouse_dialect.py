"""SQL of ClickHouse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from pumonitor.sources.column_types.column_kinds import Key, Kind
from pumonitor.sources.column_types.dialects import WITH_OFFSET, WITHOUT_OFFSET, Dialect


class ClickHouse(Dialect):
    """Types that hold no NULL unless told to, and counts without a sign."""

    __slots__ = ()
    name = "clickhouse"
    text = "String"
    double = "Float64"
    whole = "Int64"
    # Numbers with and without a sign have no type in common there.
    counted = "toInt64(count(*))"
    types: ClassVar[Mapping[Kind, str]] = {
        "integer": "Nullable(Int64)",
        "number": "Nullable(Float64)",
        "single": "Nullable(Float32)",
        "text": "Nullable(String)",
        "boolean": "Nullable(Bool)",
        "moment": "Nullable(DateTime64(6, 'UTC'))",
        "date": "Nullable(Date32)",
    }
    years = (1900, 2299)

    def quoted(self, identifier: str) -> str:
        """Write an identifier, in which a backslash escapes."""
        return '"' + identifier.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            return f"toDateTime64({self.written(value)}, 6, 'UTC')"
        return Dialect.constant(self, value)

    def written(self, value: object) -> str:
        """A value before it gets its type; a backslash escapes in text."""
        if isinstance(value, datetime):
            moment = value if value.tzinfo is None else value.astimezone(UTC)
            return f"'{moment.replace(tzinfo=None).isoformat(sep=' ', timespec='microseconds')}'"
        if isinstance(value, str):
            value = value.replace("\\", "\\\\")
        return Dialect.written(self, value)

    def given(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A SELECT of rows that are written out."""
        listed = ", ".join(f"tuple({', '.join(row)})" for row in rows)
        chosen = ", ".join(
            f"tupleElement(one_row, {place}) AS {name}" for place, name in enumerate(names, start=1)
        )
        # A thousand times as fast as one SELECT for each row.
        rows_given = f"(SELECT arrayJoin([{listed}]) AS one_row) AS all_rows"
        return f"SELECT {chosen} FROM {rows_given}"  # noqa: S608

    def key(self, raw: str, kind: Kind, key: Key) -> str:
        """An id to compare by; null for a number beyond 64 bits, which a cast would wrap."""
        if key == "integer":
            return f"accurateCastOrNull({raw}, 'Int64')"
        return self.category(raw, kind)

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a date."""
        time = f"toDate32({raw})" if kind == "date" else raw
        return f"toUnixTimestamp64Micro(toDateTime64({time}, 6, 'UTC'))"

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of text that says its offset."""
        sign = f"if(match({raw}, '-[0-9]{{2}}:?([0-9]{{2}})?$'), -1, 1)"
        hours = _digits(raw, "[+-]([0-9]{2})(:?[0-9]{2})?$")
        minutes = _digits(raw, "[+-][0-9]{2}:?([0-9]{2})$")
        offset = f"if(match({raw}, 'Z$'), 0, {sign} * ({hours} * 60 + {minutes}))"
        return (
            f"CASE WHEN match({raw}, '^{WITH_OFFSET}$') THEN "
            f"{_local(raw)} - 60000000 * {offset} END"
        )

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of text without an offset."""
        return f"CASE WHEN match({raw}, '^{WITHOUT_OFFSET}$') THEN {_local(raw)} END"

    def divided(self, number: str, by: int) -> str:
        """Whole-number division."""
        return f"intDiv({number}, {by})"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"lower(hex(SHA256(CAST({key} AS String))))"


def _local(raw: str) -> str:
    """Microseconds of the clock that text shows; null for a day or an hour that there is not.

    Its own types of times end in the year 2299, so the days are counted here: years begin in March,
    so that the day that not every year has is the last.
    """
    year, month, day = (_number(raw, *place) for place in ((1, 4), (6, 2), (9, 2)))
    hour, minute, second = (_number(raw, *place) for place in ((12, 2), (15, 2), (18, 2)))
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    last = f"multiIf({month} IN (4, 6, 9, 11), 30, {month} <> 2, 31, {leap}, 29, 28)"
    exists = (
        f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last} "
        f"AND {hour} <= 23 AND {minute} <= 59 AND {second} <= 59"
    )
    since = f"({year} - if({month} <= 2, 1, 0))"
    days = (
        f"(365 * {since} + intDiv({since}, 4) - intDiv({since}, 100) + intDiv({since}, 400) "
        f"+ intDiv(153 * (({month} + 9) % 12) + 2, 5) + {day} - 719469)"
    )
    part = f"substring(extract({raw}, '[.]([0-9]+)'), 1, 6)"
    fraction = f"toInt64OrZero(rightPad({part}, 6, '0'))"
    seconds = f"(86400 * {days} + 3600 * {hour} + 60 * {minute} + {second})"
    return f"if({exists}, 1000000 * {seconds} + {fraction}, NULL)"


def _number(raw: str, first: int, length: int) -> str:
    return f"toInt64OrZero(substring({raw}, {first}, {length}))"


def _digits(raw: str, pattern: str) -> str:
    return f"toInt64OrZero(extract({raw}, '{pattern}'))"


class EmbeddedClickHouse(ClickHouse):
    """The same as a library: what was verified of it was not of a server."""

    __slots__ = ()
    name = "chdb"
