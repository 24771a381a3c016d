"""`pumonitor estimate-prior`: estimate the class prior by one method or by all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.addresses import read_variables
from pumonitor.cli.options import (
    ASSUMPTIONS,
    DATA,
    OUTPUT,
    ConfidenceLevel,
    DetectionRate,
    File,
    LabelPurityText,
    Labels,
    MinPropensity,
    Propensity,
    SampleWeight,
    Scenario,
    ScenarioName,
    Seed,
)
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.cli.progress import Step, progress_bar
from pumonitor.cli.readings import class_prior_of, column_or_number, label_purity_of

if TYPE_CHECKING:
    from pumonitor.cli.prior_table import Tried
    from pumonitor.results import ClassPriorEstimate
    from pumonitor.tables import ScoreTable


def estimate_prior(
    file: File,
    *,
    labels: Labels,
    scores: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="Score, higher = more positive.", rich_help_panel=DATA),
    ],
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME|all",
            help="Method: 'auto', the name of a method, or 'all' to see them side by side.",
        ),
    ] = "auto",
    scenario: Scenario = ScenarioName.SINGLE_TRAINING_SET,
    label_purity: LabelPurityText = "1",
    propensity: Propensity = None,
    detection_rate: DetectionRate = 1.0,
    min_propensity: MinPropensity = 0.0,
    sample_weight: SampleWeight = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,COLUMN,...",
            help="Columns of numbers for the methods that read features in place of the score. "
            "Rows are then held in memory.",
            rich_help_panel=DATA,
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of an earlier window with the same columns, for the methods that need one.",
            rich_help_panel=DATA,
            callback=read_variables,
        ),
    ] = None,
    reference_prior: Annotated[
        str | None,
        typer.Option(
            metavar="PRIOR",
            help="Share of positives in --reference: a number, 'LOW,HIGH' or 'VALUE,LOW,HIGH'.",
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = None,
    confidence_level: ConfidenceLevel = 0.95,
    seed: Seed = 0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the estimates as JSON, nothing else.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> None:
    """Estimate how many positives there are among the unconfirmed rows, and among all.

    Fair labels and scores give an upper bound, those of a review queue none. Methods differ: an
    estimate on which they agree is safer. A method that cannot be used says why.

    Example: pumonitor estimate-prior scored.csv --labels confirmed --scores score --method all
    """
    purity = label_purity_of(label_purity)
    columns = _feature_columns(features)
    known = _reference_prior(reference, reference_prior, confidence_level=confidence_level)
    with errors_as_messages():
        with progress_bar() as step:
            from pumonitor.prior.labels.label_noise import estimate_label_purity

            reading = _Reading(
                labels=labels,
                scores=scores,
                sample_weight=sample_weight,
                propensity=column_or_number(propensity),
                detection_rate=detection_rate,
                min_propensity=min_propensity,
                step=step,
            )
            with settings_as_input():
                _check(
                    method,
                    scenario=scenario.value,
                    label_purity=1.0 if purity == "auto" else purity,
                    confidence_level=confidence_level,
                )
                if columns:
                    table, estimate = reading.rows(file, columns, only_where_read=method == "all")
                else:
                    table, estimate = reading.table(file)
                if purity == "auto":
                    step("Looking for mistaken labels", None)
                    purity = estimate_label_purity(
                        table, scenario=scenario.value, confidence_level=confidence_level
                    ).value
                settings: dict[str, Any] = {
                    "scenario": scenario.value,
                    "label_purity": purity,
                    "confidence_level": confidence_level,
                    "rng": seed,
                }
                if reference is not None:
                    settings["reference"] = reading.reference(reference, known)
                tried, notes = _tried(
                    method, estimate, settings, step=step, with_propensities=propensity is not None
                )
        _print(tried, notes, table, source=file, settings=settings, as_json=as_json)


Estimate = Callable[..., "ClassPriorEstimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """Reads a file with the options of the command; used for the data and for the reference."""

    labels: str
    scores: str
    sample_weight: str | None
    propensity: str | float | None
    detection_rate: float
    min_propensity: float
    step: Step

    def table(self, file: str) -> tuple[ScoreTable, Estimate]:
        """The score table of a file, and a function that estimates the class prior from it."""
        from functools import partial

        from pumonitor.prior import estimate_from_table
        from pumonitor.sources import read_score_table

        table = read_score_table(
            file,
            labels=self.labels,
            scores=self.scores,
            sample_weight=self.sample_weight,
            propensity=self.propensity,
            detection_rate=self.detection_rate,
            min_propensity=self.min_propensity,
            progress=self.step,
        )
        return table, partial(estimate_from_table, table)

    def rows(
        self, file: str, features: list[str], *, only_where_read: bool
    ) -> tuple[ScoreTable, Estimate]:
        """Like `table`, with features. `only_where_read`: leave them out for other methods."""
        import pandas

        from pumonitor.prior import METHODS, estimate_class_prior, estimate_from_table
        from pumonitor.sources.one_table.scored_rows import read_scored_rows
        from pumonitor.tables import ScoreTable

        read = read_scored_rows(
            file,
            labels=self.labels,
            thresholds={self.scores: None},
            sample_weight=self.sample_weight,
            propensity=self.propensity if isinstance(self.propensity, str) else None,
            features=features,
            progress=self.step,
        )
        score = read.scores[self.scores]
        weights: dict[str, Any] = {
            "sample_weight": read.sample_weight,
            "propensity": read.propensity if isinstance(self.propensity, str) else self.propensity,
            "detection_rate": self.detection_rate,
            "min_propensity": self.min_propensity,
        }
        table = ScoreTable.from_arrays(read.labels, score, **weights)
        matrix = pandas.DataFrame(dict(read.features))

        def estimate(*, method: str, **settings: Any) -> ClassPriorEstimate:
            reads_features = method in METHODS and METHODS[method].reads == "features"
            if only_where_read and not reads_features:
                return estimate_from_table(table, method=method, **settings)
            return estimate_class_prior(
                read.labels, score, method=method, features=matrix, **weights, **settings
            )

        return table, estimate

    def reference(self, file: str, prior: ClassPriorEstimate) -> Any:
        """The reference window and its class prior."""
        from pumonitor.prior.samples.reference import ReferenceWindow

        table, _ = self.table(file)
        return ReferenceWindow(table=table, class_prior=prior)


def _feature_columns(given: str | None) -> list[str]:
    """Names of the feature columns."""
    if given is None:
        return []
    names = [name.strip() for name in given.split(",")]
    if "" in names or len(set(names)) < len(names):
        msg = f"'{given}' must name each column once, for example age,amount"
        raise typer.BadParameter(msg, param_hint="--features")
    return names


def _reference_prior(reference: str | None, given: str | None, *, confidence_level: float) -> Any:
    """The class prior of the reference; None without a reference."""
    if (reference is None) != (given is None):
        msg = (
            "give --reference, the earlier window, and --reference-prior, its known share of "
            "positives, together"
        )
        raise typer.BadParameter(msg, param_hint="--reference")
    if given is None:
        return None
    prior = class_prior_of(given, confidence_level=confidence_level)
    if isinstance(prior, str):
        msg = f"'{given}' must be a number, LOW,HIGH or VALUE,LOW,HIGH"
        raise typer.BadParameter(msg, param_hint="--reference-prior")
    return prior


def _check(method: str, *, scenario: str, label_purity: float, confidence_level: float) -> None:
    """Raise for options that are invalid for every method, before the file is read."""
    from pumonitor.metrics.settings import check_settings
    from pumonitor.prior import check_method

    check_settings(
        scenario=scenario,
        target="process",
        label_purity=label_purity,
        confidence_level=confidence_level,
    )
    check_method(method, also=("all",))


def _tried(
    method: str,
    estimate: Estimate,
    settings: dict[str, Any],
    *,
    step: Step,
    with_propensities: bool,
) -> tuple[list[Tried], list[str]]:
    """Run one method, or all, and return their results and warnings.

    With "all", a method that cannot be used has a reason instead of an estimate. A method that was
    named raises the error.
    """
    import time
    import warnings

    from pumonitor.cli.prior_table import Tried
    from pumonitor.prior import METHOD_NAMES

    names = METHOD_NAMES if method == "all" else (method,)
    found: list[Tried] = []
    notes: list[str] = []
    for place, name in enumerate(names):
        step(f"Estimating, {name}", place / len(names) if len(names) > 1 else None)
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                _refuse_without(
                    name,
                    with_propensities=with_propensities,
                    with_reference="reference" in settings,
                )
                prior, reason = estimate(method=name, **_read_by(name, method, settings)), ""
            except ValueError as error:
                if method != "all":
                    raise
                prior, reason = None, str(error).removeprefix(f"{name} ")
        said = [str(warning.message) for warning in warned]
        notes += [text if text.startswith(name) else f"{name}: {text}" for text in said]
        seconds = time.perf_counter() - started
        found.append(Tried(method=name, seconds=seconds, estimate=prior, reason=reason))
    if not any(one.estimate for one in found):
        raise ValueError(found[0].reason)
    return found, notes


def _refuse_without(name: str, *, with_propensities: bool, with_reference: bool) -> None:
    """Raise an error with the missing option, as estimators would name their own keyword."""
    from pumonitor.prior import METHODS

    if name == "propensity" and not with_propensities:
        msg = (
            f"{name} needs --propensity, the chance of each confirmed row of having been confirmed"
        )
        raise ValueError(msg)
    if name in METHODS and METHODS[name].reads == "reference" and not with_reference:
        msg = (
            f"{name} needs an earlier window whose share of positives is known: --reference FILE "
            "--reference-prior PRIOR"
        )
        raise ValueError(msg)


def _read_by(name: str, method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a method: with "all", the reference is passed only to methods that use it."""
    from pumonitor.prior import METHODS

    reads = name in METHODS and METHODS[name].reads == "reference"
    if method != "all" or reads:
        return settings
    return {key: part for key, part in settings.items() if key != "reference"}


def _print(
    tried: list[Tried],
    notes: list[str],
    table: ScoreTable,
    *,
    source: str,
    settings: dict[str, Any],
    as_json: bool,
) -> None:
    if as_json:
        import json

        written = {
            "settings": {
                "scenario": settings["scenario"],
                "label_purity": settings["label_purity"],
                "confidence_level": settings["confidence_level"],
                "n_labeled": table.n_labeled,
                "n_unlabeled": table.n_unlabeled,
                "n_negative": table.n_negative,
            },
            "estimates": {
                one.method: one.estimate.to_dict() | {"seconds": one.seconds}
                for one in tried
                if one.estimate is not None
            },
            "not_estimated": {one.method: one.reason for one in tried if one.estimate is None},
            "notes": notes,
        }
        typer.echo(json.dumps(written, allow_nan=False))
        return
    from rich.text import Text

    from pumonitor.cli.prior_table import rendered
    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    for part in rendered(
        tried, table, name=source, scenario=settings["scenario"], width=console.width
    ):
        console.print(part)
    for note in notes:
        console.print(Text.assemble(("Note: ", "bold cyan"), note))
