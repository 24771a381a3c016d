"""`pumonitor doctor`: report what is late, stuck or unreachable, with the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config
from pumonitor.cli.outcome import FAILED, errors_as_messages

if TYPE_CHECKING:
    from pumonitor.monitor.config.configuration import Configuration


def doctor(
    *,
    take_up: Annotated[
        str | None,
        typer.Option(
            metavar="DESTINATION",
            help="Send again the messages that this destination refused or that wait for it.",
        ),
    ] = None,
    accept_clock: Annotated[
        bool,
        typer.Option(
            "--accept-clock",
            help="The clock is right now, although it is behind the latest moment that was worked "
            "at: work goes on, and what was counted too early is counted again in its time.",
        ),
    ] = False,
    sizes: Annotated[
        bool,
        typer.Option(
            "--sizes",
            help="Print instead how large the state database is, by table and by monitor, and what "
            "keep_evaluations frees.",
        ),
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Report what is late, stuck or unreachable, and the remedies. Exit status 3 for any error.

    Example: pumonitor doctor
    """
    from pumonitor.cli.terminal import Console, print_json

    with errors_as_messages():
        from pumonitor.monitor.app import open_ledger, shared_clock, utc_now
        from pumonitor.monitor.changes import local_user
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.inspection.doctor import examine, missing_secrets

        configuration = read_configuration(config, needs="ledger").configuration
        if sizes:
            _print_sizes(configuration, as_json=as_json)
            return
        if take_up is not None:
            with open_ledger(configuration) as ledger:
                count = ledger.outbox.take_up(take_up)
            typer.echo(f"{count} messages that were set aside will be sent again", err=True)
        if accept_clock:
            with open_ledger(configuration) as ledger:
                count = shared_clock(ledger).accept(by=local_user())
            typer.echo(
                f"the clock is accepted; {count} evaluations that were made too early are made "
                "again in their time",
                err=True,
            )
        complaints = [
            *missing_secrets(configuration),
            *examine(configuration, now=utc_now()),
        ]
        if as_json:
            print_json(complaints)
        else:
            console = Console(highlight=False)
            for one in complaints:
                colour = "red" if one.severity == "error" else "yellow"
                console.print(f"[{colour}]{one.severity}[/] ", end="")
                console.print(one.what, markup=False, soft_wrap=True)
                console.print(f"  remedy: {one.remedy}", markup=False, soft_wrap=True)
            if not complaints:
                console.print("No problem was found.")
    if any(one.severity == "error" for one in complaints):
        raise typer.Exit(FAILED)


def _print_sizes(configuration: Configuration, *, as_json: bool) -> None:
    from pumonitor.cli.terminal import print_json
    from pumonitor.monitor.app import open_ledger
    from pumonitor.monitor.inspection.sizes import sizes_as_json, sizes_in_words

    with open_ledger(configuration) as ledger:
        if as_json:
            print_json(sizes_as_json(configuration, ledger))
        else:
            typer.echo("\n".join(sizes_in_words(configuration, ledger)))
