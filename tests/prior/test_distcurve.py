"""DistCurve: the curve by hand and against drawing row by row, the trained regressor, errors."""

from importlib import resources

import numpy as np
import pytest

import pumonitor
from benchmarks.prior.train_distcurve import largest_share, simulated
from pumonitor import ScoreTable
from pumonitor.prior import TwoSamples
from pumonitor.prior.estimators.distcurve import (
    BINS,
    CURVE_POINTS,
    distance_curve,
    distcurve,
    regressor_inputs,
)

ENDS = np.linspace(0.0, 1.0, CURVE_POINTS + 1) ** 2


def rows(unlabeled_prior, *, n_labeled=1000, n_unlabeled=10_000, separation=2.0, seed=0):
    rng = np.random.default_rng([seed, int(1000 * unlabeled_prior)])
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < unlabeled_prior])
    return np.repeat([1, 0], [n_labeled, n_unlabeled]), rng.normal(separation * positive)


def samples(*arguments, **keywords):
    table = ScoreTable.from_arrays(*rows(*arguments, **keywords))
    return TwoSamples.from_table(table.compress(512))


def test_curve_by_hand():
    """Five bins; positives in the middle one. It lasts 0.2, its neighbours, half each, 0.4 more."""
    labeled = np.array([[0.0, 0.0, 1.0, 0.0, 0.0]])
    unlabeled = np.full((1, 5), 0.2)
    curve = distance_curve(labeled, unlabeled, np.arange(0.0, 10.0, 2.0))[0]
    whole = [(ENDS[1:] <= 0.2), (ENDS[:-1] >= 0.2) & (ENDS[1:] <= 0.6), ENDS[:-1] >= 0.6]
    for distance, inside in zip([0.0, 2.0, 4.0], whole, strict=True):
        assert curve[inside] == pytest.approx(distance, abs=1e-9)
    # 0.2 rows at no distance, 0.4 at 2, 0.4 at 4.
    assert curve @ np.diff(ENDS) == pytest.approx(2.4)


def test_curve_is_what_drawing_positives_one_by_one_gives():
    rng = np.random.default_rng(1)
    bins, total = 9, 60_000
    labeled, unlabeled = rng.dirichlet(np.ones(bins), size=2)
    left = np.round(unlabeled * total).astype(int)
    unlabeled = left / left.sum()
    place, distances = np.arange(bins), []
    for drawn in rng.choice(bins, size=left.sum(), p=labeled):
        away = np.where(left > 0, np.abs(place - drawn) + 0.01 * rng.random(bins), np.inf)
        nearest = int(away.argmin())
        left[nearest] -= 1
        distances.append(abs(nearest - drawn))
    taken = np.linspace(0.0, 1.0, len(distances) + 1)
    travelled = np.interp(ENDS, taken, np.concatenate([[0.0], np.cumsum(distances)]) / total)
    expected = distance_curve(labeled[np.newaxis], unlabeled[np.newaxis], place.astype(float))[0]
    ours = np.concatenate([[0.0], np.cumsum(expected * np.diff(ENDS))])
    assert ours == pytest.approx(travelled, abs=0.012)
    assert travelled[-1] > 0.5


def test_curve_never_falls_and_first_rises_where_the_scarcest_bin_is_used_up():
    rng = np.random.default_rng(2)
    labeled, unlabeled = rng.dirichlet(np.ones(30), size=(2, 50))
    curve = distance_curve(labeled, unlabeled, np.arange(30.0))
    assert np.diff(curve, axis=1).min() > -1e-9
    scarcest = (unlabeled / labeled).min(axis=1)
    first = (curve > 1e-12).argmax(axis=1)
    assert (ENDS[first] <= scarcest + 1e-12).all()
    assert (ENDS[first + 1] >= scarcest - 1e-12).all()


def test_equal_samples_need_not_travel():
    share = np.random.default_rng(3).dirichlet(np.ones(20), size=4)
    assert distance_curve(share, share, np.arange(20.0)) == pytest.approx(0.0, abs=1e-9)


def test_many_curves_at_once_are_each_alone():
    rng = np.random.default_rng(4)
    labeled, unlabeled = rng.dirichlet(np.ones(15), size=(2, 6))
    many = distance_curve(labeled, unlabeled, np.arange(15.0))
    alone = distance_curve(labeled[4:5], unlabeled[4:5], np.arange(15.0))
    assert many[4] == pytest.approx(alone[0], abs=1e-12)


@pytest.mark.parametrize("prior", [0.05, 0.1, 0.3, 0.5])
def test_two_normals_two_apart(prior):
    """The published network is .055 off on these, on average."""
    found = [distcurve(samples(prior, seed=seed))[0] for seed in range(5)]
    assert np.abs(np.array(found) - prior).mean() < 0.035


def test_more_positives_more_estimate():
    found = [distcurve(samples(prior, separation=3.0))[0] for prior in (0.0, 0.02, 0.2, 0.6, 0.95)]
    assert np.all(np.diff(found) > 0.01)


def test_all_unlabeled_are_positives():
    assert distcurve(samples(1.0))[0] > 0.93


def test_equal_data_give_equal_estimates_and_intervals_that_hold_them():
    data = rows(0.2, n_labeled=200, n_unlabeled=2000)
    first, again = (
        pumonitor.estimate_class_prior(*data, method="distcurve", scenario="case-control")
        for _ in range(2)
    )
    assert first == again
    assert 0 < first.low <= first.value <= first.high < 1


@pytest.mark.parametrize("counts", [([2, 0], [1, 1]), ([1, 1], [1, 1]), ([0, 3], [10**9, 0])])
def test_next_to_nothing_is_still_a_share(counts):
    table = ScoreTable.from_counts(*counts, edges=[0.0, 0.5, 1.0])
    found = distcurve(TwoSamples.from_table(table))
    assert found.shape == (1,)
    assert 0 <= found[0] <= 1


def test_the_network_is_a_small_file_of_plain_numbers_that_says_how_it_came_about():
    where = resources.files("pumonitor.prior") / "data" / "distcurve.npz"
    assert len(where.read_bytes()) < 100_000
    with where.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        recipe = str(stored["recipe"])
        numbers = {name: stored[name] for name in stored.files if name != "recipe"}
    assert "python -m benchmarks.prior.train_distcurve" in recipe
    assert "Seed " in recipe
    assert len(numbers["mean"]) == CURVE_POINTS + 2
    assert all(np.isfinite(values).all() for values in numbers.values())


def test_training_reads_what_estimating_reads():
    """The training script's inputs for a pair are those of the estimator for the same samples."""
    inputs, targets = simulated(3, np.random.default_rng(5))
    assert inputs.shape == (3, regressor_inputs(samples(0.3)).shape[1])
    assert ((targets >= 0) & (targets <= 1)).all()
    assert BINS > 0


def test_the_regressor_is_told_both_numbers_of_rows_labeled_first():
    inputs = regressor_inputs(samples(0.3, n_labeled=50, n_unlabeled=400))[0]
    assert np.exp(inputs[-2:]) == pytest.approx([50, 400])
    # Beyond what it was trained on it reads the nearest.
    inputs = regressor_inputs(samples(0.3, n_labeled=5, n_unlabeled=200_000))[0]
    assert np.exp(inputs[-2:]) == pytest.approx([20, 100_000])


def test_largest_share_by_hand():
    """The purest positives have 0.1 negatives per positive: a tenth of the negatives is alike."""
    positive, negative = np.array([0.5, 0.5, 0.0]), np.array([0.05, 0.35, 0.6])
    assert largest_share(0.2, positive, negative) == pytest.approx(0.2 + 0.8 * 0.1)
