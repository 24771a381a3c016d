"""KM1, KM2, TIcE and penL1 alike: what they find in scores and features, and what they refuse."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import pumonitor
from pumonitor import ScoreTable
from pumonitor.errors import InputError, RowsLeftOutWarning
from pumonitor.prior import METHODS, TwoSamples
from pumonitor.prior.samples.feature_samples import FeatureSamples
from tests.prior.feature_rows import as_samples, one_informative

FEATURE_METHODS = sorted(name for name, method in METHODS.items() if method.reads == "features")


def synthetic(unlabeled_prior, seed):
    rng = np.random.default_rng([seed, int(1000 * unlabeled_prior)])
    labeled = rng.normal(1.0, 1.0, 1000)
    positive = rng.random(10_000) < unlabeled_prior
    unlabeled = np.where(positive, rng.normal(1, 1, 10_000), rng.normal(-1, 1, 10_000))
    return np.repeat([1, 0], [1000, 10_000]), np.concatenate([labeled, unlabeled])


def test_four_methods_read_features():
    assert FEATURE_METHODS == ["km1", "km2", "pen_l1", "tice"]


# -- from scores ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "bound"), [("km1", 0.029), ("km2", 0.042), ("tice", 0.046), ("pen_l1", 0.044)]
)
def test_mean_error_on_two_normals(method, bound):
    """Ten seeds gave .019, .032, .036 and .034; the bounds are those plus .01."""
    errors = [
        METHODS[method](as_samples(*synthetic(prior, seed)))[0] - prior
        for prior in (0.05, 0.1, 0.3, 0.5)
        for seed in range(3)
    ]
    assert np.mean(np.abs(errors)) < bound


@pytest.mark.parametrize("method", FEATURE_METHODS)
@pytest.mark.parametrize("prior", [0.05, 0.2, 0.5])
def test_well_separated_classes_give_the_prior(method, prior):
    labels, scores, _ = one_informative(
        prior, n_labeled=3000, n_unlabeled=30_000, columns=1, separation=5.0, seed=1
    )
    assert METHODS[method](as_samples(labels, scores))[0] == pytest.approx(prior, abs=0.03)


@pytest.mark.parametrize("method", FEATURE_METHODS)
def test_only_the_order_of_scores_matters(method):
    labels, scores, _ = one_informative(0.3, n_labeled=300, n_unlabeled=2000, columns=1, seed=3)
    first, second = (
        METHODS[method](as_samples(labels, values))[0] for values in (scores, np.exp(scores))
    )
    assert first == pytest.approx(second, abs=1e-9)


@pytest.mark.parametrize("method", FEATURE_METHODS)
@pytest.mark.parametrize(("runs", "missed"), [(3, 0), pytest.param(12, 2, marks=pytest.mark.slow)])
def test_the_interval_from_scores_holds_the_prior(method, runs, missed):
    held = 0
    for seed in range(runs):
        labels, scores, _ = one_informative(
            0.15, n_labeled=200, n_unlabeled=4000, columns=1, seed=100 + seed
        )
        found = pumonitor.estimate_class_prior(
            labels, scores, method=method, scenario="case-control"
        )
        assert 0 < found.low <= found.value <= found.high < 1
        held += found.low <= 0.15 <= found.high
    assert held >= runs - missed


# -- from features ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "error"), [("km1", 0.12), ("km2", 0.12), ("tice", 0.1), ("pen_l1", 0.2)]
)
def test_one_informative_feature_of_five(method, error):
    labels, scores, features = one_informative(
        0.3, n_labeled=400, n_unlabeled=400, columns=5, separation=3.0, seed=12
    )
    # The scores say nothing, so that what is found can only come from the features.
    scores = np.random.default_rng(0).permutation(scores)
    found = METHODS[method](as_samples(labels, scores, features))[0]
    assert found == pytest.approx(0.3, abs=error)


def test_the_interval_from_features_holds_the_prior():
    held = 0
    for seed in range(6):
        data = one_informative(0.2, n_labeled=200, n_unlabeled=1000, columns=5, seed=200 + seed)
        labels, scores, features = data
        found = pumonitor.estimate_class_prior(
            labels, scores, features=features, method="pen_l1", scenario="case-control"
        )
        assert 0 < found.low <= found.value <= found.high < 1
        held += found.low <= 0.2 <= found.high
        assert found.diagnostics["bias"] > 0.02
    assert held >= 5


def test_more_rows_than_a_method_takes_are_sampled_with_a_warning():
    labels, scores, features = one_informative(
        0.3, n_labeled=150, n_unlabeled=2500, columns=1, seed=13
    )
    said = (
        "pen_l1 takes at most 2000 labeled and as many unlabeled rows from features: "
        "it read 150 of 150 labeled and 2000 of 2500 unlabeled rows"
    )
    found = []
    for _ in range(2):
        with pytest.warns(RowsLeftOutWarning, match=said) as caught:
            found.append(
                pumonitor.estimate_class_prior(labels, scores, features=features, method="pen_l1")
            )
        assert caught[0].filename == __file__
    assert found[0] == found[1]


def test_few_enough_rows_do_not_warn():
    labels, scores, features = one_informative(
        0.3, n_labeled=50, n_unlabeled=200, columns=1, seed=14
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pumonitor.estimate_class_prior(labels, scores, features=features, method="pen_l1")


def test_rows_are_drawn_by_their_weight():
    labels = np.repeat([1, 0], [500, 500])
    features = np.tile(np.arange(500.0), 2)
    weight = np.tile(np.where(np.arange(500) < 100, 4.0, 1.0), 2)
    every = FeatureSamples.from_arrays(features, labels, features, sample_weight=weight)
    drawn = every.at_most(200)
    assert drawn.n_labeled == pytest.approx(200)
    assert drawn.labeled.sum() == pytest.approx(1)
    # Rows of weight 4 are half of the weight, and half of what is drawn.
    assert drawn.labeled[0] @ (drawn.scores < 100) == pytest.approx(0.5, abs=0.011)
    assert drawn.unlabeled[0] @ (drawn.scores < 100) == pytest.approx(0.5, abs=0.011)


def test_features_are_standardised_and_a_constant_column_says_nothing():
    labels, scores, features = one_informative(
        0.3, n_labeled=50, n_unlabeled=150, columns=2, seed=15
    )
    features = np.column_stack([features, np.full(200, 7.0)])
    data = FeatureSamples.from_arrays(features, labels, scores)
    even = 0.5 * (data.labeled[0] + data.unlabeled[0])
    assert even @ data.points == pytest.approx(0, abs=1e-12)
    assert even @ data.points**2 == pytest.approx([1, 1, 0], abs=1e-12)


def test_propensities_put_the_labeled_rows_right():
    """Positives with a low first feature are found a fifth as often."""
    rng = np.random.default_rng(16)
    positive = rng.random(2900) < 0.3
    features = rng.normal(size=(2900, 2))
    features[:, 0] += 4 * positive
    propensity = np.where(features[:, 0] > 4, 0.8, 0.16)
    labels = (positive & (rng.random(2900) < propensity)).astype(int)
    naive, right = (
        pumonitor.estimate_class_prior(
            labels, features[:, 0], features=features, method="tice", propensity=known
        )
        for known in (None, propensity)
    )
    assert abs(right.value - 0.3) < abs(naive.value - 0.3)
    assert right.low < 0.3 < right.high


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda x: np.where(np.arange(6)[:, None] == [[9, 2]], np.nan, x),
            r"features has missing or infinite values in 1 of 2 columns: column 1 \(1 of 5 rows, "
            r"first at row 2\); fill them in",
        ),
        (
            lambda x: np.where(np.arange(6)[:, None] < [[2, 0]], np.inf, x),
            r"column 0 \(2 of 5 rows, first at row 0\)",
        ),
        (lambda x: x[:4], "features must have one row per label: got 4 rows for 6 labels"),
        (lambda x: x.astype(str) + "a", "features must be a matrix of numbers: encode"),
        (lambda x: x[:, :0], r"features must be of shape \(rows, columns\), got \(6, 0\)"),
        (lambda x: x[:, :, None], r"features must be of shape \(rows, columns\), got \(6, 2, 1\)"),
    ],
)
def test_unusable_features_are_refused(change, said):
    labels = [1, 1, 0, 0, 0, -1]
    features = change(np.arange(12.0).reshape(6, 2))
    with pytest.raises(InputError, match=said):
        pumonitor.estimate_class_prior(
            labels, [0.9, 0.8, 0.5, 0.6, 0.1, 0.2], features=features, method="km1"
        )


def test_confirmed_negatives_may_lack_features():
    features = np.array([[1.0], [2.0], [0.0], [3.0], [np.nan]])
    found = FeatureSamples.from_arrays(features, [1, 1, 0, 0, -1], [0.9, 0.8, 0.1, 0.7, 0.2])
    assert found.points.shape == (4, 1)


def test_columns_of_a_frame_are_named():
    import pandas as pd

    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "income": [1.0, None, 2.0, 3.0]})
    with pytest.raises(InputError, match=r"column income \(1 of 4 rows, first at row 1\)"):
        pumonitor.estimate_class_prior(
            [1, 1, 0, 0], [0.9, 0.8, 0.1, 0.7], features=frame, method="tice"
        )


@pytest.mark.parametrize("method", ["auto", "bbe", "propensity"])
def test_features_for_a_method_that_reads_none_are_refused(method):
    with pytest.raises(
        ValueError, match=f"method='{method}' does not read features: leave features out, or use"
    ):
        pumonitor.estimate_class_prior(
            [1, 1, 0, 0], [0.9, 0.8, 0.1, 0.7], features=[[1], [2], [3], [4]], method=method
        )


@pytest.mark.parametrize("method", FEATURE_METHODS)
@pytest.mark.filterwarnings("ignore::pumonitor.errors.NoBoundWarning")
def test_few_and_uneven_rows_give_a_share_all_the_same(method):
    rng = np.random.default_rng(17)
    for n_labeled, n_unlabeled in ((2, 2), (2, 40), (30, 3), (5, 5)):
        labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
        scores = rng.normal(labels.astype(float))
        weight = 10.0 ** rng.integers(-4, 4, len(labels))
        features = np.column_stack([np.round(scores), np.ones(len(labels))])
        table = ScoreTable.from_arrays(labels, scores, sample_weight=weight)
        sample = TwoSamples.from_table(table)
        of_rows = FeatureSamples.from_arrays(features, labels, scores, sample_weight=weight)
        for part in (sample, replace(sample, features=of_rows)):
            [found] = METHODS[method](part)
            assert 0 <= found <= 1
