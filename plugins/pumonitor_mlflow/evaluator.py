"""The evaluator ``pu`` of `mlflow.models.evaluate`.

MLflow loads this module while it is itself being imported and survives an ImportError or an
AttributeError only. Hence nothing here but the class, and every other import inside a method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlflow.models.evaluation.base import ModelEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mlflow.data.evaluation_dataset import EvaluationDataset
    from mlflow.models import EvaluationMetric, EvaluationResult


class PUEvaluator(ModelEvaluator):
    """Evaluates a binary classifier when only some positives are confirmed.

    Metrics are logged as ``pu/<name>``, ``pu/<name>_low`` and ``pu/<name>_high``; one that is
    undefined is left out and ``pu/<name>_undefined`` is 1; one outside its possible range is
    shown at the end of the range and ``pu/<name>_infeasible`` is 1. Where some estimate shows
    that the class prior is impossible, all that stand on it are infeasible, without ends of an
    interval. The artifacts
    ``pu/evaluation.json``, ``pu/report.html`` and the charts hold the rest.

    Notes
    -----
    The configuration takes the keywords of `pumonitor.evaluate` (`sample_weight` and `propensity`
    also as names of columns) and these:

    ``labels``
        Column of the data, or array, with the confirmations, in place of ``targets``.
    ``pos_label``
        The positive class of a model whose classes are not 0 and 1.
    ``table``
        Counts by score cell in place of rows: a `pumonitor.ScoreTable`, a mapping, or a data frame
        with columns ``lower``, ``upper``, ``labeled``, ``unlabeled`` and optionally ``negative``.
    ``col_mapping``
        For the functions in ``extra_metrics``: argument name to column name.
    ``report``
        False to leave out the report and the charts, which take seconds to draw.

    A call looks so::

        mlflow.models.evaluate(
            data=rows, targets="confirmed", predictions="score", model_type="pu",
            evaluators="pu", evaluator_config={"threshold": 0.8, "class_prior": "auto"})

    Examples
    --------
    >>> PUEvaluator.can_evaluate(model_type="pu", evaluator_config={})
    True
    """

    name = "pu"

    @classmethod
    def can_evaluate(
        cls,
        *,
        model_type: str | None = None,
        evaluator_config: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> bool:
        """Whether this evaluator is meant, by the model type or by a configuration of its own."""
        from pumonitor_mlflow.eligibility import is_meant

        return is_meant(model_type=model_type, evaluator_config=evaluator_config)

    def evaluate(
        self,
        *,
        model_type: str | None = None,
        dataset: EvaluationDataset,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None = None,
        model: Any = None,
        extra_metrics: Sequence[EvaluationMetric] | None = None,
        custom_artifacts: Sequence[Callable[..., Any]] | None = None,
        predictions: str | None = None,
        model_id: str | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Evaluate the rows or the table, and log to the run."""
        from pumonitor_mlflow.evaluation import evaluate_into_run

        return evaluate_into_run(
            dataset=dataset,
            run_id=run_id,
            evaluator_config=evaluator_config,
            model=model,
            extra_metrics=extra_metrics,
            custom_artifacts=custom_artifacts,
            output_column=predictions,
            model_id=model_id,
        )
