"""One evaluation, from MLflow's dataset to a logged run."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pumonitor
from pumonitor.views.estimates import logged_estimates
from pumonitor_mlflow.artifacts import write_evaluation, write_report
from pumonitor_mlflow.configuration import Configuration
from pumonitor_mlflow.counts import as_score_table
from pumonitor_mlflow.custom_artifacts import write_custom_artifacts
from pumonitor_mlflow.extra_metrics import extra_metric_values, refuse_other_than_metrics
from pumonitor_mlflow.rows import read_rows
from pumonitor_mlflow.run_log import log_files, log_metrics, tag_run

if TYPE_CHECKING:
    from mlflow.data.evaluation_dataset import EvaluationDataset
    from mlflow.models import EvaluationMetric, EvaluationResult

    from pumonitor.results import Evaluation
    from pumonitor_mlflow.rows import Rows

_logger = logging.getLogger("mlflow.pumonitor")


def evaluate_into_run(
    *,
    dataset: EvaluationDataset,
    run_id: str,
    evaluator_config: Mapping[str, Any] | None,
    model: Any,
    extra_metrics: Sequence[EvaluationMetric] | None,
    custom_artifacts: Sequence[Callable[..., Any]] | None,
    output_column: str | None,
    model_id: str | None,
) -> EvaluationResult:
    """Evaluate and log; the metrics themselves only where MLflow does not.

    With a `model_id` MLflow logs the metrics of the result, linked to the model: logging them
    here too would store two points of each.
    """
    from mlflow.models import EvaluationResult

    configuration = Configuration.read(evaluator_config)
    refuse_other_than_metrics(extra_metrics or ())
    if configuration.table is not None:
        _refuse_beside_table(model, custom_artifacts)
        rows = None
        table = as_score_table(configuration.table)
        evaluation = pumonitor.evaluate_table(table, **configuration.options)
    else:
        rows = read_rows(dataset, configuration, model=model, output_column=output_column)
        evaluation = pumonitor.evaluate(
            rows.labels, rows.scores, **rows.weights, **configuration.options
        )
    assumption = None if evaluation.assumption is None else evaluation.assumption.sentence
    if assumption is not None:
        _logger.warning("%s", assumption)
    for finding in evaluation.warnings:
        _logger.warning("%s", finding)
    values = logged_estimates(evaluation.estimates, pure=evaluation.settings["label_purity"] == 1.0)
    values |= extra_metric_values(extra_metrics or (), rows, values, configuration=configuration)
    tag_run(run_id, assumption=assumption)
    if model_id is None:
        log_metrics(values, run_id=run_id)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        write_evaluation(evaluation, directory)
        if configuration.report:
            context = _context(dataset, run_id=run_id, model_id=model_id)
            without = _without_audit(evaluation, rows, configuration)
            write_report(evaluation, directory, context=context, without_audit=without)
        if rows is not None:
            write_custom_artifacts(custom_artifacts or (), rows, values, directory)
        artifacts = log_files(directory, run_id=run_id)
    result: EvaluationResult = EvaluationResult(  # type: ignore[no-untyped-call]
        metrics=values, artifacts=artifacts, run_id=run_id
    )
    return result


def _without_audit(
    evaluation: Evaluation, rows: Rows | None, configuration: Configuration
) -> Evaluation | None:
    """The same rows from scores and confirmations alone, for the report; None without an audit."""
    if evaluation.audit is None or rows is None:
        return None
    # Where labels come from is no hindrance here: they are shown beside what the audit says.
    left_out = {"audit", "label_origin"}
    options = {name: one for name, one in configuration.options.items() if name not in left_out}
    weights = {name: one for name, one in rows.weights.items() if name != "ids"}
    return pumonitor.evaluate(rows.labels, rows.scores, **weights, **options)


def _refuse_beside_table(model: Any, custom_artifacts: Sequence[Callable[..., Any]] | None) -> None:
    if model is not None:
        msg = (
            "evaluator_config has a table of counts, but a model scores rows: leave the model out, "
            "and link the run to it with model_id='...' if it is logged"
        )
        raise ValueError(msg)
    if custom_artifacts:
        msg = "custom_artifacts are computed from rows, which a table of counts does not have"
        raise ValueError(msg)


def _context(dataset: EvaluationDataset, *, run_id: str, model_id: str | None) -> dict[str, str]:
    """Where the numbers come from, for the head of the report."""
    described = {"MLflow run": run_id, "Dataset": dataset.name}
    if dataset.path is not None:
        described["Data from"] = dataset.path
    if model_id is not None:
        described["Model"] = model_id
    return described
