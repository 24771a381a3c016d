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


def test_no_end_of_an_interval_passes_a_threshold_with_an_impossible_class_prior(
    sqlite: str, window: pd.DataFrame
) -> None:
    """The best F1 looks possible with a prior of .9, which makes a precision above 1."""
    candidate = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config={"class_prior": 0.9, "report": False, "threshold": 1.0},
    )
    told = candidate.metrics
    for name in ("precision", "f1", "f1_max", "mcc_max", "accuracy_max", "class_prior"):
        assert told[f"pu/{name}_infeasible"] == 1.0, name
        assert f"pu/{name}" in told
        assert not {f"pu/{name}_low", f"pu/{name}_high"} & set(told), name
    for name in ("aul", "recall", "f1_pu", "predicted_positive_rate"):
        assert f"pu/{name}_infeasible" not in told
        assert told[f"pu/{name}_low"] <= told[f"pu/{name}"] <= told[f"pu/{name}_high"]
    with pytest.raises(ModelValidationFailedException, match="pu/f1_max_low"):
        mlflow.validate_evaluation_results(
            {"pu/f1_max_low": MetricThreshold(threshold=0.4, greater_is_better=True)}, candidate
        )
