"""The caller's own metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mlflow.metrics import MetricValue
from mlflow.models import make_metric
from pumonitor_mlflow.configuration import Configuration
from pumonitor_mlflow.extra_metrics import extra_metric_values, refuse_other_than_metrics
from pumonitor_mlflow.rows import Rows

ROWS = Rows(
    labels=np.array([1, 0, 0, -1], dtype=np.int8),
    scores=np.array([0.9, 0.7, 0.2, 0.1]),
    weights={"sample_weight": np.array([1.0, 2.0, 3.0, 4.0])},
    columns={"amount": np.array([10.0, 20.0, 30.0, 40.0])},
)
OWN = {"pu/f1": 0.5, "pu/precision_undefined": 1.0}


def values_of(
    function: Callable[..., Any],
    *,
    name: str = "mine",
    rows: Rows | None = ROWS,
    mapping: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, float]:
    metric = make_metric(eval_fn=function, name=name, greater_is_better=True, **options)
    return extra_metric_values(
        [metric], rows, OWN, configuration=Configuration(col_mapping=mapping or {})
    )


def test_a_function_of_scores_and_labels_is_called() -> None:
    def share_above(predictions: pd.Series, targets: pd.Series) -> float:
        return float((predictions[targets == 1] > 0.5).mean() + len(targets))

    assert values_of(share_above) == {"pu/mine": 5.0}


def test_columns_weights_and_metrics_are_found_by_name() -> None:
    def weighted(amount: Any, sample_weight: Any, metrics: Any, absent: float = 3.0) -> float:
        f1 = metrics["pu/f1"].aggregate_results["pu/f1"]
        return float(amount @ sample_weight) * f1 + absent

    assert values_of(weighted) == {"pu/mine": 300.0 * 0.5 + 3.0}


def test_col_mapping_renames_columns_and_passes_values() -> None:
    def cost(price: Any, factor: float) -> float:
        return float(price[1] * factor)

    assert values_of(cost, mapping={"price": "amount", "factor": 2.0}) == {"pu/mine": 40.0}


def test_positional_only_and_gathered_arguments_are_respected() -> None:
    def odd(predictions: Any, /, *rest: Any, targets: Any, **more: Any) -> float:
        return float(predictions[0] + targets[3] + len(rest) + len(more))

    assert values_of(odd) == {"pu/mine": pytest.approx(-0.1)}


def test_the_older_form_gets_a_frame_and_the_metrics() -> None:
    def older(eval_df: pd.DataFrame, builtin_metrics: dict[str, float]) -> float:
        return (
            float(eval_df["prediction"].max() + eval_df["target"].min()) + builtin_metrics["pu/f1"]
        )

    assert values_of(older) == {"pu/mine": pytest.approx(0.4)}


def test_summaries_are_logged_below_the_name_and_version() -> None:
    def summary(predictions: pd.Series) -> MetricValue:
        return MetricValue(aggregate_results={"mine": 1.5, "median": predictions.median()})

    assert values_of(summary, version="v2") == {
        "pu/mine/v2": 1.5,
        "pu/mine/v2/median": pytest.approx(0.45),
    }


def test_a_number_that_is_not_finite_is_flagged_and_left_out() -> None:
    assert values_of(lambda predictions: math.nan) == {"pu/mine_undefined": 1.0}


@pytest.mark.parametrize("name", ["f1", "precision"])
def test_a_name_of_the_evaluators_own_is_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match=f"extra metric '{name}' has the name of a metric of the evaluator"
    ):
        values_of(lambda predictions: 1.0, name=name)


def test_an_argument_that_cannot_be_found_is_named_with_what_there_is() -> None:
    with pytest.raises(
        ValueError,
        match="extra metric 'mine' asks for country, which are not among amount, sample_weight, "
        "predictions, targets, metrics; map them with",
    ):
        values_of(lambda country: 1.0)


def test_rows_cannot_be_asked_of_a_table_of_counts() -> None:
    with pytest.raises(ValueError, match="asks for predictions, which a table of counts does not"):
        values_of(lambda predictions: 1.0, rows=None)
    with pytest.raises(ValueError, match="asks for eval_df, builtin_metrics, which a table"):
        values_of(lambda eval_df, builtin_metrics: 1.0, rows=None)


@pytest.mark.parametrize("returned", [None, "high", [1.0, 2.0]])
def test_anything_but_a_number_is_refused(returned: Any) -> None:
    with pytest.raises(ValueError, match="'mine' must return a number or a MetricValue, got"):
        values_of(lambda predictions: returned)


def test_what_is_no_metric_and_names_given_twice_are_refused_before_computing() -> None:
    metric = make_metric(eval_fn=lambda predictions: 1.0, name="mine", greater_is_better=True)
    with pytest.raises(
        TypeError, match=r"extra_metrics\[1\] must come from .*make_metric, got str"
    ):
        refuse_other_than_metrics([metric, "f1"])
    with pytest.raises(ValueError, match="extra_metrics has two metrics named 'mine'"):
        refuse_other_than_metrics([metric, metric])
