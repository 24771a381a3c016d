"""`pumonitor evaluate`: estimate metrics from a file of scores and labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.options import (
    ASSUMPTIONS,
    DATA,
    OUTPUT,
    ClassPrior,
    ConfidenceLevel,
    DetectionRate,
    Entity,
    File,
    LabelFrequencyText,
    LabelOriginOption,
    LabelPurityText,
    Labels,
    MinPropensity,
    Propensity,
    SampleWeight,
    Scenario,
    ScenarioName,
    Seed,
    Target,
    TargetName,
)
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.cli.progress import progress_bar
from pumonitor.cli.readings import (
    class_prior_of,
    column_or_number,
    label_frequency_of,
    label_purity_of,
)
from pumonitor.cli.reviews_of_file import (
    Blocks,
    ChosenBy,
    ComplaintRateText,
    Probability,
    RankedBy,
    ReviewColumns,
    Stopped,
    Verdicts,
    Words,
    findings_in_options,
    messages_in_options,
    read_reviewed_rows,
)
from pumonitor.cli.value_of_file import Value, ValueUnit, value_of_rows

if TYPE_CHECKING:
    from pumonitor.results import Evaluation

__all__ = ["evaluate"]


def evaluate(
    file: File,
    *,
    labels: Labels,
    scores: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="Score, higher = more positive.", rich_help_panel=DATA),
    ],
    threshold: Annotated[
        float,
        typer.Option(help="Score at or above it is predicted positive.", rich_help_panel=DATA),
    ] = 0.5,
    class_prior: ClassPrior = "auto",
    label_frequency: LabelFrequencyText = None,
    label_origin: LabelOriginOption = None,
    scenario: Scenario = ScenarioName.SINGLE_TRAINING_SET,
    label_purity: LabelPurityText = "1",
    propensity: Propensity = None,
    detection_rate: DetectionRate = 1.0,
    min_propensity: MinPropensity = 0.0,
    sample_weight: SampleWeight = None,
    entity: Entity = None,
    verdicts: Verdicts = None,
    blocks: Blocks = None,
    word: Words = None,
    chosen_by: ChosenBy = None,
    probability: Probability = None,
    ranked_by: RankedBy = None,
    stopped: Stopped = None,
    complaint_rate: ComplaintRateText = None,
    value: Value = None,
    value_unit: ValueUnit = None,
    calibrated_scores: Annotated[
        bool,
        typer.Option(
            "--calibrated-scores",
            help="The scores are calibrated probabilities of being positive. Check the confirmed "
            "rows against them.",
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = False,
    target: Target = TargetName.PROCESS,
    confidence_level: ConfidenceLevel = 0.95,
    top_k: Annotated[
        float,
        typer.Option(
            help="Precision, recall and lift in the top k: a share below 1, or a number of rows.",
            rich_help_panel=OUTPUT,
        ),
    ] = 0.1,
    seed: Seed = 0,
    max_rows_exact: Annotated[
        int,
        typer.Option(
            min=0,
            help="Above this number of rows, rows are counted by score bin, which takes "
            "constant memory.",
            rich_help_panel=DATA,
        ),
    ] = 5_000_000,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML", help="Write a report with charts to this file.", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the evaluation as JSON, nothing else.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> None:
    """Estimate precision, recall, F1, AUC and more from scores and confirmed positives.

    Unconfirmed rows are neither missing nor negative: some of them are positives nobody has
    confirmed. Every estimate has an interval, which includes the uncertainty of how many there are.

    Example: pumonitor evaluate scored.csv --labels confirmed --scores score --threshold 0.8

    With a review queue beside chargebacks: pumonitor evaluate scored.csv --labels chargeback
    --scores score --threshold 0.8 --verdicts verdict --blocks
    """
    prior = class_prior_of(class_prior, confidence_level=confidence_level)
    frequency, purity = label_frequency_of(label_frequency), label_purity_of(label_purity)
    reviews = ReviewColumns(
        verdicts=verdicts,
        blocks=blocks,
        words=word,
        chosen_by=chosen_by,
        probability=probability,
        ranked_by=ranked_by,
        stopped=stopped,
        complaint_rate=complaint_rate,
    )
    options: dict[str, Any] = {
        "class_prior": prior,
        "label_origin": None if label_origin is None else label_origin.value,
        "scenario": scenario.value,
        "label_purity": purity,
        "target": target.value,
        "confidence_level": confidence_level,
        "top_k": top_k if top_k < 1 else int(top_k),
        "calibrated_scores": calibrated_scores,
        "rng": seed,
    }
    with errors_as_messages():
        with progress_bar() as step:
            from pumonitor.evaluation import evaluate as evaluate_rows
            from pumonitor.evaluation import evaluate_table
            from pumonitor.sources import read_score_table

            with settings_as_input():
                if verdicts is not None or value is not None or value_unit is not None:
                    with messages_in_options():
                        rows, reviewed = read_reviewed_rows(
                            file,
                            labels=labels,
                            thresholds={scores: threshold},
                            columns=reviews,
                            detection_rate=detection_rate,
                            entity=entity,
                            value=value,
                            progress=step,
                        )
                        step("Estimating", None)
                        ev = evaluate_rows(
                            rows.labels,
                            rows.scores[scores],
                            threshold=threshold,
                            propensity=column_or_number(propensity),
                            sample_weight=sample_weight,
                            entity=None if entity is None else rows.texts[entity],
                            label_frequency=frequency,
                            min_propensity=min_propensity,
                            value=value_of_rows(rows, value),
                            value_unit=value_unit,
                            **reviewed,
                            **options,
                        )
                        ev = replace(ev, warnings=findings_in_options(ev.warnings))
                else:
                    table = read_score_table(
                        file,
                        labels=labels,
                        scores=scores,
                        threshold=threshold,
                        sample_weight=sample_weight,
                        propensity=column_or_number(propensity),
                        detection_rate=detection_rate,
                        min_propensity=min_propensity,
                        entity=entity,
                        max_rows_exact=max_rows_exact,
                        progress=step,
                    )
                    step("Estimating", None)
                    ev = evaluate_table(
                        table, threshold=threshold, label_frequency=frequency, **options
                    )
            if report is not None:
                step("Writing the report", None)
                from pumonitor.cli.written_report import write_report

                write_report(ev, report, source=file)
        _print_evaluation(ev, source=file, report=report, as_json=as_json)


def _print_evaluation(ev: Evaluation, *, source: str, report: Path | None, as_json: bool) -> None:
    written = None if report is None else f"Report: {report}"
    if as_json:
        import json

        typer.echo(json.dumps(ev.to_dict(), allow_nan=False))
        if written:
            typer.echo(written, err=True)
        return
    from pumonitor.cli.estimates_table import rendered
    from pumonitor.cli.terminal import Console
    from pumonitor.report.weights import weights_in_words

    console = Console(highlight=False)
    for part in rendered(ev, name=source, width=console.width):
        console.print(part)
    for sentence in weights_in_words(ev.settings):
        console.print(sentence, style="dim", markup=False)
    if written:
        console.print(written, markup=False)
