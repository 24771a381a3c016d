"""Snowflake, through its own dialect of SQLAlchemy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pumonitor.scans import Parts, Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.snowflake import Snowflake
from pumonitor.sources.engines.sql_backend import answered_rows
from pumonitor.sources.engines.warehouse_engine import (
    WarehouseBackend,
    WarehouseEngine,
    opened_by,
)

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading

# By the numbers of types in what its driver tells of an answer.
_KINDS: Final[dict[int, tuple[str, Kind]]] = {
    0: ("NUMBER", "number"),
    1: ("FLOAT", "number"),
    2: ("VARCHAR", "text"),
    3: ("DATE", "date"),
    6: ("TIMESTAMP_LTZ", "moment"),
    7: ("TIMESTAMP_TZ", "moment"),
    8: ("TIMESTAMP_NTZ", "naive"),
    13: ("BOOLEAN", "boolean"),
}
_UPPER: Final = re.compile(r"[A-Z_][A-Z0-9_$]*")
_TOOK_TOO_LONG: Final = 630
_NOT_ALLOWED: Final = "42501"
_MISTAKES: Final = ("42", "22")


def open_snowflake(url: str, *, timeout: float, as_of: datetime | None = None) -> WarehouseEngine:
    """Open an account of Snowflake."""
    return opened_by(SnowflakeBackend(), url, timeout=timeout, as_of=as_of)


class SnowflakeBackend(WarehouseBackend):
    """Types, limits and errors of Snowflake."""

    version_query = "SELECT current_version()"
    query_id = "sfqid"

    def __init__(self) -> None:
        super().__init__()
        self.dialect = Snowflake()

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """In UTC, with a limit of time, and told from others in the history of queries."""
        settings = {
            "TIMEZONE": "UTC",
            "STATEMENT_TIMEOUT_IN_SECONDS": max(1, round(timeout)),
            "QUERY_TAG": "pumonitor",
        }
        return url, {"session_parameters": settings}

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """The sum over the plan's scans, which compiling tells without a warehouse that runs."""
        statement = reading.statement
        rows = answered_rows(connection, f"EXPLAIN {statement.sql}", statement.values)
        scans = [row for row in rows if row.get("operation") == "TableScan"]
        if not scans:
            return None
        read, parts, of_parts = (
            sum(int(row[name] or 0) for row in scans)
            for name in ("bytesassigned", "partitionsassigned", "partitionstotal")
        )
        return Scan(read=read, parts=(Parts(named="partitions", read=parts, of=of_parts),))

    def shown_name(self, stored: str) -> str:
        """In small letters where it was made without quotes, as SQLAlchemy shows it."""
        return stored.lower() if _UPPER.fullmatch(stored) else stored

    def _kind(self, described: Sequence[Any]) -> tuple[str, Kind]:
        stored, kind = _KINDS.get(described[1], ("a type not read here", "other"))
        return stored, "integer" if stored == "NUMBER" and described[5] == 0 else kind

    def is_late(self, error: Any) -> bool:
        """By its own number."""
        return getattr(error, "errno", None) == _TOOK_TOO_LONG

    def is_mistake(self, error: Any, said: str) -> bool:
        """By the class of the state; a right that is missing is no mistake of the query."""
        del said
        state = str(getattr(error, "sqlstate", None) or "")
        return state.startswith(_MISTAKES) and state != _NOT_ALLOWED
