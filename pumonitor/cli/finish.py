"""`pumonitor finish`: end what is open of a monitor that is not followed any more."""

from __future__ import annotations

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.outcome import FAILED, errors_as_messages


def finish(monitor: MonitorName, *, config: Config = DEFAULT_CONFIG) -> None:
    """Finish a monitor that is not followed any more: its runs in MLflow, and its open incidents.

    Runs of a model version that another has taken over, and of another configuration, are finished
    without it. A later result opens its run again. Incidents are resolved where the monitor is not
    in the configuration any more, and whoever was notified is told why.

    Example: pumonitor finish card-fraud
    """
    from datetime import timedelta

    with errors_as_messages():
        from pumonitor.errors import InputError, no_such
        from pumonitor.monitor.app import open_jobs, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.windows.messages.finishing import finish_runs

        configuration = read_configuration(config).configuration
        is_configured = monitor in configuration.monitors
        if is_configured and configuration.tracking is None:
            msg = "the configuration has no tracking, so there are no runs in MLflow"
            raise InputError(msg)
        with open_jobs(configuration, monitor=monitor if is_configured else None) as jobs:
            if not is_configured and jobs.ledger.configuration(monitor) is None:
                known = jobs.ledger.standings.current_configurations()
                raise InputError(no_such("monitor", monitor, known))
            if configuration.tracking is not None:
                finish_runs(jobs.ledger, monitor, now=utc_now())
            if not is_configured:
                jobs.close_monitor(monitor, because="The monitor is not followed any more.")
            deliveries = jobs.deliver(budget=timedelta(minutes=1))
        failed = [
            f"{name}: {one.reason}"
            for name, one in deliveries.items()
            if one.failed or one.set_aside or one.stopped != "nothing due"
        ]
        if failed:
            typer.echo(
                f"not delivered yet; the next run tries again: {'; '.join(failed)}", err=True
            )
            raise typer.Exit(FAILED)
        done = ["its runs in MLflow are finished"] * (configuration.tracking is not None)
        done += ["its open incidents are resolved"] * (not is_configured)
        typer.echo(f"{monitor}: {', '.join(done)}")
