"""From a monitor's configuration to its open tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.sources import Source, channel_of
from pumonitor.ports import PredictionSource, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    SqlQuery,
    SqlTable,
)


def open_monitor_source(
    monitor: Monitor, *, as_of: datetime | None = None, timeout: float = 600.0
) -> PredictionSource:
    """Open a monitor's tables; the caller closes them.

    Parameters
    ----------
    monitor : Monitor
    as_of : datetime, optional
        Of tables in lakes the version is read that was the newest then; by default the newest.
    timeout : float
        Seconds for one statement.

    Raises
    ------
    InputError
        If a table or column does not agree with the configuration.
    SourceError
        If files or a database cannot be read.
    """
    return open_frames(
        monitor,
        place_of(monitor.predictions.source),
        place_of(monitor.positives.source),
        as_of=as_of,
        timeout=timeout,
    )


def open_frames(
    monitor: Monitor,
    made: object,
    known: object,
    *,
    reviewed: Sequence[object] | None = None,
    as_of: datetime | None = None,
    timeout: float = 600.0,
) -> PredictionSource:
    """Open two tables with the columns of a monitor, wherever they are; reviews where it says.

    Raises
    ------
    InputError
        If reviews are given, and not one for each queue of the monitor.
    """
    if reviewed is None:
        reviewed = [place_of(queue.source) for queue in monitor.reviews]
    if len(reviewed) != len(monitor.reviews):
        msg = (
            f"{monitor.name} has {len(monitor.reviews)} queues of reviews, got {len(reviewed)} "
            "tables of them: give one for each, in the order of the configuration"
        )
        raise InputError(msg)
    # Engines are loaded with it.
    from pumonitor.sources.opening import open_source

    made_columns, known_columns = columns_of(monitor)
    return open_source(
        made,
        made_columns,
        known,
        known_columns,
        score_scale=monitor.score_scale,
        as_of=as_of,
        statement_timeout=timeout,
        max_bytes=monitor.predictions.max_bytes,
        reviews=[
            (place, queue.columns) for place, queue in zip(reviewed, monitor.reviews, strict=True)
        ],
    )


def columns_of(monitor: Monitor) -> tuple[PredictionColumns, LabelColumns]:
    """What the columns of a monitor's tables mean."""
    predictions, positives = monitor.predictions, monitor.positives
    return (
        PredictionColumns(
            id=predictions.id,
            time=predictions.time,
            score=predictions.score,
            model_version=predictions.model_version,
            segments=predictions.counted_by,
            ranked_by=monitor.reviews[0].ranked_by if monitor.reviews else None,
            value=predictions.value_column,
            features=predictions.features,
            group=predictions.group or predictions.entity,
            time_zone=predictions.time_zone,
            time_unit=predictions.time_unit,
            ambiguous=predictions.ambiguous,
        ),
        LabelColumns(
            id=positives.id,
            known_at=positives.known_at,
            label=positives.label_column,
            label_words=positives.label_words,
            propensity=positives.propensity,
            channel=channel_of(positives.channel),
            time_zone=positives.time_zone,
            time_unit=positives.time_unit,
            ambiguous=positives.ambiguous,
        ),
    )


def refuse_reviews(monitor: Monitor) -> None:
    """Refuse to have SQL alone count rows of which reviews or values are known as well.

    Raises
    ------
    InputError
        If the monitor has them.
    """
    if monitor.predictions.value is not None:
        msg = (
            f"{monitor.name} has predictions.value, by which SQL alone does not count: count by "
            "pumonitor.spark.counts or pumonitor export counts, or have the monitor read the "
            "tables itself"
        )
        raise InputError(msg)
    if monitor.reviews:
        msg = (
            f"{monitor.name} has reviews, which SQL alone does not put together with complaints: "
            "count by pumonitor.spark.counts or pumonitor export counts, or have the monitor read "
            "the tables themselves"
        )
        raise InputError(msg)


def windows_since(monitor: Monitor, since: datetime | None, now: datetime) -> list[Window]:
    """Windows of which a moment came after one time and by another, in order.

    Without `since` those of which one came within the length of the last window.
    """
    grid, schedule = monitor.windows, monitor.pane_schedule
    last = grid.containing(now)
    after = now - (last.end - last.start) if since is None else since
    first = grid.previous(grid.containing(after - max(schedule.ages)))
    return [
        window
        for window in grid.between(first.start, now)
        if any(after < pane.as_of <= now for pane in schedule.panes(window))
    ]


def place_of(source: Source) -> str | SqlTable | SqlQuery:
    """Where a table is, with its secrets."""
    if source.query is not None:
        return SqlQuery(url=source.address, query=source.query)
    if source.table is not None:
        return SqlTable(url=source.address, table=source.table)
    return source.location
