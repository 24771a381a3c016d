"""A SQL warehouse of Databricks, through the dialect of SQLAlchemy of its makers."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.databricks import Databricks
from pumonitor.sources.engines.sql_backend import answered_rows
from pumonitor.sources.engines.warehouse_engine import (
    WarehouseBackend,
    WarehouseEngine,
    opened_by,
)

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading

__all__ = ["DatabricksBackend", "open_databricks"]

_OPTIMIZED: Final = re.compile(r"== Optimized Logical Plan ==(.*?)(?:\n== |\Z)", re.DOTALL)
_LEAF: Final = re.compile(
    r"\bRelation\b.*Statistics\(sizeInBytes=([0-9.]+(?:E[+-]?\d+)?) ([KMGTPE]?i?B)"
)
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_MISTAKES: Final = (
    "PARSE_SYNTAX_ERROR",
    "TABLE_OR_VIEW_NOT_FOUND",
    "UNRESOLVED_COLUMN",
    "UNRESOLVED_ROUTINE",
)
"""Names of its errors that a query can be mended after."""


def open_databricks(url: str, *, timeout: float, as_of: datetime | None = None) -> WarehouseEngine:
    """Open a SQL warehouse."""
    return opened_by(DatabricksBackend(), url, timeout=timeout, as_of=as_of)


class DatabricksBackend(WarehouseBackend):
    """Types, limits and errors of a SQL warehouse."""

    query_id = "query_id"
    version_query = "SELECT current_version().dbsql_version"
    kinds: ClassVar[dict[str, Kind]] = {
        "bigint": "integer",
        "boolean": "boolean",
        "date": "date",
        "double": "number",
        "float": "single",
        "int": "integer",
        "smallint": "integer",
        "string": "text",
        "timestamp": "moment",
        "timestamp_ntz": "naive",
        "tinyint": "integer",
        "void": "empty",
    }

    def __init__(self) -> None:
        super().__init__()
        self.dialect = Databricks()

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """In UTC, with a limit of time."""
        settings = {"TIMEZONE": "UTC", "STATEMENT_TIMEOUT": str(max(1, round(timeout)))}
        return url, {"session_configuration": settings}

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """What the planner knows of the tables, before files are skipped."""
        statement = reading.statement
        rows = answered_rows(connection, f"EXPLAIN COST {statement.sql}", statement.values)
        return scan_in("\n".join(str(next(iter(row.values()))) for row in rows))

    def is_late(self, error: Any) -> bool:
        """By its words."""
        return "timed out" in str(error).lower()

    def is_mistake(self, error: Any, said: str) -> bool:
        """By the name of the error."""
        del error
        return any(one in said for one in _MISTAKES)


def scan_in(plan: str) -> Scan | None:
    """The sizes of tables in the text of `EXPLAIN COST`; None where it tells none."""
    optimized = _OPTIMIZED.search(plan)
    found = _LEAF.findall(optimized[1]) if optimized else []
    if not found:
        return None
    read = sum(float(size) * 1024 ** _UNITS.index(unit) for size, unit in found)
    return Scan(read=round(read), is_most=False)
