"""Audits as rows of the state database, and back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import Connection, select

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.schema import review_audits
from pumonitor.monitor.ledger.records.audits import DrawnWindow, ReviewCase, StoredAudit
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.monitor.ledger.results.kept_audits import sharing_audits
from pumonitor.plain_values import plain
from pumonitor.text import day_text

_WINDOWS: Final = TypeAdapter(tuple[DrawnWindow, ...])


def row_of(audit: StoredAudit) -> dict[str, Any]:
    """The row of an audit."""
    row = {
        column.name: plain(value) if isinstance(value, tuple) else value
        for column in review_audits.c
        if (value := getattr(audit, column.name, None)) is not None
    }
    return row | {"audit": audit.name, "as_of": max(window.as_of for window in audit.windows)}


def audit_of(row: Any) -> StoredAudit:
    """The audit of a row."""
    return record_of(
        StoredAudit,
        row,
        name=row.audit,
        edges=tuple(row.edges),
        planned=tuple(row.planned),
        windows=_WINDOWS.validate_python(row.windows),
    )


def case_of(row: Any) -> ReviewCase:
    """The line of a file of cases."""
    segments = None if row.segments is None else tuple(row.segments)
    return record_of(ReviewCase, row, segments=segments)


def refuse_overlap(
    connection: Connection,
    *,
    monitor: str,
    configuration: str,
    model_version: str,
    starts: Collection[datetime],
) -> None:
    """Refuse windows, by their starts, that an audit was drawn from.

    Raises
    ------
    InputError
        Its message names the other and what to do.
    """
    own = review_audits.c
    for row in connection.execute(
        select(review_audits)
        .where(
            own.monitor == monitor,
            own.configuration.in_(sharing_audits(connection, monitor, configuration)),
            own.model_version == model_version,
        )
        .order_by(own.drawn_at)
    ):
        other = audit_of(row)
        if {one.start for one in other.windows} & set(starts):
            msg = (
                f"audit {other.name}, drawn on {day_text(other.drawn_at)}, has windows among "
                "these: add cases to it with --more, or choose windows that are not from "
                f"{day_text(other.window_start)} to {day_text(other.window_end)}"
            )
            raise InputError(msg)
