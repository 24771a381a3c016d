"""`pumonitor check`: try everything that a configuration names, without changing or sending."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.options import OUTPUT
from pumonitor.cli.outcome import BAD_INPUT, FAILED, errors_as_messages
from pumonitor.cli.progress import progress_bar
from pumonitor.text import moment_text, percent_text, span_text, window_text

if TYPE_CHECKING:
    from pumonitor.monitor.inspection.check import DestinationSummary, InLedger
    from pumonitor.monitor.inspection.check_monitor import MonitorCheck
    from pumonitor.monitor.inspection.configuration_changes import OtherConfiguration
    from pumonitor.monitor.inspection.outcomes import Outcome
    from pumonitor.prior.followed.worth_of_audits import Worth


def check(
    *,
    config: Annotated[Path, typer.Option(metavar="YAML", help="The configuration file.")] = Path(
        "pumonitor.yaml"
    ),
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the results as JSON, nothing else.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> None:
    """Read the configuration, connect to all it names, and show what the next run would do.

    Five rows of each table, how long confirmations take, the windows that are due, and what
    counting them reads and takes: bytes, the part of all files or partitions, seconds. Nothing is
    written, no alert is sent. Exit status 2: the configuration or the data have to change; 3:
    something cannot be reached.

    Example: pumonitor check --config pumonitor.yaml
    """
    from datetime import UTC, datetime

    with errors_as_messages():
        with progress_bar(logged_as="check") as step:
            from pumonitor.monitor.config.file import read_configuration
            from pumonitor.monitor.inspection.check import (
                check_configuration,
                destination_summaries,
                in_the_ledger,
            )
            from pumonitor.monitor.inspection.check_monitor import check_monitor
            from pumonitor.monitor.windows.opening import open_monitor_source

            file = read_configuration(config, needs="ledger")
            configuration = file.configuration
            step("Connecting", None)
            outcomes = list(check_configuration(configuration))
            destinations = destination_summaries(configuration)
            evaluated: dict[str, InLedger] = {}
            if outcomes[0].failure is None:
                evaluated = in_the_ledger(configuration, now=datetime.now(UTC))
            checks: list[MonitorCheck] = []
            for name, monitor in configuration.monitors.items():
                step(f"Reading the tables of {name}", None)
                known = evaluated.get(name)
                checks.append(
                    check_monitor(
                        monitor,
                        now=datetime.now(UTC),
                        mask=configuration.mask,
                        open_source=open_monitor_source,
                        other=_said(None if known is None else known.other, config),
                        evaluated=frozenset() if known is None else known.panes,
                        doubts=() if known is None else known.doubts,
                        quiet=None if known is None else known.quiet,
                        sights=None if known is None else known.sights,
                        past=None if known is None else known.past,
                    )
                )
        if as_json:
            _print_json(str(config), file.warnings, outcomes, checks, destinations)
        else:
            _print(str(config), file.warnings, outcomes, checks, destinations)
    raise typer.Exit(_status([*outcomes, *(one.outcome for one in checks)]))


def _status(outcomes: Iterable[Outcome]) -> int:
    failures = {outcome.failure for outcome in outcomes}
    if "input" in failures:
        return BAD_INPUT
    return FAILED if "operation" in failures else 0


def _said(other: OtherConfiguration | None, config: Path) -> str:
    if other is None:
        return ""
    return (
        f"{other.said()}. The next run evaluates them again; to do it now: {other.command(config)}"
    )


def _print_json(
    config: str,
    warnings: tuple[str, ...],
    outcomes: list[Outcome],
    checks: list[MonitorCheck],
    destinations: list[DestinationSummary],
) -> None:
    from pumonitor.cli.terminal import print_json

    def plain(outcome: Outcome) -> dict[str, Any]:
        return {
            "ok": outcome.failure is None,
            "failure": outcome.failure,
            "message": outcome.message,
        }

    found = {
        "configuration": config,
        "warnings": warnings,
        "connections": {outcome.what: plain(outcome) for outcome in outcomes},
        "destinations": destinations,
        "monitors": {
            one.name: {
                **plain(one.outcome),
                "rules": one.rules,
                "warnings": one.warnings,
                "notes": one.notes,
                "audits": [_audit(worth) for worth in one.audits],
                "cost": one.cost,
                **_details(one),
            }
            for one in checks
        },
    }
    print_json(found)


def _audit(worth: Worth) -> dict[str, Any]:
    named = {"now": worth.now, "after_break": worth.after_break}
    return {"cases": worth.cases} | {
        name: dict(zip(("value", "low", "high"), numbers, strict=True))
        for name, numbers in named.items()
    }


def _details(one: MonitorCheck) -> dict[str, Any]:
    description, due = one.description, one.due
    if description is None or due is None:
        return {}
    return {
        "engine": description.engine,
        "predictions": {
            "rows": description.predictions,
            "first": description.first,
            "last": description.last,
            "columns": description.columns,
            "sample": description.sample,
        },
        "positives": {
            "rows": description.labels,
            "columns": description.label_columns,
            "sample": description.label_sample,
            "delay_seconds": description.delay_quantiles,
        },
        "reviews": [
            {
                "positive": queue.positive,
                "negative": queue.negative,
                "undecided": queue.undecided,
                "reasons": queue.reasons,
                "columns": queue.columns,
                "sample": queue.sample,
            }
            for queue in description.reviews
        ],
        "due": {
            "windows": due.windows,
            "panes": due.panes,
            "mature_windows": due.mature,
            "evaluated_panes": due.evaluated,
            "start": due.first,
            "end": due.last,
            "next": due.following.as_of if due.following else None,
        },
    }


def _print(
    config: str,
    warnings: tuple[str, ...],
    outcomes: list[Outcome],
    checks: list[MonitorCheck],
    destinations: list[DestinationSummary],
) -> None:
    from pumonitor.cli.check_tables import destinations_table, rules_table
    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)

    def say(outcome: Outcome) -> None:
        mark = "[green]ok[/]  " if outcome.failure is None else "[bold red]not ok[/]"
        console.print(mark, end=" ")
        console.print(f"{outcome.what}: {outcome.message}", markup=False)

    console.print(f"\n{config}", style="bold", markup=False)
    for warning in warnings:
        console.print(f"Warning: {warning}", style="yellow", markup=False)
    for outcome in outcomes:
        say(outcome)
    if destinations:
        console.print(destinations_table(destinations))
    for one in checks:
        say(one.outcome)
        for warning in one.warnings:
            console.print(f"  Warning: {warning}", style="yellow", markup=False)
        _print_monitor(console, one)
        _print_class_prior(console, one)
        if one.rules:
            console.print()
            console.print(rules_table(one.rules, destinations=[each.name for each in destinations]))
        else:
            console.print(
                "  There are no rules, so no alert can fire and no notification will be sent"
            )
    failed = sum(outcome.failure is not None for outcome in outcomes)
    failed += sum(one.outcome.failure is not None for one in checks)
    warned = len(warnings) + sum(len(one.warnings) for one in checks)
    if failed:
        console.print(
            f"\n{failed} of {len(outcomes) + len(checks)} checks failed.", style="bold red"
        )
    elif warned:
        several = "" if warned == 1 else "s"
        console.print(
            f"\nNo check failed; read the {warned} warning{several} above.", style="bold yellow"
        )
    else:
        console.print("\nNo problem was found.", style="bold green")


def _print_class_prior(console: Any, one: MonitorCheck) -> None:
    from pumonitor.cli.check_tables import audits_said, audits_table

    for note in one.notes:
        console.print(f"  {note}", markup=False)
    if one.audits:
        console.print("\n  Class prior: estimated. Its interval as it is, and after an audit:")
        console.print(audits_table(one.audits))
        console.print(f"  {audits_said(one.audits)}", style="dim", markup=False)


def _print_monitor(console: Any, one: MonitorCheck) -> None:
    from pumonitor.cli.check_tables import rows_table

    description, due = one.description, one.due
    if description is None or due is None:
        _print_cost(console, one)
        return
    for title, rows, columns in (
        ("Predictions", description.sample, description.columns),
        ("Labels", description.label_sample, description.label_columns),
        *(("Reviews", queue.sample, queue.columns) for queue in description.reviews),
    ):
        console.print(f"\n  {title}: the first rows, read by {description.engine}", markup=False)
        console.print(rows_table(rows, columns))
    if description.first and description.last:
        console.print(f"\n  Predictions from {window_text(description.first, description.last)}")
    for queue in description.reviews:
        reasons = ", ".join(f"{word} {rows:,}" for word, rows in queue.reasons.items())
        console.print(
            f"  {queue.name}: {queue.positive:,} positive, {queue.negative:,} negative and "
            f"{queue.undecided:,} undecided verdicts"
            + (f"; reviewed for {reasons}" if reasons else "; reviewed for their score"),
            markup=False,
        )
    if description.delay_quantiles:
        quantiles = ", ".join(
            f"{percent_text(level)} within {span_text(timedelta(seconds=seconds))}"
            for level, seconds in description.delay_quantiles.items()
        )
        console.print(f"  Confirmations arrive: {quantiles}")
    if due.first and due.last:
        console.print(
            f"  Due now: {due.windows} windows from "
            f"{window_text(due.first, due.last)}, {due.mature} of them mature; {due.panes} "
            "evaluations"
        )
    elif due.evaluated:
        console.print(f"  Due now: nothing; all {due.evaluated} evaluations so far are done")
    else:
        console.print("  Due now: nothing")
    if due.following:
        console.print(
            f"  Next: {moment_text(due.following.as_of)}, "
            f"{due.following.state} view of the window from "
            f"{moment_text(due.following.window.start)}"
        )
    _print_cost(console, one)


def _print_cost(console: Any, one: MonitorCheck) -> None:
    for said in () if one.cost is None else one.cost.said:
        console.print(f"  {said}", markup=False)
