"""The few things in which the SQL of engines differs, and how four of them say these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import ClassVar, Final

from pumonitor.sources.column_types.column_kinds import Key, Kind

_CLOCK: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
WITH_OFFSET: Final = f"{_CLOCK} ?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)"
"""ISO 8601 text that names a moment."""
WITHOUT_OFFSET: Final = f"({_CLOCK}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"
"""ISO 8601 text that names a local time."""
# Engines round what is finer than a microsecond each in their own way: it is cut off.
FINER: Final = "([.][0-9]{6})[0-9]+"
MINUTES: Final = "^(.{10}[T ][0-9]{2}:[0-9]{2})"
"""Up to the minutes of a time."""


@dataclass(frozen=True, slots=True)
class Dialect(ABC):
    """What most engines agree on; times and hashes each has to say in its own way."""

    name: ClassVar[str] = ""
    floor: ClassVar[str] = "CAST(floor({}) AS BIGINT)"
    text: ClassVar[str] = "VARCHAR"
    double: ClassVar[str] = "DOUBLE"
    whole: ClassVar[str] = "BIGINT"
    """The type of whole numbers of 64 bits with their sign, as a cast names it."""
    short: ClassVar[str | None] = None
    """The type of whole numbers of 32 bits, where grouping by them costs less."""
    counted: ClassVar[str] = "count(*)"
    """A number of rows with a sign: 1 can be taken from it."""
    hashed_id: ClassVar[str | None] = None
    """A whole number of 64 bits by which ids are mostly told apart, where it costs little."""
    takes_parameters: ClassVar[bool] = False
    has_indexes: ClassVar[bool] = True
    """Or whatever else finds a few ids among many without reading them all."""
    answers_by_rows: ClassVar[bool] = False
    """Whether answers arrive row by row, which takes far more memory than Arrow's columns do."""
    types: ClassVar[Mapping[Kind, str]] = {
        "integer": "BIGINT",
        "number": "DOUBLE",
        "single": "FLOAT",
        "text": "VARCHAR",
        "boolean": "BOOLEAN",
        "moment": "TIMESTAMPTZ",
        "naive": "TIMESTAMP",
        "date": "DATE",
    }
    """What a cast calls each kind of column, of those that it has."""
    years: ClassVar[tuple[int, int]] = (1, 9999)
    """The first and the last that its types of times hold."""

    holds_rows: ClassVar[bool] = False
    """Whether it is here, and holds rows at less cost than reading them again."""

    def broadcast(self, *tables: str) -> str:
        """What asks, after SELECT, to send small tables of a join to where the others are."""
        del tables
        return ""

    def quoted(self, identifier: str) -> str:
        """Write an identifier."""
        return '"' + identifier.replace('"', '""') + '"'

    def named(self, name: str) -> str:
        """Write an identifier as people know it, of what nothing was asked about yet."""
        return self.quoted(name)

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            # Without a type it takes that of the column: of times there is one per precision.
            return f"'{value.isoformat(sep=' ')}'"
        if isinstance(value, int):
            return str(value)
        raise TypeError(type(value))

    def bound(self, value: object, kind: Kind, *, upper: bool = False) -> str:
        """A constant that a bare column of times is compared with: of a date, a whole day.

        A time of day would be cut off, or the column be cast, and no partition of it skipped.
        """
        if kind != "date" or not isinstance(value, datetime):
            return self.constant(value)
        day = value.date()
        if upper and value.time() != time():
            day += timedelta(days=1)
        return f"DATE '{day.isoformat()}'"

    def double_constant(self, value: float) -> str:
        """Digits that are read back as this very number, in 64 bits."""
        return f"{value:.17e}"

    def parameter(self, value: object) -> object:
        """A value as the driver takes it."""
        return value

    def literal(self, value: object, kind: Kind) -> str:
        """A value with its type; text is written here only when engines are verified."""
        return f"CAST({self.written(value)} AS {self.types[kind]})"

    def written(self, value: object) -> str:
        """A value before it gets its type."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            # The fewest digits: of the largest double more would be beyond it.
            return repr(value) if "e" in repr(value) else f"{value!r}e0"
        plain = value.isoformat(" ") if isinstance(value, datetime) else str(value)
        return "'" + plain.replace("'", "''") + "'"

    def given(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A SELECT of rows that are written out."""
        values = ", ".join(f"({', '.join(row)})" for row in rows)
        chosen = ", ".join(names)
        return f"WITH given({chosen}) AS (VALUES {values}) SELECT * FROM given"  # noqa: S608

    def number(self, raw: str, kind: Kind) -> str:
        """A double; null for what is no number."""
        del kind
        return f"CAST({raw} AS {self.double})"

    def key(self, raw: str, kind: Kind, key: Key) -> str:
        """An id to compare by; null for what is none."""
        if key == "integer":
            return f"CAST({raw} AS {self.whole})"
        return self.category(raw, kind)

    def category(self, raw: str, kind: Kind) -> str:
        """Text that is the same in every engine, and sorts by its bytes."""
        if kind == "boolean":
            return f"CASE WHEN {raw} THEN 'true' WHEN NOT {raw} THEN 'false' END"
        return f"CAST({raw} AS {self.text})"

    def shown(self, raw: str) -> str:
        """Text for messages."""
        return f"CAST({raw} AS {self.text})"

    @abstractmethod
    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds since 1970 of a moment, or of a local time on its own clock."""

    @abstractmethod
    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of ISO 8601 text that says its offset; null for other text."""

    @abstractmethod
    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of ISO 8601 text without an offset; null for other text."""

    def divided(self, number: str, by: int) -> str:
        """Whole-number division of a number above 0."""
        return f"({number} / {by})"

    def remainder(self, number: str, by: int) -> str:
        """What whole-number division leaves over, with the sign of the number."""
        return f"({number} % {by})"

    def not_finite(self, number: str) -> str:
        """Whether a double is infinite or NaN, or null."""
        # 0 for finite numbers only. Comparing with the largest number would tell as much, but some
        # engines answer that from a file's statistics, which leave NaN out.
        return f"coalesce({number} - {number}, 1e0) <> 0e0"

    def different(self, identifier: str, key: Key) -> tuple[str, str]:
        """What to group ids by, and how many different ones a group has.

        Ids are counted once each; a hash may count two as one, never one as two.
        """
        del key
        return identifier, "1"

    def plain(self, text: str) -> str:
        """Text as it was stored, of what `category` made of it."""
        return text

    @abstractmethod
    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text in hexadecimal digits, which sort alike in every engine."""


class DuckDB(Dialect):
    """The embedded engine: files and data frames."""

    __slots__ = ()
    name = "duckdb"
    hashed_id = "hash({})"
    short = "INTEGER"
    holds_rows = True
    has_indexes = False

    def number(self, raw: str, kind: Kind) -> str:
        """A double; null for what is no number."""
        return f"{'try_cast' if kind == 'cell' else 'CAST'}({raw} AS DOUBLE)"

    def key(self, raw: str, kind: Kind, key: Key) -> str:
        """An id to compare by; null for what is none."""
        if key == "integer" and kind == "cell":
            # Of '7.6' a cast would make 8.
            return (
                f"CASE WHEN regexp_full_match({raw}, '-?[0-9]+') THEN try_cast({raw} AS BIGINT) END"
            )
        if key == "integer":
            return f"try_cast({raw} AS BIGINT)"
        return self.category(raw, kind)

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        return f"epoch_us(CAST({raw} AS {'TIMESTAMPTZ' if kind == 'moment' else 'TIMESTAMP'}))"

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of text that says its offset."""
        return (
            f"CASE WHEN regexp_full_match({raw}, '{WITH_OFFSET}') THEN "
            f"epoch_us({self._cast(raw, 'TIMESTAMPTZ')}) END"
        )

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of text without an offset."""
        return (
            f"CASE WHEN regexp_full_match({raw}, '{WITHOUT_OFFSET}') THEN "
            f"epoch_us({self._cast(raw, 'TIMESTAMP')}) END"
        )

    def divided(self, number: str, by: int) -> str:
        """Whole-number division."""
        return f"({number} // {by})"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"sha256(CAST({key} AS VARCHAR))"

    @classmethod
    def _cast(cls, raw: str, kind: str) -> str:
        # Before its version 2 a time without seconds was none, and one with a blank before its
        # offset still is none; only such rows are asked again.
        whole = rf"regexp_replace({raw}, '{MINUTES}', '\1:00')"
        cut = cls._cut(raw)
        tight = rf"regexp_replace({cut}, ' ([Z+-])', '\1')"
        return ", ".join(f"try_cast({one} AS {kind})" for one in (cut, whole, tight)).join(
            ("coalesce(", ")")
        )

    @staticmethod
    def _cut(raw: str) -> str:
        return rf"regexp_replace({raw}, '{FINER}', '\1')"


class PostgreSQL(Dialect):
    """Also what speaks its language."""

    __slots__ = ()
    name = "postgresql"
    text = "text"
    double = "double precision"
    takes_parameters = True
    answers_by_rows = True
    types: ClassVar[Mapping[Kind, str]] = {
        **Dialect.types,
        "number": "double precision",
        "single": "real",
        "text": "text",
    }

    def category(self, raw: str, kind: Kind) -> str:
        """Text, compared and sorted by its bytes."""
        # Equality and order by bytes, whatever the database's language.
        return f'({super().category(raw, kind)} COLLATE "C")'

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        local = raw if kind != "date" else f"CAST({raw} AS timestamp)"
        # There are times called infinity, which are no moments.
        return f"CASE WHEN isfinite({raw}) THEN {self._count(local)} END"

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of text that says its offset."""
        moment = self._count(f"CAST({self._cut(raw)} AS timestamptz)")
        return f"CASE WHEN {raw} ~ '^{WITH_OFFSET}$' THEN {moment} END"

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of text without an offset."""
        local = self._count(f"CAST({self._cut(raw)} AS timestamp)")
        return f"CASE WHEN {raw} ~ '^{WITHOUT_OFFSET}$' THEN {local} END"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        digest = f"sha256(convert_to(CAST({key} AS text), 'UTF8'))"
        return f"(encode({digest}, 'hex') COLLATE \"C\")"

    @staticmethod
    def _count(time: str) -> str:
        return f"CAST(extract(epoch FROM {time}) * 1000000 AS BIGINT)"

    @staticmethod
    def _cut(raw: str) -> str:
        return rf"regexp_replace({raw}, '{FINER}', '\1')"


class SQLite(Dialect):
    """Any column may hold any type there, so every value is asked for its own."""

    __slots__ = ()
    name = "sqlite"
    # Built without floor() as often as not; what is rounded is never below 0.
    floor = "CAST({} AS INTEGER)"
    text = "TEXT"
    double = "REAL"
    takes_parameters = True
    answers_by_rows = True
    types: ClassVar[Mapping[Kind, str]] = {"integer": "INTEGER", "number": "REAL", "text": "TEXT"}

    def parameter(self, value: object) -> object:
        """Moments are text here."""
        if isinstance(value, datetime):
            return value.isoformat(sep=" ", timespec="microseconds")
        return value

    def number(self, raw: str, kind: Kind) -> str:
        """A double; null for what is no number."""
        return f"CASE WHEN typeof({raw}) IN ('integer', 'real') THEN CAST({raw} AS REAL) END"

    def key(self, raw: str, kind: Kind, key: Key) -> str:
        """An id to compare by; null for what is none."""
        return f"CASE WHEN typeof({raw}) = '{key}' THEN {raw} END"

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a time, which is text here whatever type its column names."""
        del kind
        return f"coalesce({self.clock_with_offset(raw)}, {self.clock_without_offset(raw)})"

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of text that says its offset."""
        return f"pumonitor_clock_with_offset({raw})"

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of text without an offset."""
        return f"pumonitor_clock_without_offset({raw})"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"pumonitor_hashed({key})"


def escaped(text: str) -> str:
    r"""Text between quotes where a backslash means something.

    Examples
    --------
    >>> print(escaped("a\\b's"))
    'a\\b\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
