"""`pumonitor export`: the configuration as other programs take it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.outcome import errors_as_messages

__all__ = ["export"]

export = typer.Typer(no_args_is_help=True, help="Write the alerts for other programs.")


@export.callback()
def _export() -> None:
    """Write the alerts of a configuration as other programs take them."""


@export.command()
def prometheus(
    *,
    config: Config = DEFAULT_CONFIG,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write there rather than to the screen.")
    ] = None,
) -> None:
    """Write alert rules for Prometheus, which scrapes `pumonitor serve --health`.

    Alerts fire in Prometheus when they fire here. With them come alerts about the monitor itself:
    nothing evaluated for too long, nothing to scrape, messages that wait, and one that always
    fires for a dead man's switch.

    Where the health address is no loopback one, its token is the scrape job's
    `authorization: {credentials_file: ...}`.

    Example: pumonitor export prometheus --output pumonitor.rules.yml
    """
    with errors_as_messages():
        from pumonitor.monitor.alerts.rules import alert_rules
        from pumonitor.monitor.config.file import configuration_hash, read_configuration
        from pumonitor.monitor.inspection.prometheus_rules import prometheus_rules

        file = read_configuration(config, needs="ledger")
        monitors = file.configuration.monitors
        for name in monitors:
            # Keys of rules depend on which tables results are of.
            file.require_meaning(name)
        text = prometheus_rules(
            monitors,
            {name: alert_rules(one, configuration_hash(one)) for name, one in monitors.items()},
        )
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")
            typer.echo(f"{output} written; check it with: promtool check rules {output}", err=True)
