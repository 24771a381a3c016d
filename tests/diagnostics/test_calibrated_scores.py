"""Labeled rows and the class prior against scores said to be calibrated."""

import numpy as np
import pytest

from pumonitor import ScoreTable
from pumonitor.diagnostics.calibrated_scores import labeled_against_calibrated, labeled_low
from tests.frozen import assert_as_frozen

CALIBRATED = {"calibrated_scores": True}


def test_fair_labels_and_calibrated_scores_are_silent(window, findings):
    assert findings(window.fair, window.scores, settings=CALIBRATED) == {}


def test_easy_positives_are_named_with_the_size(window, findings):
    found = findings(window.easy, window.scores, settings=CALIBRATED)
    sentence = found["unfair_labels_by_calibration"].sentence
    assert sentence.startswith("Confirmed positives score higher than calibrated scores imply")
    assert "easy positives are confirmed first" in sentence
    assert "unfair_labels_by_calibration" not in findings(window.easy, window.scores)


def test_hard_positives_are_named(window, findings):
    hard = (window.positive & (window.rank < np.median(window.rank[window.positive]))).astype(int)
    found = findings(hard, window.scores, settings=CALIBRATED)
    assert "score lower than calibrated" in found["unfair_labels_by_calibration"].sentence
    assert "hard positives" in found["unfair_labels_by_calibration"].sentence


def test_labels_only_at_both_ends_are_seen_though_their_mean_rank_is_right(make_window, findings):
    window = make_window(distance=0.8, prior=0.3)
    rank = window.rank[window.positive]
    out = np.abs(window.rank - rank.mean()) > np.quantile(np.abs(rank - rank.mean()), 0.5)
    labels = (window.positive & out & (window.rng.random(20_000) < 0.4)).astype(int)
    found = findings(labels, window.scores, settings=CALIBRATED, class_prior=0.3)
    assert "are more frequent at both ends" in found["unfair_labels_by_calibration"].sentence


def test_a_prior_that_the_mean_score_contradicts(window, findings):
    found = findings(window.fair, window.scores, settings=CALIBRATED, class_prior=0.06)
    sentence = found["prior_against_calibration"].sentence
    assert "given as 0.06, but the mean of the calibrated scores is 0.10" in sentence


def test_an_interval_that_holds_the_mean_score_is_not_contradicted(window, findings):
    assert "prior_against_calibration" not in findings(
        window.fair, window.scores, settings=CALIBRATED, class_prior=(0.05, 0.13)
    )


def test_scores_that_are_no_probabilities(window, findings):
    found = findings(window.fair, window.plain, settings=CALIBRATED)
    assert "and therefore no probabilities" in found["calibrated_scores"].sentence


def test_difference_against_a_sum_over_rows():
    """By hand: pairs of a labeled row and any row, the latter weighted by its score."""
    labels = np.array([1, 0, 1, 0, 0, 0, 1, 0])
    scores = np.array([0.9, 0.8, 0.7, 0.5, 0.35, 0.2, 0.15, 0.1])
    ours = scores[labels == 1][:, np.newaxis]
    won = np.mean((ours > scores) + 0.5 * (ours == scores), axis=0)
    expected = np.average(won, weights=scores) - 0.5
    test = labeled_against_calibrated(
        ScoreTable.from_arrays(labels, scores),
        scenario="single-training-set",
        label_purity=1.0,
    )
    assert test.shift == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    # Three standard deviations about 10%.
    ("runs", "fewest", "most"),
    [(60, 1, 13), pytest.param(300, 13, 47, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_rejects_as_often_as_stated(make_window, scenario, purity, runs, fewest, most, request):
    p_values = []
    for seed in range(runs):
        window = make_window(seed=seed, size=1500, prior=0.3)
        labels = window.fair.copy()
        if purity < 1:
            share = labels.sum() * (1 - purity) / purity / (~window.positive).sum()
            labels[~window.positive & (window.rng.random(1500) < share)] = 1
        scores = window.scores
        if scenario == "case-control":
            extra = make_window(seed=1000 + seed, size=1500, prior=0.3)
            chosen = extra.positive & (extra.rng.random(1500) < 0.3)
            chosen |= ~extra.positive & (
                extra.rng.random(1500) < 0.3 * 0.3 * (1 - purity) / purity / 0.7
            )
            scores = np.concatenate([scores, extra.scores[chosen]])
            labels = np.concatenate([np.zeros(1500, int), np.ones(chosen.sum(), int)])
        test = labeled_against_calibrated(
            ScoreTable.from_arrays(labels, scores), scenario=scenario, label_purity=purity
        )
        p_values.append(test.p_value)
    rejected = np.sum(np.array(p_values) < 0.1)
    assert fewest <= rejected <= most
    if runs == 300:
        assert_as_frozen(request, {"rejected": rejected / runs})


@pytest.mark.parametrize(
    # 400 runs at 5%: 20 with a standard deviation of 4.4; chi-square would give about 100.
    ("runs", "most"),
    [(100, 12), pytest.param(400, 40, marks=pytest.mark.slow)],
)
def test_a_handful_of_labels_rejects_as_often_as_stated(make_window, runs, most, request):
    """Six labeled rows: their own variance is hardly known."""
    rejected = 0
    for seed in range(runs):
        window = make_window(seed=seed, size=400, prior=0.3)
        labels = (window.positive & (np.cumsum(window.positive) <= 6)).astype(int)
        test = labeled_against_calibrated(
            ScoreTable.from_arrays(labels, window.scores),
            scenario="single-training-set",
            label_purity=1.0,
        )
        rejected += test.p_value < 0.05
    assert rejected <= most
    if runs == 400:
        assert_as_frozen(request, {"rejected": rejected / runs})


def test_coarse_bins_of_calibrated_scores_are_no_evidence(make_window):
    """200,000 rows in twenty bins: the score inside a bin is not known."""
    window = make_window(size=200_000)
    edges = np.linspace(0, 1, 21)
    labeled, unlabeled = (
        np.histogram(window.scores[window.fair == label], edges)[0] for label in (1, 0)
    )
    table = ScoreTable.from_counts(labeled, unlabeled, edges=edges)
    test = labeled_against_calibrated(table, scenario="single-training-set", label_purity=1.0)
    assert test.p_value > 0.001


def test_a_few_mistaken_labels_at_low_scores_are_seen(make_window, findings):
    window = make_window(distance=3.5)
    labels = (window.positive & (np.cumsum(window.positive) <= 150)).astype(int)
    labels[np.flatnonzero(~window.positive)[:10]] = 1
    found = findings(labels, window.scores, settings=CALIBRATED)
    sentence = found["low_scores_by_calibration"].sentence
    assert sentence.startswith("13.1% of the confirmed positives score at most")
    assert "where calibrated scores put 4.95% of the positives" in sentence
    right = labels * window.positive
    assert "low_scores_by_calibration" not in findings(right, window.scores, settings=CALIBRATED)


def test_expected_share_below_the_limit_against_a_sum_over_rows(window):
    low = labeled_low(
        ScoreTable.from_arrays(window.fair, window.scores),
        scenario="single-training-set",
        label_purity=1.0,
    )
    below = window.scores <= low.limit
    truth = window.scores[below].sum() / window.scores.sum()
    # Unlabeled rows are counted between labeled ones, and taken at the higher score.
    assert truth <= low.expected <= truth + 1e-4
    assert low.seen == pytest.approx(window.fair[below].sum() / window.fair.sum())


@pytest.mark.parametrize(
    # At most 5%, with three standard deviations.
    ("runs", "most"),
    [(100, 11), pytest.param(400, 33, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_low_scores_reject_no_more_often_than_stated(make_window, purity, runs, most, request):
    rejected = 0
    for seed in range(runs):
        window = make_window(seed=seed, size=3000)
        labels = window.fair.copy()
        share = labels.sum() * (1 - purity) / purity / (~window.positive).sum()
        labels[~window.positive & (window.rng.random(3000) < share)] = 1
        low = labeled_low(
            ScoreTable.from_arrays(labels, window.scores),
            scenario="single-training-set",
            label_purity=purity,
        )
        rejected += low.p_value < 0.05
    assert rejected <= most
    if runs == 400:
        assert_as_frozen(request, {"rejected": rejected / runs})


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
def test_low_scores_with_a_weight_common_to_all_rows_are_as_significant(scenario):
    rng = np.random.default_rng(3)
    unlabeled = 1 / (1 + np.exp(-rng.normal(-2, 1.5, 300)))
    labeled = np.sort(rng.beta(2, 2, 500))
    labeled[:40] = 0.02
    labels, scores = np.repeat([1, 0], [500, 300]), np.concatenate([labeled, unlabeled])
    p_values = [
        labeled_low(
            ScoreTable.from_arrays(labels, scores, sample_weight=weight),
            scenario=scenario,
            label_purity=1.0,
        ).p_value
        for weight in (None, np.full(800, 10.0), np.full(800, 0.1))
    ]
    assert p_values[0] < 1e-6
    assert p_values[1:] == pytest.approx([p_values[0]] * 2, rel=1e-6)
