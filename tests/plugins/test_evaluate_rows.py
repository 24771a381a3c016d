"""mlflow.models.evaluate on scored rows, into a real tracking server and a SQLite store."""

from __future__ import annotations

import json
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

import pumonitor
from pumonitor.errors import InputError
from pumonitor.views.estimates import logged_estimates

OPTIONS = {"class_prior": 0.2, "threshold": 1.0, "rng": 5}
CONFIG = {**OPTIONS, "report": False}
PICTURES = {
    "by_threshold.png",
    "forest.png",
    "lift.png",
    "precision_recall.png",
    "roc.png",
    "score_distributions.png",
    "sensitivity.png",
}


def logged_once(run_id: str, key: str) -> float:
    """The value of a metric that has exactly one point."""
    points = MlflowClient().get_metric_history(run_id, key)
    assert len(points) == 1, f"{key} has {len(points)} points"
    return float(points[0].value)


def own_metrics(run_id: str) -> dict[str, float]:
    metrics = mlflow.get_run(run_id).data.metrics
    return {key: value for key, value in metrics.items() if key.startswith("pu/")}


def test_estimates_intervals_and_files_are_logged(store: str, window: pd.DataFrame) -> None:
    result = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config=OPTIONS,
    )
    ev = pumonitor.evaluate(window["confirmed"], window["score"], **OPTIONS)
    assert result.metrics == logged_estimates(ev.estimates)
    run = mlflow.last_active_run()
    assert run is not None
    assert own_metrics(run.info.run_id) == pytest.approx(result.metrics)
    for key in ("pu/f1", "pu/f1_low", "pu/f1_high"):
        assert logged_once(run.info.run_id, key) == result.metrics[key]
    assert run.data.tags["pumonitor.version"] == pumonitor.__version__
    assert ev.assumption is not None
    assert run.data.tags["pumonitor.assumption"] == ev.assumption.sentence
    files = {
        item.path.removeprefix("pu/")
        for item in MlflowClient().list_artifacts(run.info.run_id, "pu")
    }
    assert files == {"evaluation.json", "report.html", *PICTURES}
    stored = mlflow.artifacts.load_dict(f"runs:/{run.info.run_id}/pu/evaluation.json")
    assert stored == json.loads(json.dumps(ev.to_dict()))
    report = mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/pu/report.html")
    assert run.info.run_id in report


def test_a_dataset_names_its_own_columns_and_stays_linked_to_the_run(
    server: str, window: pd.DataFrame
) -> None:
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            data=mlflow.data.from_pandas(
                window, targets="confirmed", predictions="score", name="march"
            ),
            model_type="pu",
            evaluators=["pu"],
            evaluator_config={"pu": CONFIG},
        )
    (entry,) = mlflow.get_run(run.info.run_id).inputs.dataset_inputs
    assert entry.dataset.name == "march"
    assert logged_once(run.info.run_id, "pu/aul") == result.metrics["pu/aul"]


def test_the_report_can_be_left_out(sqlite: str, window: pd.DataFrame) -> None:
    result = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config=CONFIG,
    )
    assert list(result.artifacts) == ["pu/evaluation"]


def test_the_result_holds_the_files_and_survives_saving(
    sqlite: str, window: pd.DataFrame, tmp_path: Any
) -> None:
    result = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators=["pu"],
        evaluator_config={"pu": OPTIONS},
    )
    result.save(str(tmp_path / "saved"))
    loaded = mlflow.models.EvaluationResult.load(str(tmp_path / "saved"))
    assert loaded.metrics == result.metrics
    assert set(loaded.artifacts) == {
        "pu/evaluation",
        "pu/report",
        *(f"pu/{picture.removesuffix('.png')}" for picture in PICTURES),
    }
    assert loaded.artifacts["pu/report"].content == result.artifacts["pu/report"].content
    assert loaded.artifacts["pu/evaluation"].content["settings"]["threshold"] == 1.0
    assert loaded.artifacts["pu/roc"].content.size[0] > 200


def test_unnamed_evaluators_beside_mlflows_own_log_each_metric_once(
    sqlite: str, window: pd.DataFrame, log: pytest.LogCaptureFixture
) -> None:
    window["decision"] = (window["score"] >= 1.0).astype(int)
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            data=window[["amount", "confirmed", "decision"]],
            targets="confirmed",
            predictions="decision",
            model_type="classifier",
            evaluator_config={
                "pu": {"class_prior": 0.2, "report": False},
                "default": {"log_model_explainability": False},
            },
        )
    assert "accuracy_score" in result.metrics
    assert logged_once(run.info.run_id, "pu/accuracy") == result.metrics["pu/accuracy"]
    assert "predictions column 'decision' has two values only" in log.text


def test_a_classifier_evaluated_without_configuration_is_left_to_mlflow(
    sqlite: str, window: pd.DataFrame
) -> None:
    window["decision"] = (window["score"] >= 1.0).astype(int)
    result = mlflow.models.evaluate(
        data=window[["amount", "confirmed", "decision"]],
        targets="confirmed",
        predictions="decision",
        model_type="classifier",
        evaluator_config={"log_model_explainability": False},
    )
    assert "accuracy_score" in result.metrics
    assert not any(key.startswith("pu/") for key in result.metrics)


def test_the_type_pu_needs_no_evaluator_named_and_no_targets(
    sqlite: str, window: pd.DataFrame
) -> None:
    result = mlflow.models.evaluate(
        data=window,
        predictions="score",
        model_type="pu",
        evaluator_config={"pu": {"labels": "confirmed", **CONFIG}},
    )
    ev = pumonitor.evaluate(window["confirmed"], window["score"], **OPTIONS)
    assert result.metrics == logged_estimates(ev.estimates)


def test_the_older_entry_to_evaluation_works_too(sqlite: str, window: pd.DataFrame) -> None:
    with pytest.warns(FutureWarning, match="evaluate"):
        result = mlflow.evaluate(
            data=window,
            targets="confirmed",
            predictions="score",
            model_type="pu",
            evaluators="pu",
            evaluator_config=CONFIG,
        )
    assert 0.0 < result.metrics["pu/f1_low"] < result.metrics["pu/f1_high"] < 1.0


def test_weights_and_propensities_may_be_columns_or_values(
    sqlite: str, window: pd.DataFrame
) -> None:
    rng = np.random.default_rng(11)
    weight, rate = rng.uniform(0.5, 2.0, len(window)), rng.uniform(0.2, 0.8, len(window))
    result = mlflow.models.evaluate(
        data=window.assign(rate=rate),
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config={**CONFIG, "sample_weight": weight, "propensity": "rate"},
    )
    ev = pumonitor.evaluate(
        window["confirmed"], window["score"], sample_weight=weight, propensity=rate, **OPTIONS
    )
    assert result.metrics == logged_estimates(ev.estimates)


def test_sources_of_labels_may_be_a_column(sqlite: str, window: pd.DataFrame) -> None:
    """One source confirms the high scores only: the two are then told apart."""
    middle = window.loc[window["confirmed"] == 1, "score"].median()
    source = np.where(window["score"] > middle, "alerts", "customers")
    with mlflow.start_run() as run:
        mlflow.models.evaluate(
            data=window.assign(source=source),
            targets="confirmed",
            predictions="score",
            model_type="pu",
            evaluators="pu",
            evaluator_config={**CONFIG, "label_source": "source", "report": False},
        )
    stored = mlflow.artifacts.load_dict(f"runs:/{run.info.run_id}/pu/evaluation.json")
    assert "different_label_sources" in [finding["name"] for finding in stored["warnings"]]


def test_features_of_an_auxiliary_score_may_be_columns(sqlite: str, window: pd.DataFrame) -> None:
    many = pd.concat([window] * 4, ignore_index=True)
    rng = np.random.default_rng(2)
    many["size"] = many["score"] + rng.normal(size=len(many))
    many["customer"] = rng.integers(0, 1000, len(many))
    options = {"threshold": 1.0, "rng": 5}
    config = {**options, "auxiliary": ["size"], "groups": "customer", "report": False}
    result = mlflow.models.evaluate(
        data=many,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config=config,
    )
    ev = pumonitor.evaluate(
        many["confirmed"],
        many["score"],
        auxiliary=many[["size"]],
        groups=many["customer"],
        **options,
    )
    assert ev.class_prior.diagnostics["index"] == "auxiliary"
    assert result.metrics == logged_estimates(ev.estimates)
    with pytest.raises(InputError, match="names the column 'sizes' as auxiliary"):
        mlflow.models.evaluate(
            data=many,
            targets="confirmed",
            predictions="score",
            model_type="pu",
            evaluators="pu",
            evaluator_config={**config, "auxiliary": ["sizes"]},
        )


def test_what_is_said_of_labels_is_a_key_of_the_configuration(
    store: str, window: pd.DataFrame
) -> None:
    def evaluated(origin: str) -> Any:
        return mlflow.models.evaluate(
            data=window,
            targets="confirmed",
            predictions="score",
            model_type="pu",
            evaluators="pu",
            evaluator_config={**CONFIG, "label_origin": origin},
        )

    evaluated("random")
    run = mlflow.last_active_run()
    assert run is not None
    assert "pumonitor.assumption" not in run.data.tags
    with pytest.raises(InputError, match="label_origin is 'queue'"):
        evaluated("queue")


def test_entity_names_a_column(sqlite: str, window: pd.DataFrame) -> None:
    window["card"] = np.arange(len(window)) // 5
    result = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config={**CONFIG, "entity": "card"},
    )
    shared = pumonitor.evaluate(
        window["confirmed"], window["score"], entity=window["card"], **OPTIONS
    )
    assert shared.settings["labeled_entities"] < shared.settings["n_labeled"]
    assert result.metrics == logged_estimates(shared.estimates)


def test_the_column_of_values_gives_estimates_by_value(sqlite: str, window: pd.DataFrame) -> None:
    valued = window.assign(amount=np.arange(len(window)) % 7 + 1.0)
    config = {**CONFIG, "value": "amount", "value_unit": "EUR"}
    result = mlflow.models.evaluate(
        data=valued,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config=config,
    )
    ev = pumonitor.evaluate(
        valued["confirmed"], valued["score"], value=valued["amount"], value_unit="EUR", **OPTIONS
    )
    for name in ("recall_value", "precision_value", "caught_value", "missed_value"):
        assert result.metrics[f"pu/{name}_high"] == pytest.approx(ev[name].high)
