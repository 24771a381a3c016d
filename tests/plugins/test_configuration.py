import pytest
from pumonitor_mlflow.configuration import Configuration


def test_keywords_of_evaluate_are_passed_on_and_the_evaluators_own_are_kept_apart() -> None:
    read = Configuration.read(
        {"class_prior": (0.1, 0.3), "target": "window", "propensity": "rate", "labels": "seen"}
    )
    assert read.options == {"class_prior": (0.1, 0.3), "target": "window"}
    assert read.propensity == "rate"
    assert read.labels == "seen"


def test_a_configuration_nested_under_the_evaluators_name_is_read() -> None:
    assert Configuration.read({"pu": {"threshold": 2.0}}).options == {"threshold": 2.0}


def test_nothing_configured_means_the_defaults_of_evaluate() -> None:
    assert Configuration.read(None) == Configuration.read({}) == Configuration()


def test_an_unknown_key_is_refused_with_the_nearest_known_name() -> None:
    with pytest.raises(
        ValueError,
        match=r"unknown key 'class_priro' in the configuration of evaluator 'pu'; "
        r"did you mean 'class_prior'\?",
    ):
        Configuration.read({"class_priro": 0.1})


def test_a_key_of_another_evaluator_is_refused_and_told_where_to_go() -> None:
    with pytest.raises(
        ValueError,
        match=r"unknown key 'log_explainer' .* 'pu'\. Known keys are audit, auxiliary, .* under "
        r"their own name: .*\{'pu': \{\.\.\.\}, 'default': \{\.\.\.\}\}",
    ):
        Configuration.read({"log_explainer": True})


@pytest.mark.parametrize(
    "key", ["labels", "pos_label", "propensity", "sample_weight", "value", "value_unit"]
)
def test_keys_about_rows_are_refused_beside_a_table_of_counts(key: str) -> None:
    with pytest.raises(ValueError, match=f"a table of counts and {key}, which need rows"):
        Configuration.read({"table": {"labeled": [1]}, key: "column"})
