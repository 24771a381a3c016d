"""`pumonitor pages`: serve the pages alone."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.outcome import errors_as_messages

__all__ = ["pages"]


def pages(
    *,
    address: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT", help="Where the pages are served; an address of this machine."
        ),
    ] = "127.0.0.1:8090",
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Serve the pages of all monitors until Ctrl-C, without working on any window.

    Overview, monitors, windows and alerts, in a browser, from the state database. Alerts can be
    acknowledged and silenced there, and notes kept. pumonitor serve --pages does the same beside
    the schedule.

    Example: pumonitor pages --config pumonitor.yaml
    """
    with errors_as_messages():
        from pumonitor.monitor.app import open_ledger
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.dashboard.server import pages_server, wait_for_signal

        configuration = read_configuration(config, needs="ledger").configuration
        with (
            open_ledger(configuration) as ledger,
            pages_server(address, configuration.monitors, ledger) as url,
        ):
            typer.echo(f"Pages: {url} (Ctrl-C ends)")
            wait_for_signal()
