"""`pumonitor promote`: deploy a challenger that is surely better, undo it, list promotions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, MonitorName
from pumonitor.cli.outcome import NOT_BETTER, errors_as_messages
from pumonitor.plain_text import one_line, printable
from pumonitor.text import moment_cell

if TYPE_CHECKING:
    from pumonitor.monitor.config.configuration import Configuration
    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.ledger.ledger import Ledger
    from pumonitor.monitor.ledger.records.promotions import Promotion
    from pumonitor.monitor.promotion.gate import GateAnswer
    from pumonitor.monitor.promotion.promoter import Promoter


def promote(
    monitor: MonitorName,
    *,
    challenger: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Which challenger; not needed where the monitor has one."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done, and why.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Go back to the version before the last promotion.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="List the promotions of the monitor.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who does it; without it, the user of this machine."),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Deploy a challenger that is surely better: its version gets the alias of the monitor's model.

    The gate decides on the windows that are stored. The version before keeps the alias previous,
    the new one is tagged with the evidence, and destinations are notified.

    The page of the monitor's challengers has the history as well, and so has the JSON API.

    Exit status 0: promoted, or --dry-run says that it would be. 1: the gate does not say better. 2:
    wrong usage. 3: the alias was moved meanwhile, another promotion is under way, or the registry
    cannot be used.

    Example: pumonitor promote card-fraud --dry-run
    """
    from pumonitor.cli.promote import print_history, print_promoted

    with errors_as_messages():
        from pumonitor.monitor.app import chosen_monitors, open_ledger
        from pumonitor.monitor.changes import local_user
        from pumonitor.monitor.config.file import read_configuration

        _check(challenger=challenger, dry_run=dry_run, undo=undo, history=history, by=by)
        needs: Any = "ledger" if history else "everything"
        configuration = read_configuration(config, needs=needs).configuration
        [chosen] = chosen_monitors(configuration, monitor).values()
        actor = by or local_user()
        with open_ledger(configuration) as ledger:
            if history:
                print_history(ledger.promotions.all(monitor), as_json=as_json)
                return
            if undo:
                done = _undone(configuration, ledger, chosen, actor)
                print_promoted(done, as_json=as_json)
                return
            answer = _answer(configuration, ledger, chosen, challenger)
            made = None if dry_run else _promoted(configuration, ledger, chosen, answer, actor)
    print_promoted(made, answer=answer, dry_run=dry_run, as_json=as_json)
    if answer.verdict != "better":
        raise typer.Exit(NOT_BETTER)


def _check(
    *, challenger: str | None, dry_run: bool, undo: bool, history: bool, by: str | None
) -> None:
    from pumonitor.errors import InputError

    given = {"--undo": undo, "--history": history, "--dry-run": dry_run}
    others = {**given, "--challenger": challenger is not None}
    for alone in ("--undo", "--history"):
        also = [name for name, is_given in others.items() if is_given and name != alone]
        if given[alone] and also:
            msg = f"{alone} goes without {also[0]}"
            raise InputError(msg)
    if by is not None and not (by.strip() and by.isprintable() and len(by) <= 200):
        msg = "--by must have 1 to 200 printable characters"
        raise InputError(msg)


def _answer(
    configuration: Configuration, ledger: Ledger, monitor: Monitor, challenger: str | None
) -> GateAnswer:
    from pumonitor.monitor.challenging.gate_answer import gate_answer
    from pumonitor.monitor.promotion.by_gate import chosen_challenger
    from pumonitor.monitor.promotion.gate import GateOf

    gate_of: GateOf = gate_answer
    return gate_of(
        configuration, monitor, ledger=ledger, challenger=chosen_challenger(monitor, challenger)
    )


def _promoter(configuration: Configuration, ledger: Ledger) -> Promoter:
    from pumonitor.errors import InputError
    from pumonitor.monitor.app import promoter_of

    promoter = promoter_of(configuration, ledger)
    if promoter is None:
        msg = (
            "the configuration has no tracking, so there is no registry: add tracking: {uri: ...} "
            "with the address of MLflow"
        )
        raise InputError(msg)
    return promoter


def _promoted(
    configuration: Configuration,
    ledger: Ledger,
    monitor: Monitor,
    answer: GateAnswer,
    actor: str,
) -> Promotion | None:
    from pumonitor.monitor.promotion.by_gate import promote_if_better

    made = promote_if_better(_promoter(configuration, ledger), monitor, answer, actor=actor)
    if made is not None:
        _notify(configuration, ledger)
    return made


def _undone(
    configuration: Configuration, ledger: Ledger, monitor: Monitor, actor: str
) -> Promotion:
    from pumonitor.monitor.promotion.by_gate import deployed_by

    deployed = deployed_by(monitor)
    promoter = _promoter(configuration, ledger)
    done = promoter.undo(monitor.name, deployed.model, actor=actor, alias=deployed.alias)
    _notify(configuration, ledger)
    return done


def _notify(configuration: Configuration, ledger: Ledger) -> None:
    """Send what the outbox holds for destinations; what they do not take, the next run sends."""
    from datetime import timedelta

    from pumonitor.errors import PumonitorError
    from pumonitor.monitor.app import notifier_of

    # The promotion is done and stored: whatever happens here changes nothing about it.
    with suppress(PumonitorError):
        notifier = notifier_of(configuration, ledger)
        sent = {} if notifier is None else notifier.deliver(budget=timedelta(seconds=30))
        for name, one in sent.items():
            if one.failed or one.set_aside:
                to = name.removeprefix("alerts:")
                typer.echo(
                    f"{to} is not notified yet; the next run tries again: {one.reason}", err=True
                )


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
    from pumonitor.cli.terminal import print_json
    from pumonitor.monitor.delivery.notifications.promotion_words import promotion_sentence
    from pumonitor.monitor.promotion.announcing import message_about

    if as_json:
        done = {"promoted": made is not None, "dry_run": dry_run, "gate": answer, "promotion": made}
        print_json(done)
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
    from pumonitor.cli.terminal import Console, TableColumn, print_json, print_table

    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo("Nothing was promoted yet.")
        return
    columns = [
        TableColumn("number", lambda made: str(made.id)),
        TableColumn("begun (UTC)", lambda made: moment_cell(made.begun_at)),
        TableColumn("version", lambda made: f"{made.from_version or 'none'} to {made.to_version}"),
        TableColumn("state", lambda made: made.state),
        TableColumn("evidence", _evidence),
        TableColumn("by", lambda made: one_line(made.actor)),
        TableColumn("note", lambda made: one_line(made.reason)),
    ]
    print_table(Console(highlight=False), found, columns)


def _evidence(one: Promotion) -> str:
    from pumonitor.monitor.delivery.notifications.promotion_words import evidence_said

    return f"undoes {one.undoes}" if one.evidence is None else evidence_said(one.evidence)
