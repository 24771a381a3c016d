"""Counts made by a Spark job of the user's own, for a monitor that has no access to the rows.

The job calls `counts` with the monitor's configuration. Each window is counted and written by
Spark, as one set of a table that `source: counts://...` reads: `pumonitor.sources.counted.schema`
has its columns. Neither rows nor counts come here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pumonitor.errors import InputError

if TYPE_CHECKING:
    from pumonitor.ports import Window

__all__ = ["counts"]

_Answer = TypeVar("_Answer")


def counts(
    configuration: str | Path,
    *,
    predictions: Any,
    positives: Any,
    start: datetime,
    table: str,
    end: datetime | None = None,
    monitor: str | None = None,
    now: datetime | None = None,
    again: bool = False,
    timeout: float = 3600.0,
) -> list[Window]:
    """Count the windows of a monitor in the session of two Spark frames, into a table.

    Each window that starts in [start, end) and has ended is counted at all its moments up to now:
    a round of the monitor later asks for the same. So the job runs before the round, each time with
    a `start` from which windows still have moments to come (now less `maturity` and two windows).

    A window is one file of the table, or one commit of Delta: its set is complete or absent. A job
    that was killed is run again as it was; windows whose set is there are passed over.

    Parameters
    ----------
    configuration : path
        pumonitor.yaml, of which the monitor's columns, windows, panes and threshold are used. Its
        sources are not opened.
    predictions, positives : pyspark.sql.DataFrame
        Of one session, classic or through Spark Connect.
    start, end : datetime
        With their zone; by default up to now.
    table : str
        A table of the catalog to append the sets to. One that is not there is made, in the
        catalog's format (Delta on Databricks).
    monitor : str, optional
        Needed where the file has several.
    now : datetime, optional
        By default the time now.
    again : bool
        Count windows whose set is there as well, as after rows were repaired: of several sets of
        one window the one counted last stands.
    timeout : float
        Seconds for each window.

    Returns
    -------
    list of Window
        Those that were counted now.

    Raises
    ------
    InputError
        If a window's rows or labels cannot be used. Its set says so to the monitor as well.
    SourceError
        If Spark fails, takes longer than `timeout`, or does not answer for half a minute.
    """
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.windows.collect import request_at
    from pumonitor.monitor.windows.opening import open_frames
    from pumonitor.sources.counted.spark_table import SparkCountsTable
    from pumonitor.sources.windows.spark_watch import answered_in_time, try_for_seconds

    moment = datetime.now(UTC) if now is None else now
    monitors = read_configuration(Path(configuration)).configuration.monitors
    chosen = monitors[_name(monitor, list(monitors))]
    windows = chosen.windows.between(start, moment if end is None else min(end, moment))
    requests = [request_at(chosen, window, moment) for window in windows if window.end <= moment]
    session = predictions.sparkSession

    def in_time(ask: Callable[[], _Answer], about: str) -> _Answer:
        return answered_in_time(session, ask, about=about, timeout=timeout)

    name = f"the table {table}"
    try_for_seconds(session)
    opened = partial(open_frames, chosen, predictions, positives)
    with closing(in_time(opened, "the data frames")) as source:
        made = partial(
            SparkCountsTable,
            source,
            table,
            segments=chosen.predictions.segments,
            score_scale=chosen.score_scale,
        )
        written = in_time(made, name)
        there = frozenset() if again else in_time(partial(written.sets, start), name)
        waiting = [request for request in requests if written.key(request) not in there]
        for request in waiting:
            about = f"the window from {request.window.start:%Y-%m-%d %H:%M} UTC"
            in_time(partial(written.write, request), about)
    return [request.window for request in waiting]


def _name(given: str | None, names: list[str]) -> str:
    if given is None and len(names) == 1:
        return names[0]
    if given in names:
        return str(given)
    msg = f"monitor must be one of {', '.join(names)}, got {given!r}"
    raise InputError(msg)
