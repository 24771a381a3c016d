from typing import Any

import pytest
from pumonitor_mlflow.evaluator import PUEvaluator


@pytest.mark.parametrize("config", [{}, None, {"class_prior": 0.1}])
def test_the_type_pu_is_evaluated_with_or_without_configuration(config: Any) -> None:
    assert PUEvaluator.can_evaluate(model_type="pu", evaluator_config=config)


@pytest.mark.parametrize("model_type", ["classifier", None])
@pytest.mark.parametrize(
    ("config", "meant"),
    [
        ({"class_prior": 0.1}, True),
        ({"table": object()}, True),
        ({"pu": {"threshold": 0.2}}, True),
        ({"class_priro": 0.1}, True),
        ({}, False),
        (None, False),
        ({"log_model_explainability": False}, False),
        ({"sample_weights": [1.0], "pos_label": 1, "label_list": [0, 1]}, False),
        ({"judge": "someone-elses-evaluator"}, False),
    ],
)
def test_a_classifier_is_evaluated_only_when_the_configuration_speaks_of_this_evaluator(
    model_type: str | None, config: Any, meant: bool
) -> None:
    assert PUEvaluator.can_evaluate(model_type=model_type, evaluator_config=config) is meant


def test_skipping_a_classifier_says_why(log: pytest.LogCaptureFixture) -> None:
    PUEvaluator.can_evaluate(model_type="classifier", evaluator_config={})
    assert "with model_type 'classifier' it needs a configuration of its own" in log.text


def test_skipping_another_type_says_why(log: pytest.LogCaptureFixture) -> None:
    assert not PUEvaluator.can_evaluate(model_type="regressor", evaluator_config={"top_k": 5})
    assert "evaluates binary classifiers" in log.text


def test_it_may_be_asked_of_the_class_or_an_instance_with_arguments_yet_unknown() -> None:
    for asked in (PUEvaluator, PUEvaluator()):
        assert asked.can_evaluate(model_type="pu", evaluator_config={}, to_come="something")
