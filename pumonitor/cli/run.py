"""`pumonitor run`: one round of work for cron, systemd, Kubernetes or Airflow."""

from __future__ import annotations

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, SomeMonitor
from pumonitor.cli.outcome import FAILED, errors_as_messages
from pumonitor.cli.progress import progress_bar

__all__ = ["run"]


def run(
    monitor: SomeMonitor = None, *, config: Config = DEFAULT_CONFIG, as_json: AsJson = False
) -> None:
    """Evaluate every window that is due and was not evaluated yet, deliver, and exit.

    Safe from cron and from several machines at once: each window is claimed by one of them. What
    was missed while nothing ran is made up for, each window as it was known at its own moment.
    Exit status 3: something failed; it is tried again by the next run.

    Example: pumonitor run --config pumonitor.yaml
    """
    import json

    from rich.console import Console

    with errors_as_messages():
        with progress_bar() as step:
            step("Reading the configuration", None)
            from pumonitor.cli.round_table import as_json as to_json
            from pumonitor.cli.round_table import print_round
            from pumonitor.service.app import open_jobs, utc_now
            from pumonitor.service.config_file import read_configuration

            file = read_configuration(config)
            with open_jobs(file.configuration, monitor=monitor) as jobs:
                done = jobs.run(told=lambda what, ready, of: step(what, ready / max(of, 1)))
                backlog = jobs.ledger.counts(now=utc_now(), monitor=monitor)
        if as_json:
            typer.echo(json.dumps(to_json(done, backlog)))
        else:
            print_round(Console(highlight=False), done, backlog)
    if done.failures:
        raise typer.Exit(FAILED)
