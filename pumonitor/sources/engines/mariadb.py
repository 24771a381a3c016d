"""MariaDB: text compared by its bytes, times on a clock of UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Key, Kind
from pumonitor.sources.column_types.dialects import WITH_OFFSET, WITHOUT_OFFSET, Dialect
from pumonitor.sources.engines.sql_backend import LABELS_TABLE, SqlBackend, answered_rows
from pumonitor.sources.engines.sql_engine import SQLEngine

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading

# By the numbers of its protocol.
_KINDS: Final[dict[int, tuple[str, Kind]]] = {
    1: ("tinyint", "integer"),
    2: ("smallint", "integer"),
    3: ("int", "integer"),
    4: ("float", "single"),
    5: ("double", "number"),
    6: ("nothing but NULL", "empty"),
    7: ("timestamp", "moment"),
    8: ("bigint", "integer"),
    9: ("mediumint", "integer"),
    10: ("date", "date"),
    12: ("datetime", "naive"),
    246: ("decimal", "number"),
    252: ("text", "text"),
    253: ("varchar", "text"),
    254: ("char", "text"),
}
_BYTES: Final = "utf8mb4_nopad_bin"
"""Compares bytes, and trailing blanks with them; utf8mb4_bin leaves these out."""

_SESSION: Final = (
    f"SET NAMES utf8mb4 COLLATE {_BYTES}",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,PIPES_AS_CONCAT,"
    "ERROR_FOR_DIVISION_BY_ZERO'",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    # A table may be made in a transaction that only reads: it ends there. Not so a session.
    "SET SESSION TRANSACTION READ ONLY",
)
_TOO_LATE: Final = 1969
_MISTAKES: Final = frozenset({1052, 1054, 1064, 1146, 1247, 1305, 1630})
_SECONDS_TO_CONNECT: Final = 30
_BEYOND_THE_LIMIT: Final = 30
"""Seconds more than the limit after which a server that says nothing is given up."""


def open_mariadb(url: str, *, timeout: float, as_of: datetime | None = None) -> SQLEngine:
    """Open a database of MariaDB, as it is now: versioned tables are read like others."""
    del as_of
    return SQLEngine(url, MariaDBBackend(), timeout=timeout)


class MariaDB(Dialect):
    """SQL of MariaDB."""

    __slots__ = ()
    name = "mariadb"
    floor = "CAST(floor({}) AS SIGNED)"
    text = "CHAR CHARACTER SET utf8mb4"
    whole = "SIGNED"
    takes_parameters = True
    answers_by_rows = True
    # No cast makes a timestamp, which only columns of tables are, nor a float or a boolean.
    types: ClassVar[Mapping[Kind, str]] = {
        "integer": "SIGNED",
        "number": "DOUBLE",
        "single": "FLOAT",
        "text": "CHAR CHARACTER SET utf8mb4",
        "naive": "DATETIME(6)",
        "date": "DATE",
    }

    def quoted(self, identifier: str) -> str:
        """Write an identifier."""
        return "`" + identifier.replace("`", "``") + "`"

    def written(self, value: object) -> str:
        """A value before it gets its type; a backslash escapes in text."""
        if isinstance(value, str):
            value = value.replace("\\", "\\\\")
        return Dialect.written(self, value)

    def given(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A SELECT of rows that are written out; lists of VALUES are not read in its queries."""
        values = " UNION ALL SELECT ".join(", ".join(row) for row in rows)
        chosen = ", ".join(names)
        return f"WITH given({chosen}) AS (SELECT {values}) SELECT * FROM given"  # noqa: S608

    def parameter(self, value: object) -> object:
        """Moments on the session's clock, which is UTC: its driver would drop a zone."""
        if isinstance(value, datetime):
            plain = value if value.tzinfo is None else value.astimezone(UTC)
            return plain.replace(tzinfo=None)
        return value

    def key(self, raw: str, kind: Kind, key: Key) -> str:
        """An id to compare by; null for a number beyond 64 bits, which a cast would wrap."""
        if key == "integer":
            low, high = -(2**63), 2**63 - 1
            return f"CASE WHEN {raw} BETWEEN {low} AND {high} THEN CAST({raw} AS SIGNED) END"
        return self.category(raw, kind)

    def category(self, raw: str, kind: Kind) -> str:
        """Text, compared and sorted by its bytes."""
        return f"({super().category(raw, kind)} COLLATE {_BYTES})"

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        del kind
        return _since(f"CAST({raw} AS DATETIME(6))")

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of text that says its offset."""
        text = self.category(raw, "text")
        offset = f"REGEXP_SUBSTR({text}, '[+-][0-9]{{2}}(:?[0-9]{{2}})?\\\\z')"
        hours = f"CAST(SUBSTRING({offset}, 2, 2) AS UNSIGNED)"
        minutes = f"IF(LENGTH({offset}) > 3, CAST(RIGHT({offset}, 2) AS UNSIGNED), 0)"
        sign = f"IF(LEFT({offset}, 1) = '-', -1, 1)"
        shift = f"IF(RIGHT({text}, 1) = 'Z', 0, {sign} * ({hours} * 60 + {minutes}))"
        local = f"REGEXP_REPLACE({text}, ' ?(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)\\\\z', '')"
        return (
            f"CASE WHEN {text} RLIKE '^{WITH_OFFSET}\\\\z' THEN "
            f"{_since(self._read(local))} - 60000000 * {shift} END"
        )

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of text without an offset."""
        text = self.category(raw, "text")
        return (
            f"CASE WHEN {text} RLIKE '^{WITHOUT_OFFSET}\\\\z' THEN {_since(self._read(text))} END"
        )

    def divided(self, number: str, by: int) -> str:
        """Whole-number division."""
        return f"({number} DIV {by})"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"SHA2(CAST({key} AS {self.text}), 256)"

    @staticmethod
    def _read(text: str) -> str:
        # What is finer than a microsecond is cut off.
        return f"CAST(REPLACE(LEFT({text}, 26), 'T', ' ') AS DATETIME(6))"


class MariaDBBackend(SqlBackend):
    """Types, limits and errors of MariaDB."""

    driver = "pymysql"
    begin = ("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",)
    before_labels = ("ROLLBACK", "SET SESSION TRANSACTION READ WRITE")
    after_labels = (f"ANALYZE TABLE {LABELS_TABLE}", "SET SESSION TRANSACTION READ ONLY")

    def __init__(self) -> None:
        self.dialect = MariaDB()
        self._longest_wait = 0.0

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """With an end to waiting, and text of all characters."""
        self._longest_wait = max(1, round(timeout))
        return url, {
            "charset": "utf8mb4",
            "connect_timeout": min(_SECONDS_TO_CONNECT, max(1, round(timeout))),
            "read_timeout": round(timeout) + _BEYOND_THE_LIMIT,
        }

    def prepare(self, connection: Connection, *, timeout: float) -> None:
        """In UTC, comparing bytes, with limits of time."""
        limits = (
            f"SET SESSION max_statement_time = {timeout:g}",
            f"SET SESSION lock_wait_timeout = {self._longest_wait:g}",
        )
        for statement in (*_SESSION, *limits):
            connection.exec_driver_sql(statement)

    def column_types(
        self, described: Sequence[Sequence[Any]], sample: Sequence[Sequence[Any]]
    ) -> list[tuple[str, Kind]]:
        """By the numbers of the types."""
        del sample
        return [_kind(one) for one in described]

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """The whole table, by its statistics: an index may do with less. Of queries none."""
        named = re.fullmatch(r"(?:`([^`]+)`\.)?`([^`]+)`", reading.relation.sql)
        if named is None:
            return None
        (row,) = answered_rows(
            connection,
            "SELECT sum(data_length) AS bytes FROM information_schema.tables "
            "WHERE table_schema = coalesce(:schema, database()) AND table_name = :name",
            {"schema": named[1], "name": named[2]},
        )
        return None if row["bytes"] is None else Scan(read=int(row["bytes"]), is_most=False)

    def labels_table(self, kind: str) -> str:
        """The statement that makes the temporary table, which holds any text."""
        id_type = "BIGINT" if kind == "integer" else "LONGTEXT"
        return (
            f"CREATE TEMPORARY TABLE {LABELS_TABLE} (id {id_type}, known BIGINT, label SMALLINT, "
            f"propensity DOUBLE) CHARACTER SET utf8mb4 COLLATE {_BYTES}"
        )

    def words(self, error: Any) -> str:
        """The message without its number."""
        given: tuple[Any, ...] = getattr(error, "args", ())
        return str(given[1]) if len(given) > 1 else super().words(error)

    def is_late(self, error: Any) -> bool:
        """Its own number for statements that were stopped."""
        return _number(error) == _TOO_LATE

    def is_mistake(self, error: Any, said: str) -> bool:
        """By the number of the error."""
        del said
        return _number(error) in _MISTAKES


def _since(time: str) -> str:
    return f"TIMESTAMPDIFF(MICROSECOND, TIMESTAMP '1970-01-01 00.00.00', {time})"


def _kind(described: Sequence[Any]) -> tuple[str, Kind]:
    stored, kind = _KINDS.get(described[1], ("a type not read here", "other"))
    return stored, "integer" if stored == "decimal" and described[5] == 0 else kind


def _number(error: Any) -> int:
    given: tuple[Any, ...] = getattr(error, "args", ())
    return given[0] if given and isinstance(given[0], int) else 0
