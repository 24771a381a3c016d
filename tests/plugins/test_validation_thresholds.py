"""mlflow.validate_evaluation_results on the ends of intervals."""

from __future__ import annotations

import mlflow
import pandas as pd
import pytest
from mlflow.models import MetricThreshold
from mlflow.models.evaluation.validation import ModelValidationFailedException


def test_a_threshold_on_the_lower_end_passes_and_fails_as_it_should(
    sqlite: str, window: pd.DataFrame
) -> None:
    candidate = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config={"class_prior": 0.2, "report": False, "threshold": 1.0},
    )
    low = candidate.metrics["pu/f1_low"]

    def validate(name: str, threshold: float) -> None:
        mlflow.validate_evaluation_results(
            {name: MetricThreshold(threshold=threshold, greater_is_better=True)}, candidate
        )

    validate("pu/f1_low", low - 0.01)
    with pytest.raises(ModelValidationFailedException, match="pu/f1_low"):
        validate("pu/f1_low", low + 0.01)


def test_an_undefined_metric_fails_a_threshold_rather_than_passing_it(
    sqlite: str, window: pd.DataFrame
) -> None:
    candidate = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        # No score is above 50: nothing is predicted positive, so there is no precision.
        evaluator_config={"class_prior": 0.2, "report": False, "threshold": 50.0},
    )
    assert candidate.metrics["pu/precision_undefined"] == 1.0
    with pytest.raises(ModelValidationFailedException, match="pu/precision"):
        mlflow.validate_evaluation_results(
            {"pu/precision": MetricThreshold(threshold=0.0, greater_is_better=True)}, candidate
        )
