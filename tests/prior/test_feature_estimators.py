"""KM1, KM2, TIcE and penL1, from scores and from features."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

import pumonitor
from pumonitor import ScoreTable
from pumonitor.errors import InputError, NoBoundWarning, RowsLeftOutWarning
from pumonitor.prior import METHODS, TwoSamples
from pumonitor.prior.estimators.published.kernel_mean import DistanceCurve, nearest_mixture
from pumonitor.prior.estimators.published.tice import label_frequency_bounds
from pumonitor.prior.samples.feature_samples import FeatureSamples

FEATURE_METHODS = sorted(name for name, method in METHODS.items() if method.reads == "features")


def one_informative(unlabeled_prior, *, n_labeled, n_unlabeled, columns, seed, separation=2.0):
    """Labels, the first column as scores, and columns of which only the first tells anything."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < unlabeled_prior])
    features = rng.normal(size=(len(positive), columns))
    features[:, 0] += separation * positive
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    return labels, features[:, 0], features


def synthetic(unlabeled_prior, seed):
    rng = np.random.default_rng([seed, int(1000 * unlabeled_prior)])
    labeled = rng.normal(1.0, 1.0, 1000)
    positive = rng.random(10_000) < unlabeled_prior
    unlabeled = np.where(positive, rng.normal(1, 1, 10_000), rng.normal(-1, 1, 10_000))
    return np.repeat([1, 0], [1000, 10_000]), np.concatenate([labeled, unlabeled])


def as_samples(labels, scores, features=None):
    sample = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores).compress(512))
    if features is None:
        return sample
    return replace(sample, features=FeatureSamples.from_arrays(features, labels, scores))


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
def test_the_interval_from_scores_holds_the_prior(method):
    held = 0
    for seed in range(12):
        labels, scores, _ = one_informative(
            0.15, n_labeled=200, n_unlabeled=4000, columns=1, seed=100 + seed
        )
        found = pumonitor.estimate_class_prior(
            labels, scores, method=method, scenario="case-control"
        )
        assert 0 < found.low <= found.value <= found.high < 1
        held += found.low <= 0.15 <= found.high
    assert held >= 10


# -- KM1 and KM2 ------------------------------------------------------------------------------


def by_general_solver(points, target):
    """The same nearest point by sequential quadratic programming over the weights."""
    found = optimize.minimize(
        lambda weight: np.sum((weight @ points - target) ** 2),
        np.full(len(points), 1 / len(points)),
        jac=lambda weight: 2 * points @ (weight @ points - target),
        bounds=[(0, 1)] * len(points),
        constraints={"type": "eq", "fun": lambda weight: weight.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x


@pytest.mark.parametrize("reach", [0.1, 1.0, 3.0])
def test_nearest_mixture_is_what_a_general_solver_finds(reach):
    rng = np.random.default_rng(4)
    for _ in range(5):
        points = rng.normal(size=(9, 4))
        target = reach * rng.normal(size=4)
        weight = nearest_mixture(points, target)
        assert weight.min() >= 0
        assert weight.sum() == pytest.approx(1)
        expected = by_general_solver(points, target) @ points
        assert weight @ points == pytest.approx(expected, abs=1e-5)


def test_the_slope_is_the_derivative_of_the_distance_and_rises():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(20, 3))
    weight = rng.dirichlet(np.ones(20), size=2)
    curve = DistanceCurve(points=points, component=weight[0] @ points, mixture=weight[1] @ points)
    slopes = []
    for stretch in (1.0, 5.0, 10.0, 20.0, 40.0):
        _, slope = curve.at(stretch)
        before, after = curve.at(stretch - 1e-4)[0], curve.at(stretch + 1e-4)[0]
        slopes.append(slope)
        if before > 0:
            assert slope == pytest.approx((after - before) / 2e-4, rel=1e-3)
    assert slopes == sorted(slopes)
    assert 0 < slopes[-1] <= curve.steepest + 1e-12


@pytest.mark.parametrize(("method", "prior"), [("km1", 0.3), ("km2", 0.3), ("km2", 0.05)])
def test_kernel_means_by_brute_force(method, prior):
    """Full kernel matrix, general solver: the slope passes the threshold at the estimate."""
    labels, scores, features = one_informative(
        prior, n_labeled=10, n_unlabeled=12, columns=2, separation=3.0, seed=6
    )
    weight = np.where(labels == 1, 0.5 / 10, 0.5 / 12)
    centred = features - weight @ features
    centred /= np.sqrt(weight @ centred**2)
    distances = np.sum((centred[:, np.newaxis] - centred) ** 2, axis=2)
    order = np.argsort(distances, axis=None)
    reached = np.cumsum(np.outer(weight, weight).ravel()[order])
    median = np.sqrt(distances.ravel()[order][np.searchsorted(reached, 0.5)])
    difference = np.where(labels == 1, -1 / 10, 1 / 12)
    kernels = [
        np.exp(-distances / (2 * (factor * median) ** 2))
        for factor in 10.0 ** np.array([-1, -0.5, 0, 0.5, 1])
    ]
    kernel = max(kernels, key=lambda k: difference @ k @ difference)
    strength, directions = np.linalg.eigh(kernel)
    root = directions * np.sqrt(np.maximum(strength, 0))

    def distance(stretch):
        target = (
            np.where(labels == 1, (1 - stretch) / 10, 0) + np.where(labels == 0, stretch / 12, 0)
        ) @ root
        return np.linalg.norm(target - by_general_solver(root, target) @ root)

    greatest = np.sqrt(difference @ kernel @ difference)
    second = 0.8 * distance(1.05) / 0.05 + 0.2 * greatest
    first = 1 / np.sqrt(10)
    threshold = {"km1": first if first <= 0.9 * greatest else second, "km2": second}[method]
    found = METHODS[method](as_samples(labels, scores, features))[0]

    def slope(share):
        stretch = 1 / (1 - share)
        return (distance(stretch + 1e-3) - distance(stretch - 1e-3)) / 2e-3

    assert slope(found - 0.01) < threshold < slope(found + 0.01)


def test_kernel_means_do_not_depend_on_units():
    labels, scores, features = one_informative(0.3, n_labeled=60, n_unlabeled=80, columns=3, seed=7)
    for method in ("km1", "km2"):
        first, second = (
            METHODS[method](as_samples(labels, scores, values))[0]
            for values in (features, 5 - features * [1.0, 1e-8, 1e200])
        )
        assert first == pytest.approx(second, abs=2e-3)


def test_a_row_of_weight_three_is_three_rows():
    labels, scores, features = one_informative(0.3, n_labeled=40, n_unlabeled=60, columns=2, seed=8)
    weight = np.where(np.arange(100) % 5 == 0, 3, 1)
    weighted = FeatureSamples.from_arrays(features, labels, scores, sample_weight=weight)
    repeated = [np.repeat(part, weight, axis=0) for part in (labels, scores, features)]
    sample = as_samples(labels, scores)
    one, other = (
        METHODS["km2"](replace(sample, features=part))[0]
        for part in (weighted, as_samples(*repeated).features)
    )
    assert one == pytest.approx(other, abs=2e-3)


# -- TIcE -------------------------------------------------------------------------------------


def test_label_frequency_bound_by_hand():
    """Four quarters, 40 of 100 rows labeled in the last.

    With c = .5 and d = .2 its bound is .4 - sqrt(.5 .5 .8 / (.2 100)) = .3; the third's is
    .5 - sqrt(1 / 16) = .25 and does not count, 16 rows being fewer than 10 / .5.
    """
    places = np.array([[0], [16], [32], [48]])
    total = np.array([[400.0, 300.0, 16.0, 100.0]])
    labeled = np.array([[0.0, 0.0, 8.0, 40.0]])
    tree = (labeled / 4, total / 4)
    [bound] = label_frequency_bounds(
        places, tree=tree, others=(labeled, total), frequency=np.array([0.5])
    )
    assert bound == pytest.approx(0.3)


def test_the_tree_splits_by_the_feature_that_separates_and_then_within():
    """Labels are in one of 16 cells of two features; neither alone holds a pure quarter."""
    first, second = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    places = 16 * np.stack([first.ravel(), second.ravel()], axis=1)
    total = np.full((1, 16), 400.0)
    labeled = np.where((places == [48, 16]).all(axis=1), 200.0, 0.0)[np.newaxis]
    [bound] = label_frequency_bounds(
        places, tree=(labeled / 4, total / 4), others=(labeled, total), frequency=np.array([0.5])
    )
    assert bound == pytest.approx(0.5 - np.sqrt(1 / 400))


def test_trees_grown_together_are_each_alone():
    rng = np.random.default_rng(9)
    places = rng.integers(64, size=(300, 3))
    total = rng.integers(1, 30, size=(4, 300)).astype(float)
    labeled = np.floor(total * rng.random((4, 300)) ** 3)
    frequency = np.array([0.2, 0.4, 0.3, 0.6])

    def bounds(part):
        return label_frequency_bounds(
            places,
            tree=(labeled[part] / 4, total[part] / 4),
            others=(labeled[part], total[part]),
            frequency=frequency[part],
        )

    together = bounds(slice(None))
    alone = [bounds(slice(i, i + 1))[0] for i in range(4)]
    assert together.tolist() == alone
    assert (together >= labeled.sum(axis=1) / total.sum(axis=1)).all()


def test_tice_does_not_silently_return_one():
    rng = np.random.default_rng(10)
    labels = np.repeat([1, 0], [10, 50])
    with pytest.warns(NoBoundWarning, match=r"tice found no subset .* is 1, which carries no"):
        found = METHODS["tice"](as_samples(labels, rng.normal(size=60)))
    assert found[0] == pytest.approx(1.0)


# -- penL1 ------------------------------------------------------------------------------------


def test_pen_l1_by_direct_minimisation():
    """Every width, ten regularisers, coefficients by a bounded solver, for each prior of a grid."""
    labels, scores, features = one_informative(
        0.3, n_labeled=60, n_unlabeled=70, columns=2, separation=3.0, seed=11
    )
    sample = as_samples(labels, scores, features)
    data = sample.features
    positives, unlabeled, every = data.points[:60], data.points[60:], data.points
    fold = np.array([part[0].argmax(axis=0) for part in [data.dealt(5)[0] + data.dealt(5)[1]]])[0]
    distances = np.sqrt(np.sum((unlabeled[:, np.newaxis] - every) ** 2, axis=2))
    # Half the pairs or more: the median distance as the estimator takes it.
    median = np.sort(distances, axis=None)[(70 * 130 - 1) // 2]
    # Half of the 300 bases at either sample's rows.
    share = np.repeat([150 / 60, 150 / 70], [60, 70])

    def bases(rows, width):
        apart = np.sum((rows[:, np.newaxis] - every) ** 2, axis=2)
        return np.sqrt(share) * np.exp(-apart / (2 * (width * median) ** 2))

    def beta(prior, width, part):
        return prior * bases(positives[part[:60]], width).mean(axis=0) - bases(
            unlabeled[part[60:]], width
        ).mean(axis=0)

    def fitted(slopes, regulariser):
        found = optimize.minimize(
            lambda c: 0.5 * regulariser * c @ c - slopes @ c,
            np.zeros(len(slopes)),
            jac=lambda c: regulariser * c - slopes,
            bounds=[(0, None)] * len(slopes),
            method="L-BFGS-B",
            options={"ftol": 1e-16, "gtol": 1e-12},
        )
        return found.x

    everything = np.ones(130, dtype=bool)
    grid = np.arange(0.05, 0.96, 0.1)
    divergences = []
    for prior in grid:
        candidates = []
        for width in np.logspace(-1, 1, 8):
            folds = [
                (beta(prior, width, fold != f), beta(prior, width, fold == f)) for f in range(5)
            ]
            for regulariser in np.logspace(-3, 1, 10):
                held_out = -sum(
                    np.maximum(learned, 0) @ seen / regulariser for learned, seen in folds
                )
                candidates.append((held_out, width, regulariser))
        _, width, regulariser = min(candidates)
        slopes = beta(prior, width, everything)
        divergences.append(1 - prior + slopes @ fitted(slopes, regulariser))
    expected = grid[np.argmin(divergences)]
    assert METHODS["pen_l1"](sample)[0] == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("separation", [3.0, 10.0])
def test_pen_l1_without_a_positive_among_the_unlabeled_rows_is_nearly_nothing(separation):
    """However far apart the classes are: bases are near the labeled rows as well."""
    labels, scores, features = one_informative(
        0.0, n_labeled=200, n_unlabeled=1000, columns=2, separation=separation, seed=13
    )
    assert METHODS["pen_l1"](as_samples(labels, scores))[0] <= 0.03
    assert METHODS["pen_l1"](as_samples(labels, scores, features))[0] <= 0.1


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
