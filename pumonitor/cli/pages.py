"""`pumonitor pages`: serve the pages alone."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.pages_options import HostNames, PlainHttp, TrustedProxy, served_as


def pages(
    *,
    address: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT",
            help="Where the pages are served; where other machines reach it, with --host-names.",
        ),
    ] = "127.0.0.1:8090",
    host_names: HostNames = None,
    plain_http: PlainHttp = False,
    trusted_proxy: TrustedProxy = None,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Serve the pages of all monitors until Ctrl-C, without working on any window.

    Overview, monitors, windows and alerts, in a browser, from the state database. Alerts can be
    acknowledged and silenced there, and notes kept. pumonitor serve --pages does the same beside
    the schedule.

    Whoever can reach the address sees everything, unless host names are given: then they sign in
    with a token (pumonitor tokens create).

    Example: pumonitor pages --config pumonitor.yaml
    """
    from threading import Event

    with errors_as_messages():
        from pumonitor.monitor.app import open_ledger
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.dashboard.server import pages_server
        from pumonitor.monitor.signals import stop_on_signals

        served = served_as(host_names, plain_http=plain_http, trusted_proxy=trusted_proxy)
        configuration = read_configuration(config, needs="ledger").configuration
        stopped = Event()
        with (
            stop_on_signals("SIGTERM", "SIGINT", "SIGHUP") as stop,
            open_ledger(configuration) as ledger,
            pages_server(address, configuration.monitors, ledger, served=served) as url,
        ):
            typer.echo(f"Pages: {url} (Ctrl-C ends)")
            stop.calls(stopped.set)
            stopped.wait()
