"""`pumonitor accept`: take what is left of a window whose rows were deleted on purpose."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.moments import moment
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.text import moment_text


def accept(
    monitor: MonitorName,
    window: Annotated[
        str, typer.Argument(metavar="WINDOW", help="Start of the window, or a time within it.")
    ],
    *,
    reason: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Why rows are gone for good, such as a lawful erasure. It is stored with your "
            "name and the time.",
        ),
    ],
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Take a later look at a window although rows or labels are gone that were counted before.

    Such a look is refused, and the earlier results stay (tolerated_losses). The next run takes what
    the refused look found, or more, and evaluates the window anew; alerts follow it.

    Example: pumonitor accept card-fraud 2026-01-05 --reason "erasure of a customer's rows"
    """
    with errors_as_messages():
        from pumonitor.monitor.app import chosen_monitors, open_ledger
        from pumonitor.monitor.changes import accept_look, local_user
        from pumonitor.monitor.config.file import read_configuration

        configuration = read_configuration(config, needs="ledger").configuration
        chosen_monitors(configuration, monitor)
        with open_ledger(configuration) as ledger:
            taken = accept_look(
                ledger, monitor, moment(window, option="WINDOW"), by=local_user(), reason=reason
            )
    typer.echo(
        f"{monitor}: the next run takes what is left of the window of "
        f"{moment_text(taken.window.start)}"
    )
