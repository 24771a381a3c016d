"""`pumonitor finish`: mark a monitor's MLflow runs as finished."""

from __future__ import annotations

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.outcome import FAILED, errors_as_messages

__all__ = ["finish"]


def finish(monitor: MonitorName, *, config: Config = DEFAULT_CONFIG) -> None:
    """Mark the runs of a monitor in MLflow as finished, when its model is not followed any more.

    Runs of a model version that another has taken over, and of another configuration, are finished
    without it. A later result opens its run again.

    Example: pumonitor finish card-fraud
    """
    from datetime import timedelta

    with errors_as_messages():
        from pumonitor.errors import InputError
        from pumonitor.monitor.app import open_jobs, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.delivery.mlflow.sink import DESTINATION
        from pumonitor.monitor.windows.messages.finishing import finish_runs

        configuration = read_configuration(config).configuration
        if configuration.tracking is None:
            msg = "the configuration has no tracking, so there are no runs in MLflow"
            raise InputError(msg)
        with open_jobs(configuration, monitor=monitor) as jobs:
            finish_runs(jobs.ledger, monitor, now=utc_now())
            done = jobs.deliver(budget=timedelta(minutes=1))[DESTINATION]
        if done.failed or done.set_aside or done.stopped != "nothing due":
            typer.echo(
                f"not delivered to MLflow yet; the next run tries again: {done.reason}", err=True
            )
            raise typer.Exit(FAILED)
        typer.echo(f"{monitor}: its runs in MLflow are finished")
