"""Prior and purity together: the algebra by hand, both ways round, accuracy and coverage."""

import numpy as np
import pytest
from scipy import special

from pumonitor import ScoreTable
from pumonitor.errors import NoBoundWarning
from pumonitor.prior import TwoSamples
from pumonitor.prior.auto.auto import auto
from pumonitor.prior.intervals.interval import PriorWithInterval
from pumonitor.prior.labels import noisy_labels
from pumonitor.prior.labels.noisy_labels import estimate_noisy_labels


def rows(unlabeled_prior, label_purity, *, n_labeled=1000, n_unlabeled=10_000, seed=0, distance=3):
    rng = np.random.default_rng(seed)
    positive = np.concatenate(
        [rng.random(n_labeled) < label_purity, rng.random(n_unlabeled) < unlabeled_prior]
    )
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    return labels, rng.normal(distance * positive)


def estimate(*arguments, **options):
    return estimate_noisy_labels(ScoreTable.from_arrays(*rows(*arguments, **options)))


def auto_gives(monkeypatch, positives, mistakes):
    """`auto` is asked for the labeled-like share first, then for the unlabeled-like one."""
    answers = iter([positives, mistakes])

    def answer(sample, *, confidence_level):
        value, low, high = next(answers)
        return PriorWithInterval(value=value, low=low, high=high, details={})

    monkeypatch.setattr(noisy_labels, "auto", answer)


@pytest.mark.parametrize(("prior", "purity"), [(0.2, 0.75), (0.05, 0.95), (0.5, 1.0)])
def test_exact_shares_of_both_mixtures_give_exact_prior_and_purity(monkeypatch, prior, purity):
    # F = (a / b) G + rest without positives; G = (1 - b) / (1 - a) F + rest without negatives.
    positives, mistakes = prior / purity, (1 - purity) / (1 - prior)
    auto_gives(monkeypatch, (positives, 0.0, 1.0), (mistakes, 0.0, 0.9))
    found = estimate(0.3, 0.9, n_labeled=50, n_unlabeled=200)
    assert found.unlabeled_prior == pytest.approx(prior, rel=1e-12)
    assert found.label_purity == pytest.approx(purity, rel=1e-12)
    assert (found.labeled_like, found.unlabeled_like) == (positives, mistakes)


def test_intervals_begin_at_the_worst_corner_and_end_at_labels_all_right(monkeypatch):
    auto_gives(monkeypatch, (0.3, 0.2, 0.5), (0.2, 0.1, 0.4))
    found = estimate(0.3, 0.9, n_labeled=50, n_unlabeled=200)
    # (1 - .4) / (1 - .2 (.4)) and .2 times that; with no mistakes the prior is A itself.
    assert found.label_purity_interval == pytest.approx((0.6 / 0.92, 1.0))
    assert found.unlabeled_prior_interval == pytest.approx((0.12 / 0.92, 0.5))
    grid = [
        (1 - mistakes) / (1 - positives * mistakes)
        for positives in np.linspace(0.2, 0.5, 7)
        for mistakes in np.linspace(0.0, 0.4, 7)
    ]
    assert found.label_purity_interval == pytest.approx((min(grid), max(grid)))


def test_shares_of_one_leave_no_nan(monkeypatch):
    auto_gives(monkeypatch, (1.0, 0.5, 1.0), (1.0, 0.5, 0.9))
    found = estimate(0.3, 0.9, n_labeled=50, n_unlabeled=200)
    assert (found.unlabeled_prior, found.label_purity) == (1.0, 1.0)
    assert found.label_purity_interval == pytest.approx((0.1 / 0.55, 1.0))
    assert found.unlabeled_prior_interval == pytest.approx((0.05 / 0.55, 1.0))


@pytest.mark.parametrize("seed", range(3))
def test_of_samples_alike_nothing_is_known_and_that_is_said(seed):
    with pytest.warns(NoBoundWarning, match="labeled and unlabeled rows may all be alike"):
        found = estimate(0.2, 0.2, n_labeled=500, n_unlabeled=5000, seed=seed)
    assert found.label_purity_interval[0] < 0.05
    assert found.label_purity_interval[1] == 1
    assert found.unlabeled_prior_interval[0] < 0.05
    assert found.unlabeled_prior_interval[1] > 0.9


@pytest.mark.parametrize("chances", [False, True])
def test_to_change_the_samples_places_twice_changes_nothing(chances):
    labels, scores = rows(0.2, 0.8)
    table = ScoreTable.from_arrays(labels, special.expit(scores) if chances else scores)
    sample = TwoSamples.from_table(table)
    again = noisy_labels._reversed(noisy_labels._reversed(sample))
    assert np.array_equal(again.labeled, sample.labeled)
    assert (again.n_labeled, again.n_unlabeled) == (1000, 10_000)
    assert (np.diff(again.scores) > 0).all()
    found, expected = (auto(one, confidence_level=0.9) for one in (again, sample))
    assert found.value == pytest.approx(expected.value, abs=1e-6)
    assert found.low == pytest.approx(expected.low, abs=1e-6)


def test_mistakes_are_what_auto_finds_with_labels_and_scores_turned_round():
    labels, scores = rows(0.2, 0.8)
    turned = TwoSamples.from_table(ScoreTable.from_arrays(1 - labels, -scores))
    found = estimate_noisy_labels(ScoreTable.from_arrays(labels, scores))
    expected = auto(turned, confidence_level=0.95).value
    # The bins of the fit of two normals lie a hair's breadth elsewhere.
    assert found.unlabeled_like == pytest.approx(expected, abs=1e-3)
    assert found.unlabeled_like == pytest.approx(0.2 / 0.8, abs=0.05)


def test_chances_give_what_their_logits_give():
    labels, scores = rows(0.2, 0.8)
    plain = estimate_noisy_labels(ScoreTable.from_arrays(labels, scores))
    chances = estimate_noisy_labels(ScoreTable.from_arrays(labels, special.expit(scores)))
    assert chances.label_purity == pytest.approx(plain.label_purity, abs=1e-6)
    assert chances.unlabeled_prior == pytest.approx(plain.unlabeled_prior, abs=1e-6)


@pytest.mark.parametrize(("prior", "purity"), [(0.05, 0.75), (0.2, 0.9), (0.5, 0.9), (0.2, 1.0)])
def test_classes_that_separate_give_both(prior, purity):
    found = [estimate(prior, purity, seed=seed) for seed in range(4)]
    assert np.mean([one.label_purity for one in found]) == pytest.approx(purity, abs=0.03)
    assert np.mean([one.unlabeled_prior for one in found]) == pytest.approx(prior, abs=0.02)


def test_intervals_hold_both_and_widen_with_the_level():
    held = 0
    for seed in range(20):
        found = estimate(0.2, 0.85, n_labeled=300, n_unlabeled=3000, seed=seed, distance=2)
        low, high = found.label_purity_interval
        assert 0 <= low <= found.label_purity <= high <= 1
        lowest, highest = found.unlabeled_prior_interval
        assert 0 <= lowest <= found.unlabeled_prior <= highest <= 1
        held += (low <= 0.85 <= high) and (lowest <= 0.2 <= highest)
    # Were both at once held in .95 only, 15 or fewer would have chance .003.
    assert held >= 16
    table = ScoreTable.from_arrays(*rows(0.2, 0.85))
    low, high = estimate_noisy_labels(table, confidence_level=0.5).label_purity_interval
    lower, higher = estimate_noisy_labels(table, confidence_level=0.95).label_purity_interval
    assert lower < low < high == higher == 1


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_that_is_none_is_named(level):
    table = ScoreTable.from_arrays([1, 1, 0], [0.2, 0.1, 0.3])
    with pytest.raises(ValueError, match=f"0 < confidence_level < 1, got {level:g}"):
        estimate_noisy_labels(table, confidence_level=level)
