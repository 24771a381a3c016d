"""Cases that once went wrong, each with the number it must give."""

import numpy as np
import pytest
from sklearn import metrics as reference

import pumonitor
from pumonitor import ScoreTable, metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(21)
    is_positive = rng.random(4000) < 0.2
    return is_positive, rng.normal(1.6 * is_positive), rng


def test_average_precision_in_case_control_with_noisy_labels_stays_finite():
    """A labeled row may score above every unlabeled row."""
    rng = np.random.default_rng(3)
    positive = np.concatenate([rng.random(60) < 0.85, rng.random(1000) < 0.1])
    labels = np.repeat([1, 0], [60, 1000])
    scores = rng.normal(2.0 * positive)
    scores[0] = 99.0
    estimate = metrics.average_precision(
        labels, scores, class_prior=0.1, label_purity=0.85, scenario="case-control"
    )
    assert 0.2 < estimate.value < 1.1
    assert estimate.high < 3


def test_uncorrected_numbers_know_nothing_of_propensities(rows):
    is_positive, scores, rng = rows
    propensity = 1 / (1 + np.exp(1 - scores))
    labels = is_positive & (rng.random(4000) < propensity)
    for target in ("process", "window"):
        ev = pumonitor.evaluate(
            labels, scores, threshold=1.0, class_prior=0.2, propensity=propensity, target=target
        )
        assert ev["auc_pu"].value == pytest.approx(reference.roc_auc_score(labels, scores))
        assert ev["f1_pu"].value == pytest.approx(reference.f1_score(labels, scores >= 1.0))
        assert ev["average_precision_pu"].value == pytest.approx(
            reference.average_precision_score(labels, scores)
        )


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
def test_uncorrected_curve_and_estimate_agree_with_confirmed_negatives(rows, scenario):
    is_positive, scores, rng = rows
    labels = (is_positive & (rng.random(4000) < 0.4)).astype(int)
    labels[~is_positive & (rng.random(4000) < 0.3)] = -1
    ev = pumonitor.evaluate(labels, scores, threshold=1.0, class_prior=0.2, scenario=scenario)
    assert ev["f1_pu"].value == pytest.approx(reference.f1_score(labels == 1, scores >= 1.0))
    curve = ev.curves["f1_by_threshold"]
    at = int(np.searchsorted(curve.x, 1.0))
    assert curve.uncorrected[at] == pytest.approx(ev["f1_pu"].value, abs=1e-12)


def test_maximum_and_its_interval_are_of_the_same_curve_when_the_prior_is_too_high(rows):
    is_positive, scores, rng = rows
    labels = is_positive & (rng.random(4000) < 0.5)
    ev = pumonitor.evaluate(labels, scores * 3, class_prior=0.5)
    for name in ("f1_max", "mcc_max", "accuracy_max"):
        assert ev[name].low < ev[name].value < ev[name].high, name


def test_ll_score_without_a_prior_has_no_upper_end():
    labels = np.repeat([1, 0], [30, 3000])
    scores = np.concatenate([np.linspace(2, 3, 30), np.linspace(-2, 2.1, 3000)])
    estimate = metrics.ll_score(labels, scores, threshold=2.0)
    assert estimate.value > 2
    assert not estimate.infeasible
    assert estimate.displayed[0] == estimate.value


def test_label_frequency_of_a_window_with_noisy_labels_is_uncertain(rows):
    is_positive, scores, rng = rows
    labels = is_positive & (rng.random(4000) < 0.4)
    ev = pumonitor.evaluate(labels, scores, class_prior=0.2, label_purity=0.85, target="window")
    for name in ("label_frequency", "unlabeled_prior"):
        assert ev[name].high - ev[name].low > 0.5 * ev[name].se > 0, name


def test_predicted_positive_rate_of_a_window_needs_no_prior(rows):
    is_positive, scores, _ = rows
    estimate = metrics.predicted_positive_rate(is_positive, scores, threshold=1.0, target="window")
    assert estimate.value == np.mean(scores >= 1.0) == estimate.low == estimate.high


def test_binning_error_of_auc_is_bounded_by_resolution_over_the_gap():
    """All labeled rows share a cell with half the others: the worst case."""
    table = ScoreTable.from_counts([0, 100], [450, 450], edges=[0.0, 0.5, 1.0])
    ev = pumonitor.evaluate_table(table, threshold=0.5, class_prior=0.4)
    gap = 1 - 0.4
    # With every labeled row at the bottom of its cell, or at the top, the AUC would be:
    q = 0.1
    for auc_pu in (0.5, 1.0):
        lift = q / 2 + (1 - q) * auc_pu
        truth = (lift - 0.5 * (1 - gap)) / gap
        assert abs(ev["auc"].value - truth) <= table.resolution / gap + 1e-12


def test_elkan_noto_refuses_noisy_labels():
    labels, scores = np.repeat([1, 0], [50, 200]), np.linspace(1, 0, 250)
    with pytest.raises(ValueError, match="elkan_noto takes every label to be right"):
        pumonitor.estimate_class_prior(labels, scores, method="elkan_noto", label_purity=0.8)


def test_an_estimated_prior_and_what_follows_from_it_move_together():
    """The unlabeled prior was estimated; deriving it back from pi must not widen it."""
    rng = np.random.default_rng(4)
    is_positive = rng.random(2000) < 0.25
    labels = is_positive & (rng.random(2000) < 0.8)
    ev = pumonitor.evaluate(labels, rng.normal(2.0 * is_positive), threshold=1.0)
    low, high = ev.class_prior.unlabeled_prior_interval
    assert ev["unlabeled_prior"].low == pytest.approx(low, abs=0.01)
    assert ev["unlabeled_prior"].high == pytest.approx(high, abs=0.01)
    # Most of the uncertainty of pi is that of how many positives the process sends.
    assert ev["class_prior"].high - ev["class_prior"].low > 3.0 * (0.25 * 0.75 / 2000) ** 0.5
    assert ev.class_prior.low == ev["class_prior"].low
