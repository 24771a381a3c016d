"""Note that windows were evaluated under another configuration, and how to evaluate them again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.inspection.configuration_changes import OtherConfiguration
    from pumonitor.monitor.ledger.reader import LedgerReader


def note_changed_configuration(
    ledger: LedgerReader, monitors: Iterable[Monitor], path: Path, *, then: str
) -> list[OtherConfiguration]:
    """Print a note on stderr for each monitor with windows of another configuration.

    Parameters
    ----------
    ledger : LedgerReader
    monitors : iterable of Monitor
    path : Path
        The configuration file.
    then : str
        What that means for the command: a clause without a full stop.

    Returns
    -------
    list of OtherConfiguration
        The monitors that were noted.
    """
    from pumonitor.monitor.inspection.configuration_changes import other_configurations

    found = other_configurations(ledger, monitors)
    for one in found:
        typer.secho("Note: ", err=True, fg=typer.colors.YELLOW, nl=False)
        typer.echo(f"{one.said()}. {then}: {one.command(path)}", err=True)
    return found


def changed_as_json(found: Iterable[OtherConfiguration], path: Path) -> list[dict[str, Any]]:
    """The same in JSON types."""
    return [
        {
            "monitor": one.monitor,
            "windows": one.windows,
            "first": one.first.isoformat(),
            "last": one.last.isoformat(),
            "changes": list(one.changes),
            "command": one.command(path),
        }
        for one in found
    ]
