"""`pumonitor export counts`: have Spark count a monitor's windows into a table of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.outcome import errors_as_messages


def export_counts(
    monitor: MonitorName,
    *,
    into: Annotated[
        str,
        typer.Option(
            metavar="TABLE",
            help="Table of counts in Spark's catalog, made if it is not there, and added to.",
        ),
    ],
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Count the windows of which a moment came after this, such as 2026-01-31T06:00Z; "
            "by default since one window ago.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Count windows whose counts are there as well."),
    ] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Longest time of one statement.")
    ] = 3600.0,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Have Spark count a monitor's windows into a table, which source: counts://... reads.

    The tables of the configuration are on a Spark Connect server (url: sc://HOST:PORT, table:).
    Neither rows nor counts leave it, but for reviews and complaints. A job that was stopped is run
    again as it was. Exit status 3: Spark failed, took too long, or did not answer for half a
    minute.

    Example: pumonitor export counts card-fraud --into risk.card_fraud_counts
    """
    with errors_as_messages():
        from contextlib import closing
        from datetime import UTC, datetime

        from pumonitor.cli.moments import moment
        from pumonitor.monitor.app import chosen_monitors
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.windows.collect import request_at
        from pumonitor.monitor.windows.opening import (
            open_monitor_source,
            windows_since,
        )
        from pumonitor.sources.counted.spark_table import spark_counts_table

        configuration = read_configuration(config, needs="ledger").configuration
        (chosen,) = chosen_monitors(configuration, monitor).values()
        now = datetime.now(UTC)
        after = None if since is None else moment(since, option="--since")
        windows = [one for one in windows_since(chosen, after, now) if one.end <= now]
        requests = [request_at(chosen, window, now) for window in windows]
        with closing(open_monitor_source(chosen, timeout=timeout)) as source:
            counted = spark_counts_table(source, into, chosen.score_scale).write(
                requests, again=again
            )
        typer.echo(f"{into}: {len(counted)} windows counted, {len(requests) - len(counted)} there")
