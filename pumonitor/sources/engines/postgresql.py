"""PostgreSQL, and what speaks its language."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pumonitor.scans import Parts, Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import PostgreSQL
from pumonitor.sources.engines.sql_backend import LABELS_TABLE, SqlBackend, answered_rows
from pumonitor.sources.engines.sql_engine import SQLEngine

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading
    from pumonitor.sources.windows.counts_parts import Statement

# Of each table of the plan: its bytes, and the tables that it is a partition of the same one with.
_TABLES: Final = """
SELECT child.oid::bigint AS number, ns.nspname AS schema, child.relname AS name,
       pg_relation_size(child.oid) AS bytes, parent.inhparent::bigint AS parent,
       (SELECT count(*) FROM pg_inherits AS other WHERE other.inhparent = parent.inhparent) AS parts
FROM pg_class AS child JOIN pg_namespace AS ns ON ns.oid = child.relnamespace
LEFT JOIN pg_inherits AS parent ON parent.inhrelid = child.oid AND child.relispartition
WHERE ns.nspname = ANY(:schemas) AND child.relname = ANY(:names)
"""

# By the numbers under which PostgreSQL lists its types, the same with every driver.
_KINDS: Final[dict[int, tuple[str, Kind]]] = {
    16: ("boolean", "boolean"),
    20: ("bigint", "integer"),
    21: ("smallint", "integer"),
    23: ("integer", "integer"),
    25: ("text", "text"),
    700: ("real", "single"),
    701: ("double precision", "number"),
    1042: ("character", "text"),
    1043: ("character varying", "text"),
    1082: ("date", "date"),
    1114: ("timestamp without time zone", "naive"),
    1184: ("timestamp with time zone", "moment"),
    1700: ("numeric", "number"),
    2950: ("uuid", "text"),
}
_QUERY_CANCELED: Final = "57014"
_NOT_ALLOWED: Final = "42501"
_MISTAKES: Final = ("42", "22")
"""Classes of SQL states: a query that is none, data that cannot be read as it says."""


def open_postgresql(url: str, *, timeout: float, as_of: datetime | None = None) -> SQLEngine:
    """Open a PostgreSQL database, whose tables have no versions."""
    del as_of
    return SQLEngine(url, PostgreSQLBackend(), timeout=timeout)


class PostgreSQLBackend(SqlBackend):
    """Types, limits and errors of PostgreSQL."""

    begin = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",)
    after_labels = (f"ANALYZE {LABELS_TABLE}",)
    holds_nul = False
    version_query = "SHOW server_version"

    def __init__(self) -> None:
        self.dialect = PostgreSQL()

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """With limits of time and in UTC, where the driver takes settings."""
        if url.get_driver_name() != "psycopg":
            return url, {}
        limit = round(timeout * 1000)
        settings = f"-c statement_timeout={limit} -c lock_timeout={limit} -c TimeZone=UTC"
        return url, {"options": settings}

    def column_types(
        self, described: Sequence[Sequence[Any]], sample: Sequence[Sequence[Any]]
    ) -> list[tuple[str, Kind]]:
        """By the numbers of the types."""
        del sample
        return [_kind(one) for one in described]

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """By the plan."""
        return planned_scan(connection, reading.statement)

    def is_late(self, error: Any) -> bool:
        """Its own state for cancelled statements."""
        return _state(error) == _QUERY_CANCELED

    def is_mistake(self, error: Any, said: str) -> bool:
        """By the class of the state; a right that is missing is no mistake of the query."""
        del said
        return _state(error).startswith(_MISTAKES) and _state(error) != _NOT_ALLOWED


def _kind(described: Sequence[Any]) -> tuple[str, Kind]:
    stored, kind = _KINDS.get(described[1], ("a type not read here", "other"))
    return stored, "integer" if stored == "numeric" and described[5] == 0 else kind


def _state(error: Any) -> str:
    return str(getattr(error, "sqlstate", None) or "")


def planned_scan(connection: Connection, statement: Statement) -> Scan | None:
    """What the planner expects: whole tables where it scans them, else rows times their width.

    Partitions that only the running statement would leave out are counted as read.
    """
    explain = f"EXPLAIN (VERBOSE, FORMAT JSON) {statement.sql}"
    ((answer,),) = (row.values() for row in answered_rows(connection, explain, statement.values))
    plan = json.loads(answer) if isinstance(answer, str) else answer
    # Labels that came from elsewhere lie in a table of the session.
    scans = [node for node in _nodes(plan[0]["Plan"]) if node.get("Schema", "pg_temp") != "pg_temp"]
    scans = [node for node in scans if "Relation Name" in node]
    if not scans:
        return None
    wanted = {
        "schemas": sorted({str(node["Schema"]) for node in scans}),
        "names": sorted({str(node["Relation Name"]) for node in scans}),
    }
    tables = {
        (row["schema"], row["name"]): row for row in answered_rows(connection, _TABLES, wanted)
    }
    read = 0
    partitions: dict[int, int] = {}
    seen: set[int] = set()
    for node in scans:
        table = tables[node["Schema"], node["Relation Name"]]
        is_whole = node["Node Type"] == "Seq Scan"
        estimated = int(node["Plan Rows"]) * int(node["Plan Width"])
        read += int(table["bytes"]) if is_whole else min(estimated, int(table["bytes"]))
        if table["parent"] is not None:
            partitions[int(table["parent"])] = int(table["parts"])
            seen.add(int(table["number"]))
    parts = (Parts(named="partitions", read=len(seen), of=sum(partitions.values())),)
    return Scan(read=read, parts=parts if partitions else (), is_most=False)


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)
