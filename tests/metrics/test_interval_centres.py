"""Intervals are where they should be: about the estimate, corrected for luck, narrow if known."""

import numpy as np
import pytest

import pumonitor


def rows(seed, *, separation, number=600, share=0.3, labeled=0.3):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(number) < share
    scores = rng.normal(separation * is_positive)
    return is_positive & (rng.random(number) < labeled), scores


def test_the_best_of_thresholds_that_tell_nothing_is_no_better_than_chance():
    """The plain maximum is .57 on average."""
    found = [
        pumonitor.evaluate(*rows(seed, separation=0.0), class_prior=0.3)["balanced_accuracy_max"]
        for seed in range(4)
    ]
    assert np.mean([one.value for one in found]) < 0.53
    assert all(one.low <= 0.5 for one in found)


def test_where_every_positive_is_labeled_nothing_is_unknown_of_the_window():
    labels, scores = rows(1, separation=2.0, number=200, labeled=1.0)
    window, process = (
        pumonitor.evaluate(labels, scores, class_prior=float(labels.mean()), target=target)["auc"]
        for target in ("window", "process")
    )
    assert (window.low, window.high) == pytest.approx((window.value, window.value), abs=1e-9)
    assert process.se > 0.01


@pytest.mark.parametrize("name", ["recall", "aul", "auc", "f1", "recall_at_k", "f1_max"])
def test_that_every_positive_may_be_labeled_is_no_certainty_about_the_window(name):
    """Twice as many positives would leave half of them unknown: each draw has its own share."""
    labels, scores = rows(1, separation=1.0, number=200, labeled=1.0)
    share = float(labels.mean())
    found = {
        high: pumonitor.evaluate(
            labels,
            scores,
            threshold=0.5,
            top_k=50,
            class_prior=(share, 0.99 * share, high * share),
            target="window",
        )[name]
        for high in (1.5, 2.5)
    }
    assert 0.005 < found[1.5].se_sampling < found[2.5].se_sampling


def test_the_difference_of_two_models_allows_for_more_positives_than_are_labeled():
    labels, scores = rows(1, separation=1.0, number=200, labeled=1.0)
    share = float(labels.mean())
    models = {"a": scores, "b": scores + np.random.default_rng(0).normal(size=200)}
    for name in ("recall", "aul"):
        known, uncertain = (
            pumonitor.compare(
                labels, models, threshold=0.5, class_prior=prior, target="window"
            ).difference("a", "b", name)
            for prior in (share, (share, 0.99 * share, 2 * share))
        )
        assert known.se_sampling < 1e-9
        assert uncertain.se_sampling > 0.005


def test_the_interval_among_the_highest_is_about_that_at_their_threshold():
    labels, scores = rows(2, separation=1.5)
    threshold = np.sort(scores)[-100]
    ev = pumonitor.evaluate(labels, scores, class_prior=0.3, threshold=threshold, top_k=100)
    for at_k, at in (("recall_at_k", "recall"), ("precision_at_k", "precision")):
        assert ev[at_k].value == pytest.approx(ev[at].value)
        # A threshold that goes with the rows moves less than one that stays.
        assert ev[at].low - 0.02 < ev[at_k].low < ev[at_k].high < ev[at].high + 0.02


def test_uncorrected_intervals_of_two_samples_are_about_the_estimate():
    rng = np.random.default_rng(3)
    labels = np.repeat([1, 0], [300, 3000])
    scores = rng.normal(1.5 * ((labels == 1) | (rng.random(3300) < 0.2)))
    ev = pumonitor.evaluate(labels, scores, class_prior=0.2, threshold=1.0, scenario="case-control")
    for name in ("accuracy_pu", "f1_pu", "balanced_accuracy_pu", "mcc_pu"):
        middle = 0.5 * (ev[name].low + ev[name].high)
        assert middle == pytest.approx(ev[name].value, abs=0.1 * (ev[name].high - ev[name].low))


def test_a_curve_of_less_confidence_has_a_narrower_band():
    some = rows(4, separation=1.5)
    narrow, wide = (
        pumonitor.evaluate(*some, class_prior=0.3, confidence_level=level).curves["roc"]
        for level in (0.5, 0.95)
    )
    assert (narrow.low <= narrow.y).all()
    assert (narrow.y <= narrow.high).all()
    # Quantiles of a normal distribution are .67 and 1.96 of its deviations from the middle.
    inside = slice(20, -20)
    ratio = np.mean((wide.high - wide.low)[inside]) / np.mean((narrow.high - narrow.low)[inside])
    assert 2 < ratio < 4


@pytest.mark.parametrize("direction", [1, -1])
def test_where_all_labeled_rows_are_on_one_side_others_may_not_be(direction):
    """The end stands for 1.19 / n of the positives, at random, which n rows do not show."""
    labels = np.repeat([1, 0], [20, 200])
    scores = direction * np.where(labels == 1, 1.0, -np.linspace(0.1, 1.0, 220))
    found = pumonitor.evaluate(labels, scores, class_prior=0.2, scenario="case-control")["auc_pu"]
    assert found.value == (1.0 if direction == 1 else 0.0)
    end = found.low if direction == 1 else 1 - found.high
    assert end == pytest.approx(1 - 0.5 * 1.19 / 20, abs=0.002)
