"""`pumonitor init`: write a working configuration from files of predictions and positives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.addresses import read_variables
from pumonitor.cli.options import DATA, OUTPUT, LabelOriginName
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar
from pumonitor.cli.reviews_of_file import Blocks, Words

if TYPE_CHECKING:
    from pumonitor.monitor.onboarding.onboarded import Onboarded

_MONITOR, _REVIEWS = "Monitor", "Reviews"


def init(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FOLDER | FILES]",
            help="A folder with both tables, or two files, quoted patterns or addresses (s3://, "
            "delta://, iceberg://). Without it, the current folder.",
            callback=read_variables,
        ),
    ] = None,
    *,
    predictions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Predictions: a file, pattern or address.",
            rich_help_panel=DATA,
            callback=read_variables,
        ),
    ] = None,
    positives: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Confirmed positives: a file, pattern or address.",
            rich_help_panel=DATA,
            callback=read_variables,
        ),
    ] = None,
    reviews: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Verdicts of a review queue, if there is one: a file, pattern or address. "
            "Positives are complaints alone then. In a folder of three tables it is found by its "
            "name. Needs --blocks or --no-blocks where nobody can be asked.",
            rich_help_panel=_REVIEWS,
            callback=read_variables,
        ),
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with what review found.", rich_help_panel=_REVIEWS
        ),
    ] = None,
    word: Words = None,
    decided_at: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|none",
            help="Column with the time of a verdict; 'none' if there is none.",
            rich_help_panel=_REVIEWS,
        ),
    ] = None,
    chosen_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|none",
            help="Column with why a case was reviewed; 'none' if the highest scores were.",
            rich_help_panel=_REVIEWS,
        ),
    ] = None,
    blocks: Blocks = None,
    label_origin: Annotated[
        LabelOriginName | None,
        typer.Option(
            help="Where confirmed positives come from, where there are no reviews. queue: analysts "
            "work through the highest scores; complaints: chargebacks, reports, diagnoses come by "
            "themselves; both: in one table; random: cases drawn by chance.",
            rich_help_panel=DATA,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column of predictions with the id that confirmations refer to.",
            rich_help_panel=DATA,
        ),
    ] = None,
    positives_id: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Id column of the confirmed positives, if it has another name.",
            rich_help_panel=DATA,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with the time of a prediction.", rich_help_panel=DATA
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Score, higher = more positive.", rich_help_panel=DATA),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|none",
            help="Column with the time a confirmation became known; 'none' if there is no "
            "such column.",
            rich_help_panel=DATA,
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|none",
            help="1 confirmed positive, -1 confirmed negative; 'none' if every row is a positive.",
            rich_help_panel=DATA,
        ),
    ] = None,
    model_version: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|none",
            help="Version of the model that scored; 'none' if all versions are followed together.",
            rich_help_panel=DATA,
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="Time zone of days, and of times without a zone, such as Europe/Berlin.",
            rich_help_panel=DATA,
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH", help="Length of windows: 1h, 1d, 1w, 1mo.", rich_help_panel=_MONITOR
        ),
    ] = None,
    maturity: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long confirmations are awaited after a window's end, such as 30d.",
            rich_help_panel=_MONITOR,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Score at or above it is predicted positive.", rich_help_panel=_MONITOR),
    ] = None,
    known_prior: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE,LOW,HIGH",
            help="Share of positives that is known for a past period, with its 95% interval: "
            "0.03,0.02,0.04. The class prior is followed from that period on.",
            rich_help_panel=_MONITOR,
        ),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="POSITIVES/CASES",
            help="The same from an audit: number of positives and of random cases, such as 12/300.",
            rich_help_panel=_MONITOR,
        ),
    ] = None,
    prior_from: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Start of the period of --known-prior or --audit.",
            rich_help_panel=_MONITOR,
        ),
    ] = None,
    prior_to: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="End of that period, which is itself not part of it.",
            rich_help_panel=_MONITOR,
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the monitor.", rich_help_panel=_MONITOR)
    ] = None,
    upgrade: Annotated[
        Path | None,
        typer.Option(
            metavar="YAML",
            help="Propose reviews for the monitors of a configuration whose confirmed negatives "
            "(label) or propensities stand in for them. Prints them and changes nothing.",
            rich_help_panel=_REVIEWS,
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="Accept all proposals without asking.", rich_help_panel=OUTPUT
        ),
    ] = False,
    output: Annotated[
        Path,
        typer.Option(
            metavar="YAML", help="The configuration file to write.", rich_help_panel=OUTPUT
        ),
    ] = Path("pumonitor.yaml"),
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite an existing file.", rich_help_panel=OUTPUT),
    ] = False,
) -> None:
    """Read predictions and confirmed positives, and write a working configuration.

    Columns, windows and maturity are proposed from what is in the files, with the reason for each.
    On a terminal every proposal is a question; elsewhere, or with --yes, it is accepted. A share of
    positives that is known of some past period, or an audit, is asked for once, and so is where
    confirmed positives come from.

    Example: pumonitor init data --threshold 0.8

    With verdicts of a review queue beside chargebacks: pumonitor init data --reviews
    data/reviews.parquet --blocks

    Of a configuration that has none yet: pumonitor init --upgrade pumonitor.yaml
    """
    with errors_as_messages():
        from pumonitor.monitor.onboarding.answers import accept_proposals
        from pumonitor.monitor.onboarding.onboarded import Options
        from pumonitor.monitor.onboarding.onboarding import onboard
        from pumonitor.monitor.onboarding.written_configuration import (
            refuse_existing,
            write_configuration,
        )

        said_of_blocks = None if blocks is None else "yes" if blocks else "no"
        if upgrade is not None:
            from pumonitor.monitor.onboarding.upgrade import proposed_reviews

            typer.echo(proposed_reviews(upgrade, blocks=said_of_blocks))
            return
        if not force:
            refuse_existing(output)
        options = Options(
            predictions=predictions,
            positives=positives,
            id=id_column,
            positives_id=positives_id,
            time=time,
            score=score,
            known_at=known_at,
            label=label,
            model_version=model_version,
            zone=zone,
            window=window,
            maturity=maturity,
            threshold=threshold,
            known_prior=_known(known_prior, audit),
            prior_period=_period(known_prior or audit, prior_from, prior_to),
            name=name,
            label_origin=None if label_origin is None else label_origin.value,
            reviews=reviews,
            verdict=verdict,
            words=tuple(word or ()),
            decided_at=decided_at,
            chosen_by=chosen_by,
            blocks=said_of_blocks,
        )
        given = tuple(files or ())
        if yes or not _somebody_is_there():
            with progress_bar() as step:
                found = onboard(given, options, ask=accept_proposals, progress=step)
        else:
            from pumonitor.cli.questions import ask_on_terminal

            # A question and a progress bar do not share a line.
            found = onboard(given, options, ask=ask_on_terminal)
        write_configuration(found, output)
        _print(found, output)


def _known(known_prior: str | None, audit: str | None) -> str | None:
    from pumonitor.errors import InputError

    if known_prior is not None and audit is not None:
        msg = "give --known-prior or --audit, not both"
        raise InputError(msg)
    if audit is not None and "/" not in audit:
        msg = f"--audit must be positives of audited cases, such as 12/300, got {audit!r}"
        raise InputError(msg)
    return known_prior or audit


def _period(known: str | None, start: str | None, end: str | None) -> str | None:
    from pumonitor.errors import InputError

    if (start is None) != (end is None):
        msg = "--prior-from and --prior-to are the start and end of one period: give both"
        raise InputError(msg)
    if start is not None and known is None:
        msg = (
            "--prior-from and --prior-to are the period of --known-prior or --audit: give one of "
            "these too"
        )
        raise InputError(msg)
    return None if start is None else f"{start} {end}"


def _somebody_is_there() -> bool:
    import sys

    return sys.stdin.isatty() and sys.stdout.isatty()


def _print(found: Onboarded, output: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("What", no_wrap=True)
    table.add_column("Is", overflow="fold")
    table.add_column("Because", style="dim", overflow="fold")
    for finding in found.findings:
        table.add_row(finding.what, escape(finding.value), escape(finding.why))
    console.print(table)
    for note in found.notes:
        console.print(f"Note: {note}", style="yellow", markup=False)
    config = "" if output == Path("pumonitor.yaml") else f" --config {output}"
    console.print(f"\nWrote {output}. Next: pumonitor check{config}", markup=False, style="bold")
