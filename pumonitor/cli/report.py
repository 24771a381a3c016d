"""`pumonitor report`: one page on a monitor's windows of a month, a quarter or other dates."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.outcome import errors_as_messages

__all__ = ["report"]


class Format(StrEnum):
    """How a report is written."""

    html = "html"


def report(
    monitor: MonitorName,
    *,
    period: Annotated[
        str,
        typer.Option(
            metavar="PERIOD",
            help="Windows that start in it: 2026-03, 2026-03-01, 2026-Q1, 2026, or "
            "2026-01-01..2026-02-01, whose end is not part of it. In the monitor's time zone.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write; without it MONITOR-PERIOD.html."),
    ] = None,
    format: Annotated[  # noqa: A002 (its name on the command line)
        Format, typer.Option(help="HTML, which also prints.")
    ] = Format.html,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Write a report of a period as one HTML file that needs nothing else, and prints well.

    Headline estimates over the windows with their intervals, alerts with causes, expected beside
    realised values, label delays, odd rows, versions, configurations, and what is unsure. Its
    numbers are those of pumonitor results.

    Example: pumonitor report card-fraud --period 2026-03
    """
    with errors_as_messages():
        from pumonitor.errors import InputError
        from pumonitor.monitor.app import chosen_monitors, open_ledger, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.reports.period.period_report import period_report
        from pumonitor.monitor.rules.windows.named_period import read_period

        del format  # there is one
        configuration = read_configuration(config, needs="ledger").configuration
        (chosen,) = chosen_monitors(configuration, monitor).values()
        asked = read_period(period, zone=chosen.zone)
        with open_ledger(configuration) as ledger:
            page = period_report(
                chosen, ledger, asked, now=utc_now(), pages=configuration.page_addresses
            )
        if page is None:
            msg = (
                f"{monitor} has no evaluated window that starts in {asked.name}: pumonitor results "
                f"{monitor} shows those it has"
            )
            raise InputError(msg)
        name = asked.name.replace(" to ", "-to-").replace(":", "")
        path = out or Path(f"{monitor}-{name}.html")
        path.write_text(page, encoding="utf-8")
        typer.echo(f"{path} written")
