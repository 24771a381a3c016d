"""Live models as MLflow loads them: the scikit-learn flavor, python functions, plain callables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from pumonitor_mlflow.model_scores import model_scores
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pumonitor.errors import InputError


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})


@pytest.fixture(scope="module")
def truth(rows: pd.DataFrame) -> np.ndarray:
    return (rows["a"] + 0.3 * rows["b"] > 0.4).to_numpy().astype(int)


@pytest.fixture
def loaded(tmp_path: Path) -> Any:
    def load(model: Any, **options: Any) -> Any:
        # Requirements are given, else MLflow starts a process to infer them.
        mlflow.sklearn.save_model(
            model,
            tmp_path / "model",
            pip_requirements=["scikit-learn"],
            serialization_format="cloudpickle",
            **options,
        )
        return mlflow.pyfunc.load_model(str(tmp_path / "model"))

    return load


def test_a_classifier_is_asked_for_probabilities_though_its_predict_gives_decisions(
    rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    classifier = LogisticRegression().fit(rows, truth)
    model = loaded(classifier)
    assert set(model.predict(rows)) == {0, 1}
    assert np.array_equal(model_scores(model, rows), classifier.predict_proba(rows)[:, 1])


def test_a_model_logged_to_predict_probabilities_gives_the_second_column(
    rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    classifier = LogisticRegression().fit(rows, truth)
    model = loaded(classifier, pyfunc_predict_fn="predict_proba")
    assert model.predict(rows).shape == (300, 2)
    assert np.array_equal(model_scores(model, rows), classifier.predict_proba(rows)[:, 1])


def test_a_classifier_without_probabilities_gives_its_decision_function(
    rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    classifier = make_pipeline(StandardScaler(), LinearSVC()).fit(rows, truth)
    assert np.array_equal(
        model_scores(loaded(classifier), rows), classifier.decision_function(rows)
    )


def test_a_regressor_gives_what_it_predicts(
    rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    regressor = LinearRegression().fit(rows, truth)
    assert np.array_equal(model_scores(loaded(regressor), rows), regressor.predict(rows))


@pytest.mark.parametrize("scorer", [LogisticRegression(), LinearSVC()])
def test_classes_by_name_need_the_positive_one_to_be_named(
    scorer: Any, rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    classifier = scorer.fit(rows, np.where(truth == 1, "fraud", "ok"))
    model = loaded(classifier)
    with pytest.raises(InputError, match="classes are fraud, ok: say which is the positive one"):
        model_scores(model, rows)
    with pytest.raises(InputError, match=r"pos_label 'spam' is not a class .* has fraud, ok"):
        model_scores(model, rows, pos_label="spam")
    scores = model_scores(model, rows, pos_label="fraud")
    assert scores[truth == 1].mean() > scores[truth == 0].mean()


def test_a_classifier_of_three_classes_is_refused(rows: pd.DataFrame, loaded: Any) -> None:
    model = loaded(LogisticRegression().fit(rows, np.arange(300) % 3))
    with pytest.raises(InputError, match=r"the model has 3 classes \(0, 1, 2\)"):
        model_scores(model, rows)


def test_an_outlier_detector_whose_decisions_are_its_only_output_is_refused(
    rows: pd.DataFrame, loaded: Any
) -> None:
    # Its decision_function is higher for what is ordinary: taken for a score, it ranks backwards.
    model = loaded(IsolationForest(random_state=0).fit(rows))
    with pytest.raises(InputError, match="the model returns decisions, not scores: all 300"):
        model_scores(model, rows)


def test_labels_and_weights_beside_the_features_do_not_disturb_a_fitted_classifier(
    rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    classifier = LogisticRegression().fit(rows, truth)
    wider = rows.assign(confirmed=truth, extra=1.0)[["extra", "confirmed", "b", "a"]]
    assert np.array_equal(
        model_scores(loaded(classifier), wider, not_features=["confirmed"]),
        classifier.predict_proba(rows)[:, 1],
    )


def test_a_column_the_model_needs_is_named_when_it_is_missing(
    rows: pd.DataFrame, truth: np.ndarray, loaded: Any
) -> None:
    model = loaded(LogisticRegression().fit(rows, truth))
    with pytest.raises(InputError, match="the data lack b, which the model needs; columns are a"):
        model_scores(model, rows[["a"]])


def test_arrays_are_scored_without_names(
    truth: np.ndarray, rows: pd.DataFrame, loaded: Any
) -> None:
    classifier = LogisticRegression().fit(rows.to_numpy(), truth)
    scores = model_scores(loaded(classifier), rows.to_numpy())
    assert np.array_equal(scores, classifier.predict_proba(rows.to_numpy())[:, 1])


class RiskModel(mlflow.pyfunc.PythonModel):
    """Returns what its author chose: a decision and a risk."""

    def predict(self, context: Any, model_input: pd.DataFrame, params: Any = None) -> Any:
        risk = 1 / (1 + np.exp(-model_input["a"]))
        return pd.DataFrame({"decision": (risk > 0.5).astype(int), "risk": risk})


def test_a_python_model_gives_the_column_named_by_predictions(
    rows: pd.DataFrame, tmp_path: Path
) -> None:
    mlflow.pyfunc.save_model(
        tmp_path / "risk", python_model=RiskModel(), pip_requirements=["pandas"]
    )
    model = mlflow.pyfunc.load_model(str(tmp_path / "risk"))
    expected = 1 / (1 + np.exp(-rows["a"].to_numpy()))
    assert np.array_equal(model_scores(model, rows, column="risk"), expected)
    with pytest.raises(InputError, match="columns decision, risk: give the one"):
        model_scores(model, rows)
    with pytest.raises(
        InputError, match="returns decisions, not scores: all 300 predictions are 0"
    ):
        model_scores(model, rows, column="decision")


class Echo:
    """As MLflow wraps a function: predict and nothing else."""

    def __init__(self) -> None:
        self.columns: list[str] = []

    def predict(self, model_input: pd.DataFrame) -> Any:
        self.columns = list(model_input.columns)
        model_input["a"] *= 2.0
        return model_input["a"].to_numpy()


def test_a_function_sees_features_only_and_cannot_change_the_data(rows: pd.DataFrame) -> None:
    before = rows.copy()
    model = Echo()
    scores = model_scores(model, rows.assign(confirmed=1), not_features=["confirmed"])
    assert model.columns == ["a", "b"]
    assert np.array_equal(scores, 2.0 * before["a"])
    pd.testing.assert_frame_equal(rows, before)
