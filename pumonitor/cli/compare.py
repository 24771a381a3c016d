"""`pumonitor compare`: compare models that scored the same rows of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.options import (
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

if TYPE_CHECKING:
    from pumonitor.comparison_result import Comparison


def compare(
    file: File,
    *,
    labels: Labels,
    scores: Annotated[
        str,
        typer.Option(
            metavar="COLUMN,COLUMN,...",
            help="Score of each model, higher = more positive; the column's name is the model's.",
            rich_help_panel=DATA,
        ),
    ],
    threshold: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|COLUMN=NUMBER,...",
            help="Score at or above it is predicted positive: one for all, or one for each.",
            rich_help_panel=DATA,
        ),
    ] = "0.5",
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
    target: Target = TargetName.PROCESS,
    confidence_level: ConfidenceLevel = 0.95,
    f_beta: Annotated[
        float,
        typer.Option(
            help="Weight of recall in F-beta, which --json prints.", rich_help_panel=OUTPUT
        ),
    ] = 2.0,
    seed: Seed = 0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the comparison as JSON, nothing else.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> None:
    """Compare models that scored the same rows: whether the best is better by more than chance.

    Differences between models have intervals of their own: the models' errors come from the same
    confirmed positives and largely cancel. All rows are held in memory.

    Example: pumonitor compare scored.csv --labels confirmed --scores champion,challenger

    Where the champion's score fills a review queue, its verdicts must be read beside complaints.

    Example: pumonitor compare scored.csv --labels chargeback --scores old,new --verdicts
    verdict --blocks
    """
    thresholds = _thresholds(_models(scores), threshold)
    prior = class_prior_of(class_prior, confidence_level=confidence_level)
    frequency, purity = label_frequency_of(label_frequency), label_purity_of(label_purity)
    chance = column_or_number(propensity)
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
        "threshold": thresholds,
        "class_prior": prior,
        "label_origin": None if label_origin is None else label_origin.value,
        "label_frequency": frequency,
        "scenario": scenario.value,
        "label_purity": purity,
        "min_propensity": min_propensity,
        "target": target.value,
        "confidence_level": confidence_level,
        "f_beta": f_beta,
        "rng": seed,
    }
    with errors_as_messages():
        with progress_bar() as step:
            from pumonitor.comparison import compare as compare_models
            from pumonitor.sources.one_table.scored_rows import read_scored_rows

            with settings_as_input():
                if verdicts is not None:
                    with messages_in_options():
                        rows, reviewed = read_reviewed_rows(
                            file,
                            labels=labels,
                            thresholds=thresholds,
                            columns=reviews,
                            detection_rate=detection_rate,
                            entity=entity,
                            progress=step,
                        )
                        step("Comparing", None)
                        comparison = compare_models(
                            rows.labels,
                            {name: rows.scores[name] for name in thresholds},
                            propensity=chance,
                            sample_weight=sample_weight,
                            entity=None if entity is None else rows.texts[entity],
                            **reviewed,
                            **options,
                        )
                        warnings = {
                            name: findings_in_options(each)
                            for name, each in comparison.warnings.items()
                        }
                        comparison = replace(comparison, warnings=warnings)
                else:
                    rows = read_scored_rows(
                        file,
                        labels=labels,
                        thresholds=thresholds,
                        sample_weight=sample_weight,
                        propensity=chance if isinstance(chance, str) else None,
                        texts=[] if entity is None else [entity],
                        progress=step,
                    )
                    step("Comparing", None)
                    comparison = compare_models(
                        rows.labels,
                        rows.scores,
                        propensity=rows.propensity if isinstance(chance, str) else chance,
                        detection_rate=detection_rate,
                        sample_weight=rows.sample_weight,
                        entity=None if entity is None else rows.texts[entity],
                        **options,
                    )
        _print(comparison, source=file, as_json=as_json)


def _models(given: str) -> list[str]:
    """Names of the score columns."""
    names = [name.strip() for name in given.split(",")]
    twice = sorted({name for name in names if names.count(name) > 1})
    if "" in names or twice or len(names) < 2:
        wrong = f"names {', '.join(twice)} twice" if twice else "must name two columns or more"
        msg = f"'{given}' {wrong}, for example champion,challenger"
        raise typer.BadParameter(msg, param_hint="--scores")
    return names


def _thresholds(models: list[str], given: str) -> dict[str, float]:
    """Threshold of each model: one number for all, or NAME=NUMBER for each."""
    try:
        if "=" not in given:
            return dict.fromkeys(models, float(given))
        # From the right: a column's name may hold an equals sign.
        pairs = [part.rpartition("=") for part in given.split(",")]
        thresholds = {name.strip(): float(number) for name, _, number in pairs}
    except ValueError:
        msg = f"'{given}' must be a number, or COLUMN=NUMBER for every model"
        raise typer.BadParameter(msg, param_hint="--threshold") from None
    if set(thresholds) != set(models) or len(thresholds) != len(pairs):
        msg = f"'{given}' must give one threshold for each of {', '.join(models)}"
        raise typer.BadParameter(msg, param_hint="--threshold")
    return {name: thresholds[name] for name in models}


def _print(comparison: Comparison, *, source: str, as_json: bool) -> None:
    if as_json:
        import json

        typer.echo(json.dumps(comparison.to_dict(), allow_nan=False))
        return
    from pumonitor.cli.comparison_table import rendered
    from pumonitor.cli.terminal import Console
    from pumonitor.report.weights import weights_in_words

    console = Console(highlight=False)
    for part in rendered(comparison, name=source, width=console.width):
        console.print(part)
    for sentence in weights_in_words(comparison.settings):
        console.print(sentence, style="dim", markup=False)
