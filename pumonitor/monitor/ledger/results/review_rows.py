"""Audits as rows of the state database, and back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.schema import review_audits
from pumonitor.monitor.ledger.records.audits import DrawnWindow, ReviewCase, StoredAudit
from pumonitor.monitor.ledger.results.kept_audits import sharing_audits
from pumonitor.text import day_text


def row_of(audit: StoredAudit) -> dict[str, Any]:
    """The row of an audit."""
    plain = {
        name: getattr(audit, name)
        for name in (
            "monitor",
            "configuration",
            "model_version",
            "window_start",
            "window_end",
            "drawn_at",
            "actor",
            "threshold",
            "fair",
            "seed",
        )
    }
    lists = {name: list(getattr(audit, name)) for name in ("edges", "rows", "labeled", "planned")}
    windows = [
        {
            name: one.isoformat() if isinstance(one, datetime) else one
            for name, one in asdict(window).items()
        }
        for window in audit.windows
    ]
    as_of = max(one.as_of for one in audit.windows)
    return {"audit": audit.name, "as_of": as_of, **plain, **lists, "windows": windows}


def audit_of(row: Any) -> StoredAudit:
    """The audit of a row."""
    names = ("monitor", "configuration", "model_version", "drawn_at", "actor", "threshold")
    return StoredAudit(
        name=row.audit,
        **{name: row._mapping[name] for name in (*names, "fair", "seed")},
        edges=tuple(row.edges),
        planned=tuple(row.planned),
        windows=tuple(
            DrawnWindow(
                start=datetime.fromisoformat(one["start"]),
                end=datetime.fromisoformat(one["end"]),
                as_of=datetime.fromisoformat(one["as_of"]),
                rows=tuple(one["rows"]),
                labeled=tuple(one["labeled"]),
                design_effect=one.get("design_effect", 1.0),
            )
            for one in row.windows
        ),
    )


def case_of(row: Any) -> ReviewCase:
    """The line of a file of cases."""
    plain = {name: one for name, one in row._mapping.items() if name not in ("audit", "segments")}
    segments = None if row.segments is None else tuple(row.segments)
    return ReviewCase(**plain, segments=segments)


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
