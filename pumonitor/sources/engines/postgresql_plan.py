"""What PostgreSQL expects to read, by its plan and the sizes of tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pumonitor.scans import Parts, Scan
from pumonitor.sources.engines.sql_backend import answered_rows

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
