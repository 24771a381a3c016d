"""SQLite: a file that is opened read-only, and in which every value has a type of its own."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from pumonitor.errors import InputError
from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import SQLite
from pumonitor.sources.column_types.sqlite_functions import sqlite_functions
from pumonitor.sources.engines.file_urls import refuse_host
from pumonitor.sources.engines.sql_backend import SqlBackend
from pumonitor.sources.engines.sql_engine import SQLEngine
from pumonitor.sources.reach.locations import nothing_found

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading

_LONGEST_WAIT: Final = 30.0
"""Seconds for which a database may be locked by who writes it."""

_KINDS: Final[dict[str, Kind]] = {"integer": "integer", "real": "number", "text": "text"}
_RENAMED: Final = re.compile(r":\d+$")
_STEPS_BETWEEN_LOOKS: Final = 100_000
# What SQLite says of a query that is no SQL or asks for what is not there; it has no numbers.
_MISTAKES: Final = ("no such column", "no such table", "no such function", "syntax error")


def open_sqlite(url: str, *, timeout: float, as_of: datetime | None = None) -> SQLEngine:
    """Open a file of SQLite, whose tables have no versions."""
    del as_of
    refuse_host(url, example="sqlite:///FILE")
    return SQLEngine(url, SQLiteBackend(timeout=timeout), timeout=timeout)


class SQLiteBackend(SqlBackend):
    """Types, limits and errors of SQLite."""

    sample_rows = 1000
    begin = ("PRAGMA query_only = ON", "BEGIN")
    before_labels = ("PRAGMA query_only = OFF",)
    version_query = "SELECT sqlite_version()"

    def __init__(self, *, timeout: float) -> None:
        self.dialect = SQLite()
        self._longest_wait = min(timeout, _LONGEST_WAIT)
        self._deadline = float("inf")

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """Read-only, and only to a file that is there."""
        return _only_existing(url), {"timeout": min(timeout, _LONGEST_WAIT)}

    def prepare(self, connection: Connection, *, timeout: float) -> None:
        """With functions that SQLite lacks, and a look at the clock every now and then."""
        del timeout
        driver: Any = connection.connection.driver_connection
        for name, function in sqlite_functions().items():
            driver.create_function(name, 1, function, deterministic=True)
        driver.set_progress_handler(lambda: time.monotonic() > self._deadline, _STEPS_BETWEEN_LOOKS)

    def statement_begins(self, *, timeout: float) -> None:
        """The clock starts anew."""
        self._deadline = time.monotonic() + timeout

    def column_names(self, described: Sequence[Sequence[Any]], *, of_query: bool) -> list[str]:
        """It renames the second of two columns of a subquery."""
        names = super().column_names(described, of_query=of_query)
        return [_RENAMED.sub("", one) for one in names] if of_query else names

    def column_types(
        self, described: Sequence[Sequence[Any]], sample: Sequence[Sequence[Any]]
    ) -> list[tuple[str, Kind]]:
        """By the values of some rows."""
        return [_kind([row[place] for row in sample]) for place in range(len(described))]

    def expected(self, connection: Connection, reading: Reading) -> Scan:
        """The whole file: indexes may do with less of it."""
        del reading
        driver: Any = connection.connection.driver_connection
        pages, size = (
            driver.execute(f"PRAGMA {one}").fetchone()[0] for one in ("page_count", "page_size")
        )
        return Scan(read=int(pages) * int(size))

    def is_late(self, error: Any) -> bool:
        """What it says when it was stopped."""
        return str(error) == "interrupted"

    def is_locked(self, said: str) -> float | None:
        """Seconds for which a lock was waited for in vain."""
        return self._longest_wait if said == "database is locked" else None

    def is_mistake(self, error: Any, said: str) -> bool:
        """By its words."""
        del error
        return any(one in said for one in _MISTAKES)


def _only_existing(url: URL) -> URL:
    """A file that is there: connecting would create it."""
    file = url.database
    if not file or file == ":memory:" or file.startswith("file:"):
        return url
    if not Path(file).is_file():
        raise InputError(nothing_found(file, what="SQLite database"))
    return url.set(database=f"file:{quote(str(Path(file).absolute()))}").update_query_dict(
        {"mode": "ro", "uri": "true"}
    )


def _kind(values: Sequence[object]) -> tuple[str, Kind]:
    types = {int: "integer", float: "real", str: "text", bytes: "blob"}
    found = sorted({types.get(type(value), "other") for value in values if value is not None})
    if not found:
        return "nothing but NULL", "empty"
    if found == ["integer", "real"]:
        return "integer and real", "number"
    stored = " and ".join(found)
    return stored, _KINDS.get(stored, "other")
