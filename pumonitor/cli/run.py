"""`pumonitor run`: do one round of work, for cron, systemd, Kubernetes or Airflow."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.changed_configuration import changed_as_json, note_changed_configuration
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, SomeMonitor
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar


def run(
    monitor: SomeMonitor = None,
    *,
    config: Config = DEFAULT_CONFIG,
    fail_on_alert: Annotated[
        bool,
        typer.Option("--fail-on-alert", help="Exit with status 1 while a critical alert fires."),
    ] = False,
    refresh_auxiliary: Annotated[
        bool,
        typer.Option(
            "--refresh-auxiliary",
            help="Train the auxiliary score (predictions: features) again, on the present rows of "
            "the same windows.",
        ),
    ] = False,
    take_over: Annotated[
        bool,
        typer.Option(
            "--take-over",
            help="Put this configuration to use although another one of the same monitor takes "
            "turns with it on this state database; whoever uses that one has been stopped.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate every window that is due and was not evaluated yet, deliver, and exit.

    Safe from cron and from several machines at once: each window is claimed by one of them.
    Windows missed while nothing ran are evaluated now, each as it was known at its own moment.
    Exit status 2: the data or the configuration have to change. 3: something else failed, or an
    alert or a result for MLflow could not be delivered; the next run tries again. 1, with
    --fail-on-alert: an alert of severity critical is firing, delivered or not.

    Example: pumonitor run --config pumonitor.yaml
    """
    import json
    from dataclasses import replace

    from pumonitor.cli.terminal import Console

    with errors_as_messages():
        with progress_bar(logged_as="run") as step:
            from pumonitor.cli.round_table import Left, exit_status, print_round
            from pumonitor.cli.round_table import as_json as to_json
            from pumonitor.monitor.app import open_jobs, utc_now
            from pumonitor.monitor.config.file import read_configuration
            from pumonitor.monitor.signals import stop_on_signals

            file = read_configuration(config)
            with (
                stop_on_signals("SIGTERM", "SIGHUP") as stop,
                open_jobs(file.configuration, monitor=monitor) as jobs,
            ):
                stop.calls(jobs.stop, give_back=jobs.give_back)
                changed = note_changed_configuration(
                    jobs.ledger,
                    jobs.monitors.values(),
                    config,
                    then="This run evaluates them again as far as there are predictions. To "
                    "do that with several processes and send no alert",
                )
                if refresh_auxiliary:
                    jobs.refresh_auxiliary(only=monitor)
                if take_over:
                    jobs.take_over()
                done = jobs.run(
                    on_progress=lambda what, ready, of: step(what, ready / of if of else None)
                )
                firing = [
                    one
                    for one in jobs.ledger.alerts.current(monitor, firing=True)
                    if one.monitor in jobs.monitors
                ]
                left = replace(Left.by(jobs, monitor, now=utc_now()), firing=firing)
        if as_json:
            document = to_json(done, left)
            document["other_configurations"] = changed_as_json(changed, config)
            typer.echo(json.dumps(document))
        else:
            print_round(Console(highlight=False), done, left)
        if stop.number:
            typer.echo("stopped by a signal; the next run goes on with what is left", err=True)
            raise typer.Exit(128 + stop.number)
    if status := exit_status(done, left, fail_on_alert=fail_on_alert):
        raise typer.Exit(status)
