"""A given prior beyond what the scores allow."""

import numpy as np
import pytest
from scipy import stats

import pumonitor
from pumonitor import ScoreTable
from pumonitor.diagnostics.prior_too_high import highest_possible_prior
from tests.frozen import assert_as_frozen


def test_a_true_prior_is_possible_and_its_interval_too(window, findings):
    assert "prior_too_high" not in findings(window.fair, window.scores)
    assert "prior_too_high" not in findings(window.fair, window.scores, class_prior=(0.08, 0.11))


def test_part_of_an_interval_that_is_ruled_out_is_a_note(window, findings):
    found = findings(window.fair, window.scores, class_prior=(0.06, 0.2))["prior_too_high"]
    assert found.severity == "note"
    assert found.sentence.startswith("The class prior was given as up to 0.2;")


def test_easy_labels_make_a_true_prior_impossible(window, findings):
    """Where no single metric is out of its range yet."""
    chance = 0.5 * window.rank**4
    labels = window.positive & (np.random.default_rng(1).random(20_000) < chance)
    found = findings(labels, window.scores)
    assert found["prior_too_high"].severity == "warning"
    assert "infeasible" not in {name for name, f in found.items() if f.severity == "warning"}


def test_where_an_average_precision_is_far_above_one_that_is_what_is_said(window):
    """The estimate is held to 1; it came out 4.9 standard errors above."""
    ev = pumonitor.evaluate(window.easy, window.scores, threshold=0.3, class_prior=0.1)
    (warning,) = [one for one in ev.warnings if one.severity == "warning"]
    assert warning.name == "infeasible"
    assert "Average precision (1.32)" in warning.sentence


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_the_bound_is_above_the_truth_and_near_it_where_classes_separate(scenario, purity):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        unlabeled_prior, n_l, n_u = 0.15, 2000, 20_000
        positive = np.concatenate([rng.random(n_l) < purity, rng.random(n_u) < unlabeled_prior])
        table = ScoreTable.from_arrays(np.repeat([1, 0], [n_l, n_u]), rng.normal(5.0 * positive))
        truth = unlabeled_prior
        if scenario == "single-training-set":
            truth = (n_l * purity + n_u * unlabeled_prior) / (n_l + n_u)
        bound = highest_possible_prior(table, scenario=scenario, label_purity=purity)
        assert truth < bound < 1.2 * truth


def test_silent_with_propensities_and_the_right_prior():
    for seed in range(10):
        rng = np.random.default_rng([3, seed])
        positive = rng.random(20_000) < 0.2
        scores = rng.normal(2.0 * positive)
        chance = np.where(scores > 2, 1.0, 0.2)
        labels = positive & (rng.random(20_000) < chance)
        table = ScoreTable.from_arrays(labels, scores, propensity=chance)
        highest = highest_possible_prior(table, scenario="single-training-set", label_purity=1.0)
        assert 0.2 < highest < 0.5


@pytest.mark.parametrize(
    # Expected are 0.1% at most.
    ("runs", "most"),
    [(300, 2), pytest.param(1500, 6, marks=pytest.mark.slow)],
)
def test_the_bound_is_missed_no_more_often_than_stated(runs, most, request):
    """Unlabeled rows are positives and rows that all score lower: every threshold is tight."""
    missed = 0
    for seed in range(runs):
        rng = np.random.default_rng([4, seed])
        scores = np.concatenate([rng.random(300), rng.random(rng.binomial(3000, 0.3)) + 0.0])
        lowest = 3000 + 300 - len(scores)
        table = ScoreTable.from_arrays(
            np.repeat([1, 0], [300, 3000]), np.concatenate([scores, -np.ones(lowest)])
        )
        bound = highest_possible_prior(table, scenario="case-control", label_purity=1.0)
        missed += bound < 0.3
    assert missed <= most
    if runs == 1500:
        assert_as_frozen(request, {"missed": missed / runs})


def test_the_bound_is_near_where_few_rows_are_at_the_top():
    """A tenth of 300 labeled rows: bounding both shares by themselves gave .35."""
    table = ScoreTable.from_counts([270, 30], [2910, 90], edges=[0.0, 1.0, 2.0])
    bound = highest_possible_prior(table, scenario="case-control", label_purity=1.0)
    assert 0.3 < bound < 0.7


def test_in_a_single_training_set_the_labeled_share_was_drawn_too():
    """A perfect ranking of many rows: the share labeled is then most of what is not known."""
    labeled, unlabeled_prior, rows, missed = 0.3, 0.02, 10_000, 0
    truth = labeled + (1 - labeled) * unlabeled_prior
    rng = np.random.default_rng(5)
    for _ in range(300):
        ours, hidden, negative = rng.multinomial(rows, [labeled, truth - labeled, 1 - truth])
        high_ours, high_hidden = rng.binomial([ours, hidden], 0.5)
        table = ScoreTable.from_counts(
            [0, ours - high_ours, high_ours],
            [negative, hidden - high_hidden, high_hidden],
            edges=[0.0, 1.0, 2.0, 3.0],
        )
        bound = highest_possible_prior(table, scenario="single-training-set", label_purity=1.0)
        missed += bound < truth
        assert bound < 1.12 * truth
    # About 45 where the labeled share is taken as known.
    assert missed <= 2


def test_the_bound_by_hand_in_a_single_training_set():
    """What pi = q + (1 - q) a is at the upper ends of both."""
    table = ScoreTable.from_counts([0, 2000], [8000, 0], edges=[0.0, 1.0, 2.0])
    bound = highest_possible_prior(table, scenario="single-training-set", label_purity=1.0)
    others = highest_possible_prior(table, scenario="case-control", label_purity=1.0)
    share = stats.beta.ppf(0.999, 2001, 8000)
    assert bound == pytest.approx(share + (1 - share) * others)


def test_a_weight_common_to_all_rows_changes_nothing(window):
    one, ten = (
        ScoreTable.from_arrays(window.fair, window.scores, sample_weight=np.full(20_000, weight))
        for weight in (1.0, 10.0)
    )
    first, second = (
        highest_possible_prior(table, scenario="single-training-set", label_purity=1.0)
        for table in (one, ten)
    )
    assert first == pytest.approx(second, rel=1e-9)
