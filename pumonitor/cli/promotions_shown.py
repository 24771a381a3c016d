"""Print promotions, as sentences, tables or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from pumonitor.plain_text import one_line, printable

if TYPE_CHECKING:
    from pumonitor.monitor.ledger.records.promotions import Promotion
    from pumonitor.monitor.promotion.gate import GateAnswer


def print_promoted(
    made: Promotion | None,
    *,
    answer: GateAnswer | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Print what was done, or why nothing was.

    Parameters
    ----------
    made : Promotion or None
    answer : GateAnswer, optional
        Not of an undo.
    dry_run, as_json : bool
    """
    from pumonitor.monitor.delivery.notifications.promotion_words import promotion_sentence
    from pumonitor.monitor.promotion.announcing import message_about

    if as_json:
        found = {
            "promoted": made is not None,
            "dry_run": dry_run,
            "gate": None if answer is None else answer.to_dict(),
            "promotion": None if made is None else made.to_dict(),
        }
        typer.echo(json.dumps(found, indent=1))
        return
    if answer is not None:
        typer.echo(f"{answer.verdict}: {printable(answer.reason)}")
    if made is not None:
        typer.echo(promotion_sentence(message_about(made)))
        if made.reason:
            typer.echo(f"Note: {one_line(made.reason)}")
    elif answer is not None and answer.verdict == "better":
        before = answer.champion_version
        place = "" if before is None else f" in place of version {before}"
        typer.echo(f"Version {answer.challenger_version} would be promoted{place}.")
    else:
        typer.echo("Nothing was promoted." if not dry_run else "Nothing would be promoted.")


def print_history(found: Sequence[Promotion], *, as_json: bool = False) -> None:
    """Print promotions, the last one first."""
    if as_json:
        typer.echo(json.dumps([one.to_dict() for one in found], indent=1))
        return
    if not found:
        typer.echo("Nothing was promoted yet.")
        return
    from rich.markup import escape
    from rich.table import Table

    from pumonitor.cli.terminal import Console

    table = Table("number", "begun (UTC)", "version", "state", "evidence", "by", "note")
    for one in found:
        cells = (
            str(one.id),
            f"{one.begun_at:%Y-%m-%d %H:%M}",
            f"{one.from_version or 'none'} to {one.to_version}",
            one.state,
            _evidence(one),
            one.actor,
            one.reason,
        )
        table.add_row(*(escape(one_line(cell)) for cell in cells))
    Console(highlight=False).print(table)


def _evidence(one: Promotion) -> str:
    from pumonitor.monitor.delivery.notifications.promotion_words import evidence_said

    return f"undoes {one.undoes}" if one.evidence is None else evidence_said(one.evidence)
