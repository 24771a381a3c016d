"""`pumonitor export`: rules for Prometheus, a dashboard for Grafana, SQL for warehouses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pumonitor.cli.export_counts import export_counts
from pumonitor.cli.export_sql import export_sql
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.outcome import errors_as_messages

__all__ = ["export"]

export = typer.Typer(
    no_args_is_help=True,
    help="Write alert rules, a dashboard, and SQL that counts windows, for other programs.",
)
export.command("sql")(export_sql)
export.command("counts")(export_counts)


@export.callback()
def _export() -> None:
    """Write alert rules for Prometheus, the dashboard for Grafana, or SQL that counts windows."""


@export.command()
def grafana(
    *,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write; without it the dashboard is printed."),
    ] = None,
) -> None:
    """Write a dashboard for Grafana 10.1 and later, over the Prometheus that has the metrics.

    It is the same for every configuration: monitors, model versions and segments are chosen at its
    top. In Grafana: Dashboards, New, Import, and choose the Prometheus that scrapes `pumonitor
    serve --health`.

    Example: pumonitor export grafana --output pumonitor.json
    """
    with errors_as_messages():
        from importlib.resources import files

        made = files("pumonitor.monitor.inspection") / "grafana_dashboard.json"
        text = made.read_text(encoding="utf-8")
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")
            typer.echo(f"{output} written; import it in Grafana", err=True)


@export.command()
def prometheus(
    *,
    config: Config = DEFAULT_CONFIG,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write; without it the rules are printed."),
    ] = None,
) -> None:
    """Write alert rules for Prometheus, which scrapes `pumonitor serve --health`.

    Alerts fire in Prometheus when they fire here. The file also has alerts about the monitor
    itself: nothing was evaluated for too long, nothing can be scraped, messages wait; and one
    that always fires, for a dead man's switch. With pages: address in the configuration, alerts
    link to the page of their monitor (annotation page_url).

    Unless the health address is a loopback one, Prometheus needs the token: in the scrape job
    `authorization: {credentials_file: ...}`.

    Example: pumonitor export prometheus --output pumonitor.rules.yml
    """
    with errors_as_messages():
        from pumonitor.monitor.alerts.rules import alert_rules
        from pumonitor.monitor.config.file import configuration_hash, read_configuration
        from pumonitor.monitor.inspection.prometheus_rules import prometheus_rules

        configuration = read_configuration(config, needs="ledger").configuration
        monitors = configuration.monitors
        for one in monitors.values():
            # The keys of rules depend on which tables are meant.
            one.require_identified()
        text = prometheus_rules(
            monitors,
            {name: alert_rules(one, configuration_hash(one)) for name, one in monitors.items()},
            pages=configuration.page_addresses,
        )
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")
            typer.echo(f"{output} written; check it with: promtool check rules {output}", err=True)
