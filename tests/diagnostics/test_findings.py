"""Each diagnostic fires where it should, stays silent where not, and speaks plainly."""

import numpy as np
import pytest

import pumonitor
from pumonitor import ScoreTable
from pumonitor.diagnostics.infeasible import infeasible_values
from pumonitor.results import Estimate
from pumonitor.text import number_text


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    is_positive = rng.random(20_000) < 0.1
    return is_positive & (rng.random(20_000) < 0.5), rng.normal(2.0 * is_positive)


def names(ev):
    return {finding.name for finding in ev.warnings}


def sentence(ev, name):
    return next(finding.sentence for finding in ev.warnings if finding.name == name)


def test_clean_data_raise_nothing(rows):
    assert names(pumonitor.evaluate(*rows, threshold=1.5, class_prior=0.1)) == set()


def test_infeasible_values_beyond_sampling_are_a_warning(rows):
    ev = pumonitor.evaluate(*rows, threshold=1.5, class_prior=0.4)
    assert "Impossible values that sampling does not explain" in sentence(ev, "infeasible")
    assert ev.warnings[0].severity == "warning"


def test_an_area_far_above_one_is_not_said_to_be_within_sampling_error(rows):
    """Average precision is held to 1; how far it came out beyond is what counts."""
    ev = pumonitor.evaluate(*rows, threshold=1.5, class_prior=0.9)
    (finding,) = [one for one in ev.warnings if one.name == "infeasible"]
    assert ev["auc"].value > 4
    assert finding.severity == "warning"
    assert f"AUC ({number_text(ev['auc'].value)}), Average precision" in finding.sentence


def test_what_few_rows_leave_far_outside_is_not_said_to_be_just_outside():
    wide = Estimate(
        name="f1", value=3.0, low=0.4, high=5.6, se=1.3, method="draws",
        confidence_level=0.95, n_labeled=8, n_unlabeled=90,
    )  # fmt: skip
    (finding,) = infeasible_values({"f1": wide}, {})
    assert finding.severity == "note"
    assert finding.sentence.startswith(
        "Values outside what is possible, by no more than sampling error explains: F1 (3.00). "
    )


def test_few_positives_say_how_many_are_needed(rows):
    labels = rows[0] & (np.cumsum(rows[0]) <= 12)
    ev = pumonitor.evaluate(labels, rows[1], threshold=1.5, class_prior=0.1)
    assert sentence(ev, "few_positives").startswith("Only 12 confirmed positives")


def test_random_scores_are_said_to_rank_nothing(rows):
    ev = pumonitor.evaluate(rows[0], np.random.default_rng(0).normal(size=20_000), class_prior=0.1)
    assert "cannot be distinguished from chance" in sentence(ev, "no_ranking")


def test_reversed_scores_are_recognised(rows):
    ev = pumonitor.evaluate(rows[0], -rows[1], class_prior=0.1)
    assert "the score may be reversed" in sentence(ev, "no_ranking")


@pytest.mark.parametrize(("threshold", "start"), [(99, "No row scores"), (-99, "Every row scores")])
def test_threshold_off_the_scale_is_said(rows, threshold, start):
    ev = pumonitor.evaluate(*rows, threshold=threshold, class_prior=0.1)
    assert sentence(ev, "one_sided_decision").startswith(start)


def test_coarse_bins_are_said():
    table = ScoreTable.from_counts([20, 80], [900, 300], edges=[0.0, 0.5, 1.0])
    ev = pumonitor.evaluate_table(table, threshold=0.5, class_prior=0.2)
    assert "counted in 2 bins" in sentence(ev, "coarse_table")


def test_values_outside_by_chance_are_a_note_and_by_more_a_warning():
    def kind(value, low, se):
        estimate = Estimate(
            name="precision", value=value, low=low, high=value + 0.1, confidence_level=0.95,
            method="", n_labeled=50, n_unlabeled=900, se=se,
        )  # fmt: skip
        (finding,) = infeasible_values({"precision": estimate}, {"threshold": 0.5})
        return finding.severity

    assert kind(1.08, 0.97, 0.05) == "note"
    assert kind(1.12, 1.01, 0.05) == "note"  # 2.4 standard errors
    assert kind(1.2, 1.09, 0.05) == "warning"
