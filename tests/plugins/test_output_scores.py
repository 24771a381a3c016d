from typing import Any

import numpy as np
import pandas as pd
import pytest
from pumonitor_mlflow.output_scores import are_class_labels, score_column

from pumonitor.errors import InputError

TWO = np.array([[0.8, 0.2], [0.1, 0.9]])
FRAME = pd.DataFrame({"decision": [0, 1], "risk": [0.2, 0.9], "model": ["a", "a"]})


@pytest.mark.parametrize(
    ("output", "column"),
    [
        (np.array([0.2, 0.9]), None),
        ([0.2, 0.9], None),
        (np.array([[0.2], [0.9]]), None),
        (TWO, None),
        (pd.Series([0.2, 0.9]), None),
        (pd.DataFrame(TWO), None),
        (pd.DataFrame(TWO[:, ::-1], columns=["1", "0"]), None),
        (pd.DataFrame({"anything": [0.2, 0.9]}), None),
        (pd.DataFrame({"anything": [0.2, 0.9]}), "score"),
        (FRAME, "risk"),
        (FRAME.to_dict("list"), "risk"),
        (FRAME.to_dict("records"), "risk"),
    ],
)
def test_the_score_of_the_positive_class_is_found(output: Any, column: str | None) -> None:
    assert score_column(output, column=column).tolist() == [0.2, 0.9]


def test_the_positive_class_may_have_a_name() -> None:
    output = pd.DataFrame(TWO, columns=["ok", "fraud"])
    assert score_column(output, column=None, pos_label="fraud").tolist() == [0.2, 0.9]


def test_two_columns_that_are_no_probabilities_are_not_guessed_at() -> None:
    with pytest.raises(
        InputError,
        match=r"do not sum to 1 in 2 of 2 rows, first at row 0 \(1 and 0.2\)",
    ):
        score_column(np.array([[1.0, 0.2], [2.0, 0.9]]), column=None)


def test_a_frame_of_several_columns_needs_one_to_be_named() -> None:
    with pytest.raises(
        InputError, match=r"columns decision, risk, model: give the one .* predictions"
    ):
        score_column(FRAME, column=None)


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        InputError, match=r"predictions='score' is not .* has decision, risk, model"
    ):
        score_column(FRAME, column="score")


def test_three_classes_are_refused() -> None:
    with pytest.raises(InputError, match=r"output has shape \(4, 3\): one score per row"):
        score_column(np.full((4, 3), 1 / 3), column=None)


@pytest.mark.parametrize(
    "decisions",
    [
        np.array([0, 1, 1]),
        np.array([0.0, 1.0]),
        np.array([-1, 1]),
        np.array([True, False]),
        np.array(["ham", "spam"]),
        np.array(["ham", 1], dtype=object),
    ],
)
def test_decisions_are_recognised(decisions: np.ndarray) -> None:
    assert are_class_labels(decisions)


@pytest.mark.parametrize(
    "scores", [np.array([0, 2]), np.array([0.0, 0.5, 1.0]), np.array([-1, 0, 1])]
)
def test_scores_are_not_taken_for_decisions(scores: np.ndarray) -> None:
    assert not are_class_labels(scores)
