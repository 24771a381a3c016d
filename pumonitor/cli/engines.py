"""`pumonitor engines`: databases that can be read, and whether one counts as DuckDB does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.addresses import read_variables
from pumonitor.cli.options import OUTPUT
from pumonitor.cli.outcome import BAD_INPUT, errors_as_messages

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.conformance import CaseResult, Verification

__all__ = ["engines"]

engines = typer.Typer(no_args_is_help=True)


@engines.callback()
def _engines() -> None:
    """List the databases that can be read, and verify that one counts as DuckDB does."""


@engines.command("list")
def list_engines(
    *,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the list as JSON.", rich_help_panel=OUTPUT),
    ] = False,
) -> None:
    """List all engines: what their URLs look like, what to install, which versions were verified.

    Example: pumonitor engines list
    """
    with errors_as_messages():
        from pumonitor.sources.engines.registry import engine_kinds
        from pumonitor.sources.engines.verified import VERIFIED

        found = [
            {
                "engine": kind.name,
                "title": kind.title,
                "url": kind.example,
                "extra": kind.extra,
                "verified": list(VERIFIED.get(kind.dialect or kind.name, ())),
                "read_only": kind.read_only,
                "snapshot": kind.snapshot,
            }
            for kind in engine_kinds().values()
        ]
    from pumonitor.cli.terminal import Console, print_json

    if as_json:
        print_json(found)
        return

    console = Console(highlight=False)
    for one in found:
        extra = f"; pip install 'pumonitor[{one['extra']}]'" if one["extra"] else ""
        verified = ", ".join(map(str, one["verified"])) or "no version"
        console.print(str(one["title"]), style="bold", markup=False)
        for line in (
            f"{one['url']}{extra}",
            f"Verified: {verified}",
            f"Read only: {one['read_only'] or 'by the rights of the user alone'}",
            f"Snapshot: {one['snapshot'] or 'none'}",
        ):
            console.print(f"  {line}", markup=False, soft_wrap=True)


@engines.command()
def verify(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="A database, as in the configuration. Variables such as ${PASSWORD} are read from "
            "the environment.",
            callback=read_variables,
        ),
    ],
    *,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="Only cases whose name has this text.")
    ] = "",
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Longest time of one statement.")
    ] = 120.0,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the results as JSON.", rich_help_panel=OUTPUT),
    ] = False,
) -> None:
    """Count generated rows in a database and in DuckDB, and compare every number.

    The rows are written into the queries: no table is read and none is made, but for a temporary
    one of labels that travel. Where counts differ, the fewest rows that show it are printed. Exit
    status 2: a difference.

    Example: pumonitor engines verify 'mariadb://me:${PASSWORD}@host/scores'
    """
    with errors_as_messages():
        from pumonitor.cli.terminal import Console, print_json
        from pumonitor.conformance import verify as verify_engine
        from pumonitor.plain_values import plain_fields

        console = Console(highlight=False)

        def told(result: CaseResult) -> None:
            if not as_json:
                _print(console, result)

        found = verify_engine(url, statement_timeout=timeout, only=only, told=told)
    if as_json:
        print_json(plain_fields(found) | {"is_verified": found.is_verified})
    else:
        console.print(_summary(found), markup=False)
    if not found.is_verified:
        raise typer.Exit(BAD_INPUT)


def _print(console: Console, result: CaseResult) -> None:
    mark = {"agrees": "[green]agrees [/]", "differs": "[bold red]differs[/]"}.get(
        result.status, "[yellow]not run[/]"
    )
    console.print(mark, end=" ")
    digest = f" {result.digest}" if result.digest and result.status == "agrees" else ""
    console.print(f"{result.name}{digest}", markup=False)
    if result.detail:
        console.print(f"        {result.detail}", markup=False)
    for line in result.example.splitlines():
        console.print(f"        {line}", markup=False)


def _summary(found: Verification) -> str:
    counted = {
        status: sum(one.status == status for one in found.cases)
        for status in ("agrees", "differs", "not run")
    }
    said = (
        f"\n{found.engine} {found.version}: {counted['agrees']} cases agree with DuckDB, "
        f"{counted['differs']} differ, {counted['not run']} were not run"
    )
    return f"{said}."
