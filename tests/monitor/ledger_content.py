"""All that a ledger says, without the times of the work and who did it."""

from __future__ import annotations

import json

from sqlalchemy import select

from pumonitor.monitor.ledger.database.schema import metadata
from pumonitor.monitor.ledger.ledger import Ledger

_OF_THE_WORK = {
    "monitors": {"registered_at", "last_evaluated_at"},
    "windows": {"fence"},
    "panes": {"collected_at", "evaluated_at", "superseded_at"},
    "outbox": {"id", "created", "delivered_at"},
    "audit": {"id", "at"},
    # Of files that were written at another time.
    "standings": {"files"},
    # Of runs in MLflow.
    "keys": {"value"},
    # When looks were collected.
    "prior_states": {"known"},
    "alert_transitions": {"id", "recorded_at", "told_at"},
    # Of transactions, of which a killed worker begins some twice.
    "write_count": {"number"},
}


def ledger_content(ledger: Ledger) -> dict[str, list[str]]:
    """Rows as text by table, sorted; one that is there twice is there twice."""
    content = {}
    with ledger.database.reading() as connection:
        for table in metadata.sorted_tables:
            columns = [
                column
                for column in table.columns
                if column.name not in _OF_THE_WORK.get(table.name, set())
            ]
            rows = [dict(row) for row in connection.execute(select(*columns)).mappings()]
            for row in rows if table.name == "panes" else ():
                # How many seconds reading took, and with how many other windows.
                (row["counts"] or {}).get("versions", {}).pop("read_by", None)
            content[table.name] = sorted(
                json.dumps(row, sort_keys=True, default=str) for row in rows
            )
    return content
