"""What evaluation refuses, and the sentence it says. Nothing is logged, so one store will do."""

from __future__ import annotations

from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest

from pumonitor.errors import InputError

pytestmark = pytest.mark.usefixtures("sqlite")


def evaluate(data: pd.DataFrame, *, config: dict[str, Any] | None = None, **changes: Any) -> Any:
    options = {
        "targets": "confirmed",
        "predictions": "score",
        "model_type": "pu",
        "evaluators": "pu",
        **changes,
    }
    return mlflow.models.evaluate(data=data, evaluator_config=config or {}, **options)


@pytest.mark.parametrize("kind", ["Int64", "boolean"])
def test_missing_targets_are_counted_and_never_taken_for_unlabeled(
    window: pd.DataFrame, kind: str
) -> None:
    # MLflow hands Int64 with missing values on as floats with NaN, or as objects.
    window["confirmed"] = window["confirmed"].astype(kind)
    window.loc[[4, 90, 700], "confirmed"] = pd.NA
    with pytest.raises(
        InputError,
        match="targets column 'confirmed' has 3 missing values in 1500 rows, first at row 4",
    ):
        evaluate(window)


def test_targets_other_than_one_zero_and_minus_one_are_counted(window: pd.DataFrame) -> None:
    window.loc[[7, 8], "confirmed"] = 2
    with pytest.raises(
        InputError,
        match=r"targets column 'confirmed' has 2 values other than 1, 0 and -1 .* first at row 7",
    ):
        evaluate(window)


def test_rows_without_labels_are_told_where_to_put_them(window: pd.DataFrame) -> None:
    with pytest.raises(
        InputError,
        match=r"no labels: .* targets='\.\.\.' .* the data have confirmed, amount, score",
    ):
        evaluate(window, targets=None)


def test_rows_without_scores_are_told_where_to_put_them(window: pd.DataFrame) -> None:
    with pytest.raises(
        InputError, match=r"no scores: give mlflow.models.evaluate a model, or name"
    ):
        evaluate(window, predictions=None)


def test_a_named_column_that_is_not_there_is_refused(window: pd.DataFrame) -> None:
    with pytest.raises(
        InputError,
        match="names the column 'rate' as propensity, but the data have amount, confirmed, score",
    ):
        evaluate(window, config={"propensity": "rate"})


def test_missing_scores_are_counted(window: pd.DataFrame) -> None:
    window.loc[[3, 5], "score"] = np.nan
    with pytest.raises(
        InputError, match=r"predictions column 'score' has 2 missing values \(NaN\) in 1500 rows"
    ):
        evaluate(window)


def test_an_unknown_key_is_refused_before_anything_is_logged(window: pd.DataFrame) -> None:
    with mlflow.start_run() as run, pytest.raises(ValueError, match="did you mean 'class_prior'"):
        evaluate(window, config={"class_priro": 0.2})
    assert mlflow.get_run(run.info.run_id).data.metrics == {}


def test_an_estimators_refusal_reaches_the_caller(window: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"class_prior must satisfy 0 < class_prior < 1, got 1.2"):
        evaluate(window, config={"class_prior": 1.2})
