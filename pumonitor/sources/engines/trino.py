"""Trino, through the dialect of SQLAlchemy that comes with its client."""

from __future__ import annotations

import json
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.trino import Trino
from pumonitor.sources.engines.sql_backend import answered_rows
from pumonitor.sources.engines.warehouse_engine import (
    WarehouseBackend,
    WarehouseEngine,
    opened_by,
)

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading

_TOOK_TOO_LONG: Final = frozenset({"EXCEEDED_TIME_LIMIT"})


def open_trino(url: str, *, timeout: float, as_of: datetime | None = None) -> WarehouseEngine:
    """Open a coordinator of Trino."""
    return opened_by(TrinoBackend(), url, timeout=timeout, as_of=as_of)


class TrinoBackend(WarehouseBackend):
    """Types, limits and errors of Trino."""

    version_query = "SELECT version()"
    query_id = "query_id"
    kinds: ClassVar[dict[str, Kind]] = {
        "bigint": "integer",
        "boolean": "boolean",
        "char": "text",
        "date": "date",
        "double": "number",
        "integer": "integer",
        "real": "single",
        "smallint": "integer",
        "timestamp": "naive",
        "timestamp with time zone": "moment",
        "tinyint": "integer",
        "uuid": "text",
        "varchar": "text",
    }

    def __init__(self) -> None:
        super().__init__()
        self.dialect = Trino()

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """In UTC, with a limit of time."""
        limit = f"{max(1, round(timeout))}s"
        return url, {
            "timezone": "UTC",
            "source": "pumonitor",
            "session_properties": {"query_max_run_time": limit},
        }

    def fetched(self, cursor: Any) -> None:
        """What was read, which is told with the last rows."""
        stats = getattr(cursor, "stats", None) or {}
        self.bytes_read += int(stats.get("physicalInputBytes") or stats.get("processedBytes") or 0)

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """What the planner estimates of what tables give; None without statistics of one."""
        statement = reading.statement
        explain = f"EXPLAIN (TYPE IO, FORMAT JSON) {statement.sql}"
        (row,) = answered_rows(connection, explain, statement.values)
        tables = json.loads(next(iter(row.values())))["inputTableColumnInfos"]
        sizes = [one.get("estimate", {}).get("outputSizeInBytes") for one in tables]
        # A number that is not known is the text "NaN" there.
        if not all(isinstance(one, int | float) and isfinite(one) for one in sizes):
            return None
        return Scan(read=round(sum(sizes)), is_most=False)

    def is_late(self, error: Any) -> bool:
        """By the name of the error."""
        return getattr(error, "error_name", None) in _TOOK_TOO_LONG

    def is_mistake(self, error: Any, said: str) -> bool:
        """An error of the user, unless a right is missing."""
        del said
        named = getattr(error, "error_name", None)
        return getattr(error, "error_type", None) == "USER_ERROR" and named != "PERMISSION_DENIED"
