"""Label purity and its evidence."""

import numpy as np
import pytest
from scipy import optimize

from pumonitor import ScoreTable
from pumonitor.prior.labels.label_noise import estimate_label_purity
from pumonitor.prior.labels.plateau import (
    _bending,
    _log_likelihood,
    _parts,
    _Rows,
    _slopes,
    fit_clean,
    fit_noisy,
)
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples
from tests.frozen import assert_as_frozen


def drawn(label_purity, *, seed, n_labeled=500, separation=2.9, unlabeled_prior=0.1):
    rng = np.random.default_rng(seed)
    positive = np.concatenate(
        [rng.random(n_labeled) < label_purity, rng.random(10 * n_labeled) < unlabeled_prior]
    )
    labels = np.repeat([1, 0], [n_labeled, 10 * n_labeled])
    return labels, rng.normal(separation * positive)


def table(*arguments, **keywords):
    return ScoreTable.from_arrays(*drawn(*arguments, **keywords))


def test_noise_is_seen_and_its_size_covered():
    found = [estimate_label_purity(table(0.85, seed=seed)) for seed in range(30)]
    assert all(one.is_evident for one in found)
    assert np.mean([one.value for one in found]) == pytest.approx(0.85, abs=0.012)
    # 30 intervals at 95%: fewer than 25 has probability .004.
    assert sum(one.low <= 0.85 <= one.high for one in found) >= 25
    assert np.median([one.high - one.low for one in found]) < 0.12


@pytest.mark.parametrize(("runs", "most"), [(21, 2), pytest.param(90, 5, marks=pytest.mark.slow)])
def test_clean_labels_are_left_at_exactly_one(runs, most, request):
    """2% of clean runs may fire: more than 5 of 90, or 2 of 21, has probability .01."""
    evident = 0
    for seed, separation in enumerate(np.repeat([0.55, 1.2, 2.9], runs // 3)):
        found = estimate_label_purity(table(1.0, seed=seed, separation=separation, n_labeled=200))
        evident += found.is_evident
        if not found.is_evident:
            assert (found.value, found.high) == (1.0, 1.0)
            assert found.low <= found.best_fit <= 1
    assert evident <= most
    if runs == 90:
        assert_as_frozen(request, {"evident": evident / runs})


def test_positives_spread_like_anybody_look_the_same_as_mistaken_labels():
    """What no scores can tell: labels all right, a tenth of positives unlike the others."""
    rng = np.random.default_rng(4)
    positive = np.concatenate([np.ones(1000, bool), rng.random(10_000) < 0.1])
    known = positive & (rng.random(11_000) < 0.9)
    labels = np.repeat([1, 0], [1000, 10_000])
    found = estimate_label_purity(ScoreTable.from_arrays(labels, rng.normal(2.9 * known)))
    assert found.is_evident
    assert found.low < 0.9 < found.high


def test_a_known_prior_takes_the_place_of_the_estimated_one():
    data = table(0.8, seed=3, n_labeled=1000, unlabeled_prior=0.3)
    free = estimate_label_purity(data)
    pi = (1000 * 0.8 + 10_000 * 0.3) / 11_000
    single = estimate_label_purity(data, class_prior=pi)
    control = estimate_label_purity(data, class_prior=0.3, scenario="case-control")
    assert single.unlabeled_prior == pytest.approx((11_000 * pi - 1000 * single.best_fit) / 10_000)
    assert control.unlabeled_prior == 0.3
    # The floor is the same in all three: kappa = (1 - b) / (1 - a).
    floors = [(1 - one.best_fit) / (1 - one.unlabeled_prior) for one in (free, single, control)]
    assert floors == pytest.approx([floors[0]] * 3)
    assert abs(single.best_fit - 0.8) < 0.04


def test_only_the_order_of_scores_matters():
    labels, scores = drawn(0.85, seed=5)
    first, second = (
        estimate_label_purity(ScoreTable.from_arrays(labels, values)).best_fit
        for values in (scores, np.exp(scores))
    )
    assert first == pytest.approx(second, abs=1e-9)


def test_a_handful_of_bins_says_nothing():
    found = estimate_label_purity(
        ScoreTable.from_counts([10, 30, 60], [600, 300, 100], edges=[0.0, 0.3, 0.6, 1.0])
    )
    assert (found.value, found.is_evident, found.method) == (1.0, False, "too few distinct scores")
    assert found.low < found.high


def test_random_scores_are_no_evidence_of_noise():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [300, 3000])
    found = estimate_label_purity(ScoreTable.from_arrays(labels, rng.random(3300)))
    assert not found.is_evident


def test_settings_out_of_range_are_refused():
    data = table(1.0, seed=0)
    with pytest.raises(ValueError, match=r"class_prior must satisfy 0 < class_prior < 1, got 1\.2"):
        estimate_label_purity(data, class_prior=1.2)
    with pytest.raises(ValueError, match="confidence_level must satisfy"):
        estimate_label_purity(data, confidence_level=95)


def binned(label_purity, *, seed=1, **drawn_with):
    sample = TwoSamples.from_table(table(label_purity, seed=seed, **drawn_with).compress(512))
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=80)
    return centres, labeled * sample.n_labeled, unlabeled * sample.n_unlabeled


def test_slopes_of_the_ratio_by_differences():
    centres = np.linspace(-2.0, 2.0, 7)
    at = np.array([[-1.5, 0.3, 1.7, -0.2, -2.0]])
    slopes = _slopes(at, centres, *_parts(at, centres, None))
    for parameter in range(5):
        step = np.zeros(5)
        step[parameter] = 1e-6
        up, down = (_parts(at + sign * step, centres, None)[0] for sign in (1, -1))
        by_difference = (np.log(up) - np.log(down)) / 2e-6
        assert slopes[0, :, parameter] == pytest.approx(by_difference[0], abs=1e-7)


@pytest.mark.parametrize("has_floor", [True, False])
def test_bending_of_the_ratio_by_differences(has_floor):
    centres, excess = np.linspace(-2.0, 2.0, 7), np.linspace(-3.0, 5.0, 7)
    at = np.array([[-1.5, 0.3, 1.7, -0.2, -2.0]])[:, : 5 if has_floor else 4]
    floor = None if has_floor else np.array([0.1])

    def slopes(of):
        return _slopes(of, centres, *_parts(of, centres, floor))

    found = _bending(at, centres, _parts(at, centres, floor), slopes(at), excess[np.newaxis])[0]
    for parameter, row in enumerate(found):
        step = np.zeros(at.shape[1])
        step[parameter] = 1e-6
        by_difference = (slopes(at + step) - slopes(at - step))[0] / 2e-6
        assert row == pytest.approx(excess @ by_difference, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_searches_end_where_another_optimiser_finds_nothing_higher(seed):
    """Searches that stop on their way there end intervals too early."""
    centres, labeled, unlabeled = binned(1.0, seed=seed, n_labeled=60, separation=1.2)
    noisy = fit_noisy(centres, labeled, unlabeled)
    floors = np.geomspace(1e-3, 0.9, 8)
    rows = np.repeat(labeled, 8, axis=0), np.repeat(unlabeled, 8, axis=0)
    profile = fit_noisy(centres, *rows, near=noisy, floor=floors)
    precision, counts = np.array([2e-3, 0.0, 2e-3, 1.0]), _Rows.of(labeled, unlabeled)
    for parameters, floor, reached in zip(
        profile.parameters, floors, profile.likelihood, strict=True
    ):

        def fall(of, floor=floor):
            ratio, *_ = _parts(of[np.newaxis], centres, np.array([floor]))
            return -_log_likelihood(ratio, counts, 0.5 * of[np.newaxis] ** 2 @ precision)[0]

        beside = optimize.minimize(fall, parameters, method="BFGS", options={"gtol": 1e-8})
        assert reached == pytest.approx(-beside.fun, abs=1e-6)


def test_the_profile_follows_the_highest_of_several_maxima():
    """No floor's maximum lies below what the maximum of the next floor reaches there."""
    for seed in range(8):
        centres, labeled, unlabeled = binned(1.0, seed=seed, n_labeled=15, separation=0.5)
        noisy = fit_noisy(centres, labeled, unlabeled)
        floors = np.geomspace(1e-3, 0.98, 12)
        rows = np.repeat(labeled, 12, axis=0), np.repeat(unlabeled, 12, axis=0)
        profile = fit_noisy(centres, *rows, near=noisy, floor=floors)
        penalty = 0.5 * profile.parameters**2 @ np.array([2e-3, 0.0, 2e-3, 1.0])
        for shift in (1, -1):
            ratio, *_ = _parts(profile.parameters, centres, np.roll(floors, shift))
            there = _log_likelihood(ratio, _Rows.of(*rows), penalty)
            assert np.all((there - np.roll(profile.likelihood, shift))[1:-1] <= 1e-6), seed


def test_fits_are_maxima_and_the_richer_model_fits_no_worse():
    centres, labeled, unlabeled = binned(0.85)
    clean, noisy = fit_clean(centres, labeled, unlabeled), fit_noisy(centres, labeled, unlabeled)
    assert noisy.likelihood[0] > clean.likelihood[0] + 10
    at_floor = fit_noisy(centres, labeled, unlabeled, near=noisy, floor=noisy.floor)
    precision, rows = np.array([2e-3, 0.0, 2e-3, 1.0]), _Rows.of(labeled, unlabeled)
    rng = np.random.default_rng(0)
    for _ in range(200):
        moved = at_floor.parameters + rng.normal(scale=0.05, size=(1, 4))
        ratio, *_ = _parts(moved, centres, noisy.floor)
        penalty = 0.5 * moved**2 @ precision
        assert _log_likelihood(ratio, rows, penalty)[0] <= at_floor.likelihood[0]
