"""`pumonitor accept`: take what is left of a window whose rows were deleted on purpose."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.moments import moment
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.opened import opened_ledger
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
    with opened_ledger(config, monitor) as opened:
        from pumonitor.monitor.changes import accept_look, local_user

        start = moment(window, option="WINDOW")
        taken = accept_look(opened.ledger, monitor, start, by=local_user(), reason=reason)
    typer.echo(
        f"{monitor}: the next run takes what is left of the window of "
        f"{moment_text(taken.window.start)}"
    )
