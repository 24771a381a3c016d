"""Convert rows of the database to records."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.windows import PaneRecord, WindowRecord
from pumonitor.ports import Window


def window_of(row: Row[Any]) -> Window:
    """Make a window from a row with its columns."""
    return Window(start=row.window_start, end=row.window_end, index=row.window_index)


def evaluation_in(row: Row[Any]) -> StoredEvaluation:
    """Make an evaluation from a row of `select_evaluations`."""
    return StoredEvaluation(
        window_key=row.window_key,
        monitor=row.monitor,
        window=window_of(row),
        number=row.number,
        state=row.state,
        as_of=row.as_of,
        revision=row.revision,
        model_version=row.model_version,
        segment=row.segment,
        evaluation=row.evaluation,
    )


def series_in(row: Row[Any]) -> StoredSeries:
    """Make a series from a row of `select_series`."""
    return StoredSeries(
        window_key=row.window_key,
        window=window_of(row),
        number=row.number,
        state=row.state,
        as_of=row.as_of,
        model_version=row.model_version,
        segment=row.segment,
        class_prior=row.class_prior,
        delays=row.delays,
        table_bytes=row.table_bytes,
    )


def window_in(rows: list[Row[Any]]) -> WindowRecord:
    """Make a window from the rows of its panes, which are in order."""
    first = rows[0]
    return WindowRecord(
        window_key=first.window_key,
        monitor=first.monitor,
        configuration=first.configuration,
        window=window_of(first),
        panes=tuple(PaneRecord.model_validate(row) for row in rows),
        attempts=first.attempts,
        last_error=first.last_error,
        not_before=first.not_before,
        lease_owner=first.lease_owner,
        lease_until=first.lease_until,
        refused_look=first.refused_look,
        accepted_look=first.accepted_look,
    )
