"""Live models through mlflow.models.evaluate, logged and not."""

from __future__ import annotations

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from sklearn.linear_model import LogisticRegression

import pumonitor
from pumonitor.views.estimates import logged_estimates

OPTIONS = {"class_prior": 0.2, "threshold": 0.1, "rng": 5}
CONFIG = {**OPTIONS, "report": False}


@pytest.fixture
def classifier(window: pd.DataFrame) -> LogisticRegression:
    return LogisticRegression().fit(window[["score", "amount"]], window["confirmed"])


@pytest.fixture
def expected(classifier: LogisticRegression, window: pd.DataFrame) -> dict[str, float]:
    probability = classifier.predict_proba(window[["score", "amount"]])[:, 1]
    return logged_estimates(
        pumonitor.evaluate(window["confirmed"], probability, **OPTIONS).estimates
    )


def test_a_logged_model_gets_each_metric_once_and_linked(
    server: str, classifier: LogisticRegression, window: pd.DataFrame, expected: dict[str, float]
) -> None:
    logged = mlflow.sklearn.log_model(
        classifier,
        name="fraud",
        pip_requirements=["scikit-learn"],
        serialization_format="cloudpickle",
    )
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            logged.model_uri,
            data=window,
            targets="confirmed",
            model_type="pu",
            evaluators="pu",
            evaluator_config=CONFIG,
        )
    assert result.metrics == expected
    for key, value in expected.items():
        (point,) = MlflowClient().get_metric_history(run.info.run_id, key)
        assert point.value == value
    model = mlflow.get_logged_model(logged.model_id)
    assert {metric.key: metric.value for metric in model.metrics or []} == expected


def test_scores_of_a_model_known_by_its_id_get_each_metric_once(
    server: str, window: pd.DataFrame
) -> None:
    model = mlflow.initialize_logged_model(name="scored-elsewhere")
    with mlflow.start_run() as run:
        mlflow.models.evaluate(
            data=window,
            targets="confirmed",
            predictions="score",
            model_type="pu",
            evaluators="pu",
            evaluator_config=CONFIG,
            model_id=model.model_id,
        )
    (point,) = MlflowClient().get_metric_history(run.info.run_id, "pu/f1")
    linked = mlflow.get_logged_model(model.model_id).metrics or []
    assert {metric.value for metric in linked if metric.key == "pu/f1"} == {point.value}


def test_a_function_on_arrays_is_evaluated(sqlite: str, window: pd.DataFrame) -> None:
    features = window[["score", "amount"]].to_numpy()
    result = mlflow.models.evaluate(
        lambda rows: np.asarray(rows)[:, 0],
        data=features,
        targets=window["confirmed"].to_numpy(),
        model_type="pu",
        evaluators=["pu"],
        evaluator_config={"pu": {**CONFIG, "threshold": 1.0}},
    )
    ev = pumonitor.evaluate(window["confirmed"], window["score"], **{**OPTIONS, "threshold": 1.0})
    assert result.metrics == logged_estimates(ev.estimates)
