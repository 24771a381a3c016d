"""`pumonitor audit`: plan, draw, read and show audits of one file, or of a monitor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pumonitor.cli.audit_options import (
    AUDIT,
    MONITOR,
    Above,
    AsJson,
    Cases,
    Design,
    Fair,
    FairOption,
    Id,
    KnownLabelFrequency,
    Metric,
    ModelVersion,
    OfMonitor,
    SomeFile,
    SomeLabels,
    SomeScores,
    SomeThreshold,
    Verdicts,
    Width,
    Windows,
    needed,
    not_with_monitor,
)
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.options import OUTPUT, ClassPrior, ConfidenceLevel, LabelFrequencyText

__all__ = ["audit"]

audit = typer.Typer(no_args_is_help=True)


@audit.callback()
def _audit() -> None:
    """Draw cases for review at random, and read the verdicts together with the confirmations."""


@audit.command()
def plan(
    file: SomeFile = None,
    *,
    labels: SomeLabels = None,
    scores: SomeScores = None,
    threshold: SomeThreshold = None,
    cases: Cases = None,
    width: Width = None,
    metric: Metric = None,
    above: Above = None,
    class_prior: ClassPrior = "auto",
    label_frequency: LabelFrequencyText = None,
    fair: FairOption = Fair.check,
    chart: Annotated[
        Path | None,
        typer.Option(
            metavar="PNG|SVG",
            help="Draw the widths of audits from a quarter to four times as large.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    monitor: OfMonitor = None,
    windows: Windows = None,
    model_version: ModelVersion = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Tell how many cases to review from which scores, and how sure that makes the metrics.

    The rows are those of a file, or of windows of a monitor.

    Example: pumonitor audit plan scored.csv --labels confirmed --scores score --width f1=.15
    """
    if monitor is not None:
        not_with_monitor(
            file=file,
            labels=labels,
            scores=scores,
            threshold=threshold,
            class_prior=class_prior != "auto",
            label_frequency=label_frequency,
            fair=fair is not Fair.check,
            chart=chart,
        )
        from pumonitor.cli.audit_of_monitor import Asked, plan_of_monitor

        asked = Asked.of(
            monitor, windows, model_version, cases, width, metric, above=above, config=config
        )
        plan_of_monitor(asked, as_json=as_json)
        return
    from pumonitor.cli.audit_of_file import plan_of_file

    file, labels, scores = needed(file=file, labels=labels, scores=scores)
    plan_of_file(
        file,
        labels=labels,
        scores=scores,
        threshold=threshold,
        cases=cases,
        width=width,
        metric=metric,
        above=above,
        class_prior=class_prior,
        label_frequency=label_frequency,
        fair=fair,
        chart=chart,
        as_json=as_json,
    )


@audit.command()
def draw(
    file: SomeFile = None,
    *,
    labels: SomeLabels = None,
    scores: SomeScores = None,
    id_column: Id = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="CSV",
            help="File of cases to write, for the reviewers: in random order, without score, bin "
            "or label.",
            rich_help_panel=AUDIT,
        ),
    ],
    threshold: SomeThreshold = None,
    cases: Cases = None,
    width: Width = None,
    metric: Metric = None,
    above: Above = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to show to the reviewers beside the id; may be repeated.",
            rich_help_panel=AUDIT,
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Key of the draw, in place of a random one: the same draws the same cases.",
            rich_help_panel=AUDIT,
        ),
    ] = None,
    class_prior: ClassPrior = "auto",
    label_frequency: LabelFrequencyText = None,
    design: Design = None,
    monitor: OfMonitor = None,
    windows: Windows = None,
    model_version: ModelVersion = None,
    more: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many cases to add to the monitor's last audit, or the one of --windows: the "
            "next ones in its order, in a file of their own.",
            rich_help_panel=MONITOR,
        ),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="champion CHALLENGER",
            help="Draw cases that the deployed model alone or this challenger alone flags, at the "
            "capacity of the gate: they tell which one finds more, where the confirmations were "
            "chosen by one of them. Of --windows, or of the newest mature one.",
            rich_help_panel=MONITOR,
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Plan an audit and draw its cases into a file for the reviewers.

    What is needed to read it later is kept in a second file, of a monitor in the state database.
    The files can be read by their owner only.

    Example: pumonitor audit draw scored.csv --labels fraud --scores score --id id --out cases.csv
    """
    of_files = {
        "labels": labels,
        "scores": scores,
        "id": id_column,
        "threshold": threshold,
        "column": column,
        "class_prior": class_prior != "auto",
        "label_frequency": label_frequency,
        "design": design,
    }
    if between is not None:
        from pumonitor.cli.audit_between import draw_between_models

        not_with_monitor(**of_files, width=width, metric=metric, above=above, more=more)
        draw_between_models(
            monitor or str(file or ""),
            between,
            out,
            windows=windows,
            cases=cases,
            seed=seed,
            config=config,
        )
        return
    if monitor is not None:
        from pumonitor.cli.audit_of_monitor import Asked, draw_of_monitor

        not_with_monitor(file=file, **of_files)
        asked = Asked.of(
            monitor, windows, model_version, cases, width, metric, above=above, config=config
        )
        draw_of_monitor(asked, out, seed=seed, more=more)
        return
    from pumonitor.cli.audit_of_file import draw_of_file

    file, labels, scores, id_column = needed(file=file, labels=labels, scores=scores, id=id_column)
    draw_of_file(
        file,
        labels=labels,
        scores=scores,
        id_column=id_column,
        out=out,
        threshold=threshold,
        cases=cases,
        width=width,
        metric=metric,
        above=above,
        column=column,
        seed=seed,
        class_prior=class_prior,
        label_frequency=label_frequency,
        design=design,
    )


@audit.command()
def read(
    verdicts: Annotated[
        Path,
        typer.Argument(metavar="CSV", help="The file of cases with its column verdict filled in."),
    ],
    *,
    design: Design = None,
    monitor: OfMonitor = None,
    reviewer: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who gave the verdicts, where the file has no column reviewer.",
            rich_help_panel=MONITOR,
        ),
    ] = "",
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Tell which verdicts can be used, and which cannot and why.

    Of a monitor, new verdicts are stored, and its windows are evaluated with them in the next
    round. A column at has the time of a verdict.

    Example: pumonitor audit read cases.csv
    """
    if monitor is not None:
        from pumonitor.cli.audit_of_monitor_read import read_of_monitor

        not_with_monitor(design=design)
        read_of_monitor(verdicts, monitor, reviewer=reviewer, config=config, as_json=as_json)
        return
    from pumonitor.cli.audit_of_file import read_of_file

    read_of_file(verdicts, design=design, as_json=as_json)


@audit.command()
def show(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|AUDIT]",
            help="CSV or Parquet file, or a quoted pattern; with --monitor the name of an audit, "
            "by default the last with verdicts.",
        ),
    ] = None,
    *,
    labels: SomeLabels = None,
    scores: SomeScores = None,
    id_column: Id = None,
    verdicts: Verdicts = None,
    design: Design = None,
    fair: FairOption = Fair.check,
    label_frequency: KnownLabelFrequency = None,
    confidence_level: ConfidenceLevel = 0.95,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML",
            help="Write a report with charts to this file: share confirmed and positives by score, "
            "and estimates with and without the audit.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    monitor: OfMonitor = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Evaluate a file with an audit, or show an audit of a monitor: by score bin, and what it says.

    The file is the one the cases were drawn from. A drawn case counts by its verdict alone.

    Example: pumonitor audit show all.csv --labels y --scores s --id id --verdicts cases.csv
    """
    if monitor is not None:
        not_with_monitor(
            labels=labels,
            scores=scores,
            id=id_column,
            verdicts=verdicts,
            design=design,
            fair=fair is not Fair.check,
            label_frequency=label_frequency,
        )
        from pumonitor.cli.audit_of_monitor_read import show_of_monitor

        show_of_monitor(
            monitor,
            file,
            confidence_level=confidence_level,
            report=report,
            config=config,
            as_json=as_json,
        )
        return
    from pumonitor.cli.audit_of_file import show_of_file

    file, labels, scores, id_column, path = needed(
        file=file,
        labels=labels,
        scores=scores,
        id=id_column,
        verdicts=None if verdicts is None else str(verdicts),
    )
    show_of_file(
        file,
        labels=labels,
        scores=scores,
        id_column=id_column,
        verdicts=Path(path),
        design=design,
        fair=fair,
        label_frequency=label_frequency,
        confidence_level=confidence_level,
        report=report,
        as_json=as_json,
    )


@audit.command()
def status(
    *,
    monitor: OfMonitor = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """List the audits of monitors: of which windows, how far they are read, what was refused.

    Example: pumonitor audit status --monitor card-fraud
    """
    from pumonitor.cli.audit_of_monitor_read import status_of_monitors

    status_of_monitors(monitor, config=config, as_json=as_json)
