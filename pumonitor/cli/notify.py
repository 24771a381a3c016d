"""`pumonitor notify --test`: send a test message to destinations."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config
from pumonitor.cli.outcome import FAILED, errors_as_messages


def notify(
    destination: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DESTINATION]...",
            help="Names of destinations in the configuration; without any, all of them.",
        ),
    ] = None,
    *,
    test: Annotated[
        bool, typer.Option("--test", help="Send a message that is marked as a test.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Send a test message to destinations. Exit status 3: one did not accept it.

    Alerts themselves are sent by `pumonitor run` and `pumonitor serve`.

    Example: pumonitor notify --test oncall
    """
    from pumonitor.cli.terminal import Console, print_json

    with errors_as_messages():
        from pumonitor.errors import InputError
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.inspection.trying_destinations import try_destinations

        if not test:
            msg = (
                "give --test to send a test message; alerts are sent by pumonitor run and "
                "pumonitor serve"
            )
            raise InputError(msg)
        configuration = read_configuration(config).configuration
        console = Console(highlight=False)
        done = []
        for one in try_destinations(configuration, destination or (), clock=utc_now):
            done.append(one)
            if not as_json:
                word = "[green]delivered[/]" if one.delivered else "[red]failed[/]   "
                console.print(word, end=" ")
                console.print(
                    f"{one.destination} ({one.kind}): {one.message}", markup=False, soft_wrap=True
                )
        if as_json:
            print_json(done)
    if not all(one.delivered for one in done):
        raise typer.Exit(FAILED)
