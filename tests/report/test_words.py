from __future__ import annotations

import pytest

from pumonitor.names import GROUPS, MEANING, TITLES, VALUE, title
from pumonitor.report.verdict import verdict
from pumonitor.results import Evaluation
from pumonitor.text import percent_text
from pumonitor.views.estimates import uncorrected_value


def test_every_estimate_is_grouped_once_named_and_explained(usual: Evaluation) -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted([*usual.estimates, *VALUE])
    assert set(MEANING) == set(TITLES) == set(grouped)
    assert all(sentence.endswith(".") for sentence in MEANING.values())


def test_titles_tell_the_k_and_the_beta() -> None:
    assert title("recall_at_k", {"top_k": 500}) == "Recall, top 500"
    assert title("lift_at_k", {"top_k": 0.025}) == "Lift, top 2.5%"
    assert title("f_beta", {"f_beta": 0.5}) == "F0.5"


def test_the_verdict_gives_precision_with_its_interval_and_what_naive_counting_says(
    usual: Evaluation,
) -> None:
    sentences = verdict(usual)
    value, low, high = usual["precision"].displayed
    assert sentences[0].startswith("Of the cases the model flags at 0.6, about ")
    assert f"{percent_text(value, width=high - low)} (" in sentences[0]
    naive = uncorrected_value(usual, "precision")
    assert naive is not None
    assert f"would have given {percent_text(naive, width=high - low)}." in sentences[0]
    assert not any("warning" in sentence for sentence in sentences)


def test_a_surely_impossible_precision_is_not_called_a_share(impossible: Evaluation) -> None:
    sentences = verdict(impossible)
    assert "is not known: the estimate came out at 3" in sentences[0]
    assert "impossible, and chance does not explain it" in sentences[0]
    assert sentences[-1] == "One warning puts these numbers in doubt."


def test_a_precision_without_value_is_explained(nothing_flagged: Evaluation) -> None:
    reason = nothing_flagged["precision"].undefined_reason
    assert reason is not None
    assert verdict(nothing_flagged)[0].endswith(f"is not known: {reason}.")


def test_a_given_prior_is_said_to_be_given(case_control: Evaluation) -> None:
    sentence = next(s for s in verdict(case_control) if "of all cases are really positive" in s)
    assert sentence.startswith("Taken as given: about 10.0% (8.0 to 13.0%)")
    assert "confirmed" not in sentence


def test_no_sentence_shows_a_number_that_is_none(any_evaluation: Evaluation) -> None:
    text = " ".join(verdict(any_evaluation)).lower()
    assert "nan" not in text.split()
    assert "none" not in text.replace("or none,", "").split()


@pytest.mark.parametrize("name", ["f1", "accuracy", "mcc", "balanced_accuracy"])
@pytest.mark.parametrize("scenario", ["usual", "case_control"])
def test_the_uncorrected_curve_at_the_threshold_is_the_uncorrected_estimate(
    name: str, scenario: str, request: pytest.FixtureRequest
) -> None:
    evaluation: Evaluation = request.getfixturevalue(scenario)
    curve = evaluation.curves[f"{name}_by_threshold"]
    assert curve.uncorrected is not None
    index = int((curve.x < evaluation.settings["threshold"]).sum())
    assert curve.uncorrected[index] == pytest.approx(evaluation[f"{name}_pu"].value, abs=1e-12)


def test_uncorrected_precision_is_the_confirmed_share_of_what_is_flagged(usual: Evaluation) -> None:
    # With pure labels in one sample precision is divided by the share of positives confirmed.
    expected = usual["precision"].value * usual["label_frequency"].value
    assert uncorrected_value(usual, "precision") == pytest.approx(expected, rel=1e-9)


def test_the_uncorrected_share_of_positives_is_the_confirmed_share_of_one_sample_only(
    usual: Evaluation, case_control: Evaluation
) -> None:
    labeled, unlabeled = usual.settings["n_labeled"], usual.settings["n_unlabeled"]
    assert uncorrected_value(usual, "class_prior") == labeled / (labeled + unlabeled)
    assert uncorrected_value(case_control, "class_prior") is None
    assert uncorrected_value(usual, "ll_score") is None
