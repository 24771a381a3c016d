"""Counts made by a Spark job of the user's own, for a monitor that has no access to the rows.

The job calls `counts` with the monitor's configuration. Each window is counted and written by
Spark, as one set of a table that `source: counts://...` reads: `pumonitor.sources.counted.schema`
has its columns. Neither rows nor counts come here, but for reviews and complaints.
"""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pumonitor.errors import InputError

if TYPE_CHECKING:
    from pumonitor.ports import Window


def counts(
    configuration: str | Path,
    *,
    predictions: Any,
    positives: Any,
    reviews: Any = None,
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
    reviews : pyspark.sql.DataFrame or sequence of them, optional
        Of a monitor with reviews: one for each queue, in the order of the configuration. What
        reviews and complaints say passes through this process, which puts it together.
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
        Seconds for one statement.

    Returns
    -------
    list of Window
        Those that were counted now.

    Raises
    ------
    InputError
        If a window's rows or labels cannot be used. Its set says so to the monitor as well. If
        there are more or fewer reviews than queues.
    SourceError
        If Spark fails, takes longer than `timeout`, or does not answer for half a minute.
    """
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.windows.collect import request_at
    from pumonitor.monitor.windows.opening import open_frames
    from pumonitor.sources.counted.spark_table import spark_counts_table

    moment = datetime.now(UTC) if now is None else now
    monitors = read_configuration(Path(configuration)).configuration.monitors
    chosen = monitors[_name(monitor, list(monitors))]
    windows = chosen.windows.between(start, moment if end is None else min(end, moment))
    requests = [request_at(chosen, window, moment) for window in windows if window.end <= moment]
    given = () if reviews is None else reviews
    queues = tuple(given) if isinstance(given, list | tuple) else (given,)
    with closing(
        open_frames(chosen, predictions, positives, reviewed=queues, timeout=timeout)
    ) as source:
        return spark_counts_table(source, table, chosen.score_scale).write(requests, again=again)


def _name(given: str | None, names: list[str]) -> str:
    if given is None and len(names) == 1:
        return names[0]
    if given in names:
        return str(given)
    msg = f"monitor must be one of {', '.join(names)}, got {given!r}"
    raise InputError(msg)
