"""`pumonitor audit`: plan, draw, read and show an audit of one file of scores and labels."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.options import (
    DATA,
    OUTPUT,
    ClassPrior,
    ConfidenceLevel,
    File,
    LabelFrequencyText,
    Labels,
)
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.cli.progress import progress_bar
from pumonitor.cli.readings import class_prior_of, label_frequency_of

if TYPE_CHECKING:
    from pumonitor.audit.verdicts import Audit
    from pumonitor.sources.one_table.scored_rows import ScoredRows

__all__ = ["audit"]

audit = typer.Typer(no_args_is_help=True)

_AUDIT = "Audit"


class Fair(StrEnum):
    """Whether confirmations are checked or taken for a fair sample."""

    check = "check"
    assume = "assume"


Scores = Annotated[
    str,
    typer.Option(metavar="COLUMN", help="Score, higher = more positive.", rich_help_panel=DATA),
]
Threshold = Annotated[
    float,
    typer.Option(help="Score at or above it is predicted positive.", rich_help_panel=DATA),
]
Id = Annotated[
    str,
    typer.Option("--id", metavar="COLUMN", help="Id of each row.", rich_help_panel=DATA),
]
Cases = Annotated[
    int | None,
    typer.Option(
        min=1, help="How many cases to review; 300 without --width.", rich_help_panel=_AUDIT
    ),
]
Width = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=WIDTH",
        help="In place of --cases: how wide the 95% interval of a metric may be, as in f1=.15; "
        "may be repeated.",
        rich_help_panel=_AUDIT,
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC",
        help="For which metrics to spread the cases: f1 or those of --width; may be repeated.",
        rich_help_panel=_AUDIT,
    ),
]
FairOption = Annotated[
    Fair,
    typer.Option(
        help="check: allow for confirmations that follow the score. assume: take them for a fair "
        "sample, which makes recall and AUC surer, and wrong where they are not.",
        rich_help_panel=_AUDIT,
    ),
]
Design = Annotated[
    Path | None,
    typer.Option(
        metavar="JSON",
        help="The design, which reviewers must not see; without it, beside the cases with the "
        "ending .audit.json.",
        rich_help_panel=_AUDIT,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON, nothing else.", rich_help_panel=OUTPUT)
]


@audit.callback()
def _audit() -> None:
    """Draw cases for review at random, and read the verdicts together with the confirmations."""


@audit.command()
def plan(
    file: File,
    *,
    labels: Labels,
    scores: Scores,
    threshold: Threshold = 0.5,
    cases: Cases = None,
    width: Width = None,
    metric: Metric = None,
    class_prior: ClassPrior = "auto",
    label_frequency: LabelFrequencyText = None,
    fair: FairOption = Fair.check,
    as_json: AsJson = False,
) -> None:
    """Tell how many cases to review from which scores, and how sure that makes the metrics.

    Example: pumonitor audit plan scored.csv --labels confirmed --scores score --width f1=.15
    """
    prior = class_prior_of(class_prior, confidence_level=0.95)
    frequency, widths = label_frequency_of(label_frequency), _widths(width)
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.audit_plan import plan_audit_table
            from pumonitor.sources import read_score_table

            table = read_score_table(
                file, labels=labels, scores=scores, threshold=threshold, progress=step
            )
            found = plan_audit_table(
                table,
                threshold=threshold,
                cases=cases,
                width=widths,
                metrics=metric or None,
                class_prior=prior,
                label_frequency=frequency,
                fair=fair.value,
                progress=step,
            )
        if as_json:
            typer.echo(json.dumps(found.to_dict(), allow_nan=False))
            return
        from pumonitor.cli.audit_tables import print_plan

        print_plan(found, source=file)


@audit.command()
def draw(
    file: File,
    *,
    labels: Labels,
    scores: Scores,
    id_column: Id,
    out: Annotated[
        Path,
        typer.Option(
            metavar="CSV",
            help="File of cases to write, for the reviewers: in random order, without score, bin "
            "or label.",
            rich_help_panel=_AUDIT,
        ),
    ],
    threshold: Threshold = 0.5,
    cases: Cases = None,
    width: Width = None,
    metric: Metric = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to show to the reviewers beside the id; may be repeated.",
            rich_help_panel=_AUDIT,
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Key of the draw, in place of a random one: the same draws the same cases.",
            rich_help_panel=_AUDIT,
        ),
    ] = None,
    class_prior: ClassPrior = "auto",
    label_frequency: LabelFrequencyText = None,
    design: Design = None,
) -> None:
    """Plan an audit and draw its cases into a file for the reviewers.

    What is needed to read it later is kept in a second file. Both can be read by their owner only.

    Example: pumonitor audit draw scored.csv --labels fraud --scores score --id id --out cases.csv
    """
    prior = class_prior_of(class_prior, confidence_level=0.95)
    frequency, widths = label_frequency_of(label_frequency), _widths(width)
    apart = design or _beside(out)
    shown = [one for one in column or () if one != id_column]
    hidden = {labels: "label", scores: "score"}
    for one in shown:
        if one in hidden:
            msg = f"'{one}' is the {hidden[one]}: reviewers who see it judge by it"
            raise typer.BadParameter(msg, param_hint="--column")
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            import secrets

            from pumonitor.audit_plan import draw_audit, plan_audit
            from pumonitor.cli.audit_files import refuse_existing, write_audit
            from pumonitor.cli.audit_tables import print_plan

            refuse_existing(out, apart)
            read = _read(file, labels, scores, threshold, [id_column, *shown], step)
            score, ids = read.scores[scores], read.texts[id_column]
            planned = plan_audit(
                read.labels,
                score,
                threshold=threshold,
                cases=cases,
                width=widths,
                metrics=metric or None,
                class_prior=prior,
                label_frequency=frequency,
                progress=step,
            )
            step("Drawing", None)
            drawn = draw_audit(
                ids, read.labels, score, plan=planned, seed=seed or secrets.token_hex(16)
            )
            by_id = {
                name: dict(zip(map(str.strip, ids), read.texts[name], strict=True))
                for name in shown
            }
            write_audit(drawn, out, apart, columns=by_id)
        print_plan(planned, source=file)
        typer.echo(
            f"{len(drawn.cases)} cases of audit {drawn.name} are in {out}: fill in its column "
            "verdict with 1, 0 or undecided, in the order of the file.\n"
            f"The design is in {apart}: keep it from the reviewers."
        )


@audit.command()
def read(
    verdicts: Annotated[
        Path,
        typer.Argument(metavar="CSV", help="The file of cases with its column verdict filled in."),
    ],
    *,
    design: Design = None,
    as_json: AsJson = False,
) -> None:
    """Tell which verdicts can be used, and which cannot and why.

    Example: pumonitor audit read cases.csv
    """
    with errors_as_messages():
        found = _verdicts(verdicts, design, Fair.check)
        said = list(found.verdicts.values())
        counts = {
            "cases": len(found.design.cases),
            "positive": said.count(1),
            "negative": said.count(0),
            "undecided": said.count(None),
            "unread": found.unread,
        }
        if as_json:
            refused = {one.reason: one.count for one in found.refused}
            typer.echo(json.dumps({"audit": found.design.name, **counts, "refused": refused}))
            return
        from pumonitor.cli.terminal import Console

        console = Console(highlight=False)
        console.print(
            f"Audit {found.design.name}, {counts['cases']} cases: {counts['positive']} positive, "
            f"{counts['negative']} negative, {counts['undecided']} undecided, {counts['unread']} "
            "not reviewed yet.",
            markup=False,
        )
        for one in found.refused:
            console.print(f"Not used: {one}", markup=False)


@audit.command()
def show(
    file: File,
    *,
    labels: Labels,
    scores: Scores,
    id_column: Id,
    verdicts: Annotated[
        Path,
        typer.Option(
            metavar="CSV",
            help="The file of cases with its column verdict filled in.",
            rich_help_panel=_AUDIT,
        ),
    ],
    design: Design = None,
    fair: FairOption = Fair.check,
    confidence_level: ConfidenceLevel = 0.95,
    as_json: AsJson = False,
) -> None:
    """Evaluate a file with an audit: verdicts and confirmations read together.

    The file is the one the cases were drawn from. A drawn case counts by its verdict alone.

    Example: pumonitor audit show all.csv --labels y --scores s --id id --verdicts cases.csv
    """
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.evaluation import evaluate

            reviewed = _verdicts(verdicts, design, fair)
            threshold = reviewed.design.threshold
            rows = _read(file, labels, scores, threshold, [id_column], step)
            step("Estimating", None)
            ev = evaluate(
                rows.labels,
                rows.scores[scores],
                threshold=threshold,
                audit=reviewed,
                ids=rows.texts[id_column],
                confidence_level=confidence_level,
            )
        if as_json:
            typer.echo(json.dumps(ev.to_dict(), allow_nan=False))
            return
        from pumonitor.cli.audit_tables import bins_found
        from pumonitor.cli.estimates_table import rendered
        from pumonitor.cli.terminal import Console

        console = Console(highlight=False)
        for part in rendered(ev, name=file, width=console.width):
            console.print(part)
        if ev.audit is not None:
            console.print(bins_found(ev.audit.by_bin()))


def _beside(cases: Path) -> Path:
    from pumonitor.cli.audit_files import design_beside

    return design_beside(cases)


def _verdicts(path: Path, design: Path | None, fair: Fair) -> Audit:
    from pumonitor.audit.verdicts import read_verdicts
    from pumonitor.cli.audit_files import read_design, read_verdict_rows

    drawn = read_design(design or _beside(path))
    return read_verdicts(drawn, read_verdict_rows(path), fair=fair.value)


def _read(
    file: str, labels: str, scores: str, threshold: float, texts: list[str], step: Any
) -> ScoredRows:
    from pumonitor.sources.one_table.scored_rows import read_scored_rows

    return read_scored_rows(
        file, labels=labels, thresholds={scores: threshold}, texts=texts, progress=step
    )


def _widths(given: list[str] | None) -> dict[str, float] | None:
    """Read --width: METRIC=WIDTH."""
    if not given:
        return None
    widths = {}
    for one in given:
        name, _, width = one.partition("=")
        try:
            widths[name.strip()] = float(width)
        except ValueError:
            msg = f"'{one}' must be METRIC=WIDTH, as in f1=.15"
            raise typer.BadParameter(msg, param_hint="--width") from None
    return widths
