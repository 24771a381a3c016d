"""The audit log: who did what, and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert

from pumonitor.monitor.ledger.database.schema import audit


def record(
    connection: Connection, *, at: datetime, actor: str, action: str, detail: Mapping[str, Any]
) -> None:
    """Add an entry, in the transaction of what it is about."""
    plain = {
        name: one.isoformat() if isinstance(one, datetime) else one for name, one in detail.items()
    }
    connection.execute(insert(audit).values(at=at, actor=actor, action=action, detail=plain))
