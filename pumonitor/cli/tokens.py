"""`pumonitor tokens`: who may read the pages and the API from elsewhere."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config
from pumonitor.cli.opened import opened_ledger
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from datetime import datetime

    from pumonitor.monitor.ledger.tokens import Token

__all__ = ["tokens"]

tokens = typer.Typer(no_args_is_help=True)

_MOST_CHARACTERS = 100


class Right(StrEnum):
    """What a token allows."""

    read = "read"
    acknowledge = "acknowledge"
    admin = "admin"


@tokens.callback()
def _tokens() -> None:
    """Make, list and revoke tokens, with which programs and people reach the pages and the API."""


@tokens.command()
def create(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Who will use it; the audit log has this name.")
    ],
    *,
    right: Annotated[
        Right,
        typer.Option(
            help="read: see monitors. acknowledge: also acknowledge and silence alerts and write "
            "notes. admin: also what concerns all monitors."
        ),
    ] = Right.read,
    monitor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MONITOR", help="Only this monitor; may be repeated. Without it, all."
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="How long it holds, such as 90d. Without it, always."
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Make a token and print it, once: only a hash of it is kept.

    Example: pumonitor tokens create grafana --right read --expires 90d
    """
    with opened_ledger(config) as (configuration, _, ledger):
        from pumonitor.errors import InputError
        from pumonitor.monitor.app import chosen_monitors
        from pumonitor.monitor.changes import local_user
        from pumonitor.monitor.config.values.durations import read_duration

        if not name.strip() or len(name) > _MOST_CHARACTERS or not name.isprintable():
            msg = f"the name of a token has 1 to {_MOST_CHARACTERS} printable characters"
            raise InputError(msg)
        try:
            lasts = None if expires is None else read_duration(expires)
        except ValueError as error:
            msg = f"--expires {error}"
            raise InputError(msg) from None
        for one in monitor or ():
            chosen_monitors(configuration, one)
        if any(one.name == name and one.revoked_at is None for one in ledger.tokens.all()):
            msg = (
                f"there is a token {name!r}: pumonitor tokens revoke ends it, or choose another "
                "name"
            )
            raise InputError(msg)
        _, text = ledger.tokens.create(
            name, right.value, by=local_user(), monitors=monitor or None, lasts=lasts
        )
    typer.echo(text)
    typer.echo("It is shown this once. Send it as Authorization: Bearer TOKEN.", err=True)


@tokens.command(name="list")
def list_tokens(*, config: Config = DEFAULT_CONFIG, as_json: AsJson = False) -> None:
    """List tokens with their rights and their last use; nothing shows a token itself.

    Example: pumonitor tokens list
    """
    from pumonitor.cli.terminal import Console, TableColumn, print_json, print_table

    with opened_ledger(config) as opened:
        from pumonitor.monitor.app import utc_now

        found = opened.ledger.tokens.all()
    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo("There is no token: pumonitor tokens create makes one.")
        return
    now = utc_now()
    columns = [
        TableColumn("id", lambda token: token.id),
        TableColumn("name", lambda token: token.name),
        TableColumn("right", lambda token: token.right),
        TableColumn(
            "monitors", lambda token: "all" if token.monitors is None else ", ".join(token.monitors)
        ),
        TableColumn("last used", lambda token: _day(token.last_used_at)),
        TableColumn("state", lambda token: _state(token, now)),
    ]
    print_table(Console(highlight=False), found, columns)


def _state(token: Token, now: datetime) -> str:
    if token.revoked_at is not None:
        return f"revoked {_day(token.revoked_at)}"
    if not token.holds(now):
        return f"expired {_day(token.expires_at)}"
    return "holds" if token.expires_at is None else f"until {_day(token.expires_at)}"


def _day(moment: datetime | None) -> str:
    return "never" if moment is None else moment_text(moment)


@tokens.command()
def revoke(
    named: Annotated[
        str, typer.Argument(metavar="NAME", help="Name or id of the token; tokens list shows both.")
    ],
    *,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """End a token now, and every session that was begun with it.

    Example: pumonitor tokens revoke grafana
    """
    with opened_ledger(config) as opened:
        from pumonitor.errors import InputError, shortened
        from pumonitor.monitor.changes import local_user

        revoked = opened.ledger.tokens.revoke(named, by=local_user())
        if not revoked:
            msg = (
                f"there is no token {shortened(named)!r} that could be revoked; pumonitor tokens "
                "list shows them"
            )
            raise InputError(msg)
    for one in revoked:
        typer.echo(f"revoked: {one.name} ({one.id})")
