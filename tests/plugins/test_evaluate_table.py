"""Counts in place of millions of rows."""

from __future__ import annotations

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

import pumonitor
from pumonitor.views.estimates import logged_estimates


@pytest.fixture
def counts(window: pd.DataFrame) -> pd.DataFrame:
    """What a warehouse returns for a group-by of the score, cells in no order."""
    cell = np.floor(window["score"] * 20)
    groups = window.assign(unlabeled=1 - window["confirmed"]).groupby(cell)
    return (
        pd.DataFrame(
            {
                "lower": groups["score"].min(),
                "upper": groups["score"].max(),
                "labeled": groups["confirmed"].sum(),
                "unlabeled": groups["unlabeled"].sum(),
            }
        )
        .reset_index(drop=True)
        .sample(frac=1.0, random_state=2)
    )


def test_a_frame_of_counts_stands_in_for_rows(store: str, counts: pd.DataFrame) -> None:
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            data=counts,
            model_type="pu",
            evaluators="pu",
            evaluator_config={
                "table": counts,
                "class_prior": 0.2,
                "report": False,
                "threshold": 1.0,
            },
        )
    table = pumonitor.ScoreTable.from_counts(**counts.sort_values("lower").to_dict("list"))
    ev = pumonitor.evaluate_table(table, class_prior=0.2, threshold=1.0)
    assert result.metrics == logged_estimates(ev.estimates)
    (point,) = MlflowClient().get_metric_history(run.info.run_id, "pu/auc")
    assert point.value == result.metrics["pu/auc"]


def test_a_metric_of_metrics_can_be_computed_from_counts(sqlite: str, counts: pd.DataFrame) -> None:
    def margin(metrics: dict) -> float:
        return metrics["pu/f1_high"].aggregate_results["pu/f1_high"] - 0.5

    result = mlflow.models.evaluate(
        data=counts,
        evaluators=["pu"],
        evaluator_config={
            "pu": {"table": counts, "class_prior": 0.2, "report": False, "threshold": 1.0}
        },
        extra_metrics=[mlflow.models.make_metric(eval_fn=margin, greater_is_better=True)],
    )
    assert result.metrics["pu/margin"] == result.metrics["pu/f1_high"] - 0.5


def test_a_model_beside_counts_is_refused(sqlite: str, counts: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"a model scores rows: leave the"):
        mlflow.models.evaluate(
            lambda rows: rows["lower"],
            data=counts,
            model_type="pu",
            evaluators="pu",
            evaluator_config={"table": counts, "report": False},
        )


def test_artifacts_of_rows_are_refused_beside_counts(sqlite: str, counts: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="custom_artifacts are computed from rows"):
        mlflow.models.evaluate(
            data=counts,
            model_type="pu",
            evaluators="pu",
            evaluator_config={"table": counts, "report": False},
            custom_artifacts=[lambda frame, metrics, folder: {}],
        )


def test_a_threshold_inside_a_cell_is_refused(sqlite: str, counts: pd.DataFrame) -> None:
    with pytest.raises(
        pumonitor.errors.InputError, match=r"threshold .* falls inside the score cell"
    ):
        mlflow.models.evaluate(
            data=counts,
            model_type="pu",
            evaluators="pu",
            evaluator_config={
                "table": counts,
                "threshold": 0.975,
                "class_prior": 0.2,
                "report": False,
            },
        )
