"""`pumonitor decide`: what thresholds bring in a file of scores and labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.audit_of_file import reviewed_rows, verdicts_of_file
from pumonitor.cli.audit_options import Design, Fair, FairOption, Id, Verdicts, needed
from pumonitor.cli.options import (
    DATA,
    OUTPUT,
    ClassPrior,
    ConfidenceLevel,
    Entity,
    File,
    LabelOriginOption,
    LabelPurityText,
    Labels,
    Propensity,
    SampleWeight,
    Scenario,
    ScenarioName,
    Seed,
)
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.cli.progress import progress_bar
from pumonitor.cli.readings import class_prior_of, column_or_number, label_purity_of
from pumonitor.cli.reviews_of_file import messages_in_options
from pumonitor.cli.value_of_file import value_of_rows
from pumonitor.text import given_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pumonitor.audit.verdicts import Audit
    from pumonitor.decisions import Decision, Outcome, ReviewOptions
    from pumonitor.tables import ScoreTable

_STAKES = "At stake"
_THRESHOLD = 0.5


def decide(
    file: File,
    *,
    labels: Labels,
    scores: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="Score, higher = more positive.", rich_help_panel=DATA),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The present one: a score at or above it is reviewed; 0.5 without it, with "
            "--verdicts that of the audit."
        ),
    ] = None,
    other_threshold: Annotated[
        float | None, typer.Option(help="Another threshold to look at.")
    ] = None,
    capacity: Annotated[
        float | None,
        typer.Option(help="In place of it: how many rows can be reviewed, below 1 which share."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|COLUMN",
            help="What a caught positive is worth: one number, or the column with the value of "
            "each row, such as an amount, which tells caught and missed by value as well. A column "
            "reads every row into memory.",
            rich_help_panel=_STAKES,
        ),
    ] = None,
    value_unit: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            help="What --value and --cost are in, such as EUR, for texts.",
            rich_help_panel=_STAKES,
        ),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(help="What a review costs, in the same unit.", rich_help_panel=_STAKES),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=2000,
            help="Say how wide intervals would be after a random review of so many rows, with "
            "--verdicts of so many more.",
        ),
    ] = None,
    class_prior: ClassPrior = "auto",
    label_origin: LabelOriginOption = None,
    scenario: Scenario = ScenarioName.SINGLE_TRAINING_SET,
    label_purity: LabelPurityText = "1",
    propensity: Propensity = None,
    sample_weight: SampleWeight = None,
    entity: Entity = None,
    id_column: Id = None,
    verdicts: Verdicts = None,
    design: Design = None,
    fair: FairOption = Fair.check,
    confidence_level: ConfidenceLevel = 0.95,
    seed: Seed = 0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the decision as JSON, nothing else.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> None:
    """Tell what thresholds bring: precision, recall, F1, reviews, positives caught, money.

    Beside the present threshold stand another one, if asked for, and the best: the one with the
    highest lower bound of the money, or of F1 without --value and --cost.

    With --id and --verdicts, all numbers are by an audit of these rows (pumonitor audit draw).

    Example: pumonitor decide scored.csv --labels confirmed --scores score --value 50 --cost 4

    By what each row is worth: pumonitor decide scored.csv --labels confirmed --scores score
    --value amount --value-unit EUR --cost 4
    """
    prior = class_prior_of(class_prior, confidence_level=confidence_level)
    purity = label_purity_of(label_purity)
    worth = column_or_number(value)
    if worth is None and value_unit is not None:
        msg = "--value-unit says what value is in: give --value as well"
        raise typer.BadParameter(msg)
    _check_audit(
        id_column,
        verdicts,
        design,
        fair,
        weights=(sample_weight, propensity),
        by_value=isinstance(worth, str),
    )
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.decisions import decide_table, nearest_threshold
            from pumonitor.sources import read_score_table

            audit = None
            settings: dict[str, Any] = {
                "capacity": capacity,
                "value_unit": value_unit,
                "cost": cost,
                "class_prior": prior,
                "label_origin": None if label_origin is None else label_origin.value,
                "scenario": scenario.value,
                "label_purity": purity,
                "confidence_level": confidence_level,
                "rng": seed,
            }
            if isinstance(worth, str):
                found = _decide_by_value(
                    file,
                    worth,
                    labels=labels,
                    scores=scores,
                    step=step,
                    threshold=_THRESHOLD if threshold is None else threshold,
                    other_threshold=other_threshold,
                    propensity=column_or_number(propensity),
                    sample_weight=sample_weight,
                    entity=entity,
                    **settings,
                )
            else:
                if verdicts is not None and id_column is not None:
                    audit = verdicts_of_file(verdicts, design, fair)
                    threshold = audit.design.threshold if threshold is None else threshold
                    table = _audited(
                        file, labels, scores, threshold, id_column, entity, audit, step
                    )
                else:
                    threshold = _THRESHOLD if threshold is None else threshold
                    table = read_score_table(
                        file,
                        labels=labels,
                        scores=scores,
                        threshold=threshold,
                        sample_weight=sample_weight,
                        propensity=column_or_number(propensity),
                        entity=entity,
                        progress=step,
                    )
                step("Estimating", None)
                found = decide_table(
                    table,
                    threshold=threshold,
                    other_threshold=None
                    if other_threshold is None
                    else nearest_threshold(table, other_threshold),
                    value=worth,
                    audit=audit,
                    **settings,
                )
            reviews = None
            if cases is not None:
                if audit is not None:
                    step(f"Simulating {cases} more cases", None)
                reviews = found.reviews(cases)
        _print(found, reviews, source=file, as_json=as_json)


def _decide_by_value(
    file: str,
    value: str,
    *,
    labels: str,
    scores: str,
    entity: str | None,
    step: Any,
    **settings: Any,
) -> Decision:
    """By what each row is worth, a column of the file."""
    from pumonitor.decisions import decide as decide_rows
    from pumonitor.sources.one_table.scored_rows import read_scored_rows

    thresholds = {scores: settings["threshold"]}
    texts = [value, *([] if entity is None else [entity])]
    rows = read_scored_rows(file, labels=labels, thresholds=thresholds, texts=texts, progress=step)
    step("Estimating", None)
    with messages_in_options():
        return decide_rows(
            rows.labels,
            rows.scores[scores],
            value=value_of_rows(rows, value),
            entity=None if entity is None else rows.texts[entity],
            **settings,
        )


def _check_audit(
    id_column: str | None,
    verdicts: Path | None,
    design: Path | None,
    fair: Fair,
    *,
    weights: Sequence[str | None],
    by_value: bool,
) -> None:
    """Refuse options that lack another, or that exclude an audit."""
    if verdicts is None:
        if id_column is not None or design is not None or fair is not Fair.check:
            msg = "--id, --design and --fair are of an audit: give --verdicts as well"
            raise typer.BadParameter(msg)
        return
    needed(id=id_column)
    if any(one is not None for one in weights):
        msg = "an audit needs rows that count one each: leave out --sample-weight and --propensity"
        raise typer.BadParameter(msg)
    if by_value:
        msg = "an audit does not go with a value of each row: give --value as one number"
        raise typer.BadParameter(msg)


def _audited(
    file: str,
    labels: str,
    scores: str,
    threshold: float,
    id_column: str,
    entity: str | None,
    audit: Audit,
    step: Any,
) -> ScoreTable:
    """The rows that an audit was drawn from, as it is read with them."""
    from pumonitor.audit.evaluated import audited_table

    texts = [id_column, *([] if entity is None else [entity])]
    rows = reviewed_rows(file, labels, scores, threshold, texts, step)
    return audited_table(
        rows.labels,
        rows.scores[scores],
        thresholds=(threshold,),
        audit=audit,
        ids=rows.texts[id_column],
        entity=None if entity is None else rows.texts[entity],
    )


def _print(found: Decision, reviews: ReviewOptions | None, *, source: str, as_json: bool) -> None:
    if as_json:
        import json

        written = found.to_dict() | ({} if reviews is None else {"reviews": reviews.to_dict()})
        typer.echo(json.dumps(written, allow_nan=False))
        return
    from pumonitor.cli.terminal import Console
    from pumonitor.report.decision_words import best_said, impossible_said, review_said

    console = Console(highlight=False)
    console.print(f"\n{source}", style="bold", markup=False)
    if found.assumption is not None:
        console.print(found.assumption.sentence, markup=False)
    console.print(_table(found))
    for line in impossible_said(_marked(found)):
        console.print(f"! {line}", markup=False)
    console.print(best_said(found), markup=False)
    if reviews is not None:
        console.print(
            review_said(reviews, found),
            markup=False,
        )


def _marked(found: Decision) -> dict[str, Outcome]:
    marked = {"now": found.now, "chosen": found.chosen, "best": found.best}
    return {kind: one for kind, one in marked.items() if one is not None}


def _table(found: Decision) -> RenderableType:
    """A column for each threshold."""
    from rich.table import Table

    from pumonitor.report.decision_words import outcome_texts, outcome_title

    outcomes, unit = _marked(found), found.value_unit
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("")
    for kind, one in outcomes.items():
        table.add_column(f"{kind}: {given_text(one.threshold)}")
    for metric in found.now.estimates:
        texts = (outcome_texts(one, metric, currency=unit or "") for one in outcomes.values())
        cells = ("–" if value == "–" else f"{value}\n{interval}" for value, interval in texts)
        table.add_row(outcome_title(metric, unit=unit), *cells)
    return table
