"""`pumonitor notes`: what people noted about monitors."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.moments import moment
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, MonitorName, SomeMonitor
from pumonitor.cli.opened import opened_ledger
from pumonitor.text import moment_text, window_text

__all__ = ["notes"]

notes = typer.Typer(no_args_is_help=True)


@notes.callback()
def _notes() -> None:
    """Add, list and withdraw notes about a monitor; its page shows them beside its numbers."""


@notes.command()
def add(
    monitor: MonitorName,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The note, of at most 2,000 characters.")
    ],
    *,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The time it is about, or where that begins; without it, now."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="End of the time it is about; without it, a moment."),
    ] = None,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Add a note, which is stored with your name.

    Example: pumonitor notes add card-fraud "new card reader" --at 2026-03-01
    """
    with opened_ledger(config, monitor) as opened:
        from pumonitor.errors import InputError
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.changes import add_note, local_user
        from pumonitor.monitor.ledger.records.notes import Note

        begins = utc_now() if at is None else moment(at, option="--at")
        ends = None if until is None else moment(until, option="--until")
        if ends is not None and ends < begins:
            msg = f"--until must not be earlier than the beginning, got {until}"
            raise InputError(msg)
        note = Note(monitor=monitor, at=begins, ends=ends, text=text, author=local_user())
        stored = add_note(opened.ledger, note)
    typer.echo(f"note {stored.id} about {moment_text(stored.at)}")


@notes.command(name="list")
def list_notes(
    monitor: SomeMonitor = None,
    *,
    withdrawn: Annotated[
        bool, typer.Option("--withdrawn", help="Also notes that were withdrawn.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """List notes in the order of the times they are about.

    Example: pumonitor notes list card-fraud
    """
    from pumonitor.cli.terminal import print_json
    from pumonitor.plain_text import one_line

    with opened_ledger(config, monitor) as opened:
        found = opened.ledger.notes.all(monitors=list(opened.monitors), withdrawn=withdrawn)
    if as_json:
        print_json(found)
        return
    for one in found:
        gone = "" if one.withdrawn_at is None else ", withdrawn"
        ends = one.ends
        at = moment_text(one.at) if ends is None else window_text(one.at, ends)
        typer.echo(
            f"{one.id}  {one.monitor}  {at}  {one_line(one.text)}  ({one_line(one.author)}{gone})"
        )
    if not found:
        typer.echo("There are no notes.")


@notes.command()
def withdraw(
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", help="Number of the note; notes list shows it.")
    ],
    *,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Withdraw a note, which is then no longer shown. Example: pumonitor notes withdraw 3."""
    with opened_ledger(config) as opened:
        from pumonitor.monitor.changes import local_user, withdraw_note

        withdraw_note(opened.ledger, number, by=local_user())
    typer.echo(f"note {number} is withdrawn")
