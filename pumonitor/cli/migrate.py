"""`pumonitor migrate`: bring the tables of the state database up to date."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config
from pumonitor.cli.outcome import FAILED, errors_as_messages


def migrate(
    *,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Change nothing; exit with status 3 if steps are missing.",
        ),
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Bring the tables of the state database to the step that this version needs.

    run, serve, backfill and finish do so too; commands that read, pages and what people change
    never do, as workers of the older version would stop. This one does nothing else, for an
    upgrade in steps of its own: stop the old version everywhere, back up, migrate, start the new
    version. All missing steps are taken, or none. A state database of a newer version is refused.

    Example: pumonitor migrate --config pumonitor.yaml
    """
    import json

    with errors_as_messages():
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.ledger.database.connections import Database
        from pumonitor.monitor.ledger.database.migrations.upgrade import standing, upgrade

        configuration = read_configuration(config, needs="ledger").configuration
        database = Database(configuration.state_address)
        try:
            before = (standing if check else upgrade)(database)
        finally:
            database.close()
    at = before.at if check else before.newest
    if as_json:
        document = {
            "database": database.name,
            "before": before.at,
            "at": at,
            "newest": before.newest,
        }
        typer.echo(json.dumps(document))
    elif before.is_newest:
        typer.echo(f"{database.name}: tables are at step {at}, the newest")
    elif check:
        stand = "has no tables" if at is None else f"tables are at step {at}"
        typer.echo(f"{database.name}: {stand}; this version needs step {before.newest}")
        typer.echo("pumonitor migrate takes the missing steps", err=True)
    else:
        came = "tables were made" if before.at is None else f"tables went from step {before.at}"
        typer.echo(f"{database.name}: {came}{', at' if before.at is None else ' to'} step {at}")
    if at != before.newest:
        raise typer.Exit(FAILED)
