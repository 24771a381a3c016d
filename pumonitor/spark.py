"""Counts made by a Spark job of the user's own, for a monitor that has no access to the rows.

The job calls `counts` with the monitor's configuration and appends what it returns to a small
table, which `source: counts://...` reads: `pumonitor.sources.counted.schema` has its columns.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pumonitor.errors import InputError

__all__ = ["counts"]


def counts(
    configuration: str | Path,
    *,
    predictions: Any,
    positives: Any,
    start: datetime,
    end: datetime | None = None,
    monitor: str | None = None,
    now: datetime | None = None,
    table: str | None = None,
) -> Any:
    """Count the windows of a monitor in the session of two Spark frames, all in one job.

    Each window that starts in [start, end) and has ended is counted at all its moments up to now:
    a round of the monitor later asks for the same. So the job runs before the round, each time with
    a `start` from which windows still have moments to come (now less `maturity` and two windows).

    Parameters
    ----------
    configuration : path
        pumonitor.yaml, of which the monitor's columns, windows, panes and threshold are used. Its
        sources are not opened.
    predictions, positives : pyspark.sql.DataFrame
        Of one session, classic or through Spark Connect.
    start, end : datetime
        With their zone; by default up to now.
    monitor : str, optional
        Needed where the file has several.
    now : datetime, optional
        By default the time now.
    table : str, optional
        A table of the catalog to append the counts to, in its format (Delta on Databricks).

    Returns
    -------
    pyspark.sql.DataFrame
        Sets of counts, some 10,000 rows a window.

    Raises
    ------
    InputError
        If a window's rows or labels cannot be used; nothing is written then.
    """
    import pyarrow as pa

    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.windows.collect import request_at
    from pumonitor.monitor.windows.opening import open_frames
    from pumonitor.sources.counted.rows import arrow_schema, rows_of
    from pumonitor.sources.counted.schema import CountedSettings

    moment = datetime.now(UTC) if now is None else now
    monitors = read_configuration(Path(configuration)).configuration.monitors
    chosen = monitors[_name(monitor, list(monitors))]
    windows = chosen.windows.between(start, moment if end is None else min(end, moment))
    requests = [request_at(chosen, one, moment) for one in windows if one.end <= moment]
    segments = chosen.predictions.segments
    sets: list[pa.Table] = [arrow_schema(len(segments)).empty_table()]
    source = open_frames(chosen, predictions, positives)
    try:
        for request, counted in zip(requests, source.counts_of_many(requests), strict=True):
            if isinstance(counted, Exception):
                raise counted
            settings = CountedSettings.of(
                request, score_scale=chosen.score_scale, segments=segments
            )
            sets.append(rows_of(counted, request, settings, counted_at=moment))
    finally:
        source.close()
    session = predictions.sparkSession
    frame = session.createDataFrame(pa.concat_tables(sets))
    if table is not None:
        frame.coalesce(1).write.mode("append").saveAsTable(table)
    return frame


def _name(given: str | None, names: list[str]) -> str:
    if given is None and len(names) == 1:
        return names[0]
    if given in names:
        return str(given)
    msg = f"monitor must be one of {', '.join(names)}, got {given!r}"
    raise InputError(msg)
