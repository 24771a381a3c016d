"""auto: what it reads, the network, and what comes out."""

import json

import numpy as np
import pytest
from scipy import special

import pumonitor
from pumonitor import ScoreTable
from pumonitor.prior import TwoSamples, estimate_from_table
from pumonitor.prior.auto.auto import auto
from pumonitor.prior.auto.inputs import auto_inputs, rank_summary
from pumonitor.prior.auto.quantile_network import GAP, QuantileNetwork, load_network


def two_normals(prior, *, n_labeled, n_unlabeled, separation=2.0, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < prior])
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    return labels, rng.normal(separation * positive, np.where(positive == 1, spread, 1.0))


def sample_of(labels, scores):
    return TwoSamples.from_table(ScoreTable.from_arrays(labels, scores))


def test_rank_summary_by_hand():
    """Above the middle lie 0.8 of the labeled and 0.2 of the unlabeled rows."""
    labeled, unlabeled = np.array([[0.2, 0.8]]), np.array([[0.8, 0.2]])
    found = rank_summary(labeled, unlabeled, np.array([50.0]), np.array([500.0]))
    above_the_middle = found[0, 66 + 32] * 3
    assert above_the_middle == pytest.approx(np.log((0.2 + 0.001) / (0.8 + 0.01)))
    # All bins of the upper cell share its ratio but for the half row, which is all of a tail.
    lowest, highest = found[0, 0] * 3, found[0, 65] * 3
    tail = special.ndtr(-3.2)
    assert lowest == pytest.approx(np.log((1.6 * tail + 0.001) / (0.4 * tail + 0.01)), rel=1e-6)
    assert highest == pytest.approx(np.log((0.4 * tail + 0.001) / (1.6 * tail + 0.01)), rel=1e-6)
    assert found[0, -2] == pytest.approx(np.log(50) / 5 - 1.2)


def test_rank_summary_does_not_see_where_ties_are_cut():
    labels, scores = two_normals(0.3, n_labeled=200, n_unlabeled=1000, seed=1)
    rows = np.array([200.0]), np.array([1000.0])
    coarse = sample_of(labels, np.round(scores))
    values = np.unique(np.round(scores))
    split = np.repeat(values, 2)
    assert len(split) == 2 * len(values)
    labeled = np.repeat([np.mean(np.round(scores[:200]) == value) for value in values], 2) / 2
    unlabeled = np.repeat([np.mean(np.round(scores[200:]) == value) for value in values], 2) / 2
    assert rank_summary(coarse.labeled, coarse.unlabeled, *rows) == pytest.approx(
        rank_summary(labeled[np.newaxis], unlabeled[np.newaxis], *rows)
    )


def test_the_network_by_hand():
    """One hidden unit; quantiles on the arcsine scale at 0.5 and one gap on either side."""
    network = QuantileNetwork(
        levels=np.array([0.1, 0.5, 0.9]),
        weights=(np.array([[1.0], [0.0]]), np.array([[1.0, 0.25, -1.0]])),
        offsets=(np.array([0.5]), np.array([0.0, 0.1, 0.0])),
    )
    hidden = 1.5 / (1 + np.exp(-1.5))
    middle = 0.25 * hidden + 0.1
    below = middle - GAP * np.log(1 + np.exp(hidden))
    above = middle + GAP * np.log(1 + np.exp(-hidden))
    expected = np.sin(np.clip([below, middle, above], 0, None)) ** 2
    assert network.quantiles(np.array([[1.0, 7.0]]))[0] == pytest.approx(expected)


def test_quantiles_ascend_and_lie_between_the_known_levels():
    network = load_network("auto")
    inputs = np.random.default_rng(6).normal(size=(200, network.weights[0].shape[0]))
    quantiles = network.quantiles(inputs)
    assert ((quantiles >= 0) & (quantiles <= 1)).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()
    row = np.linspace(0.1, 0.4, len(network.levels))
    assert network.at(row, 0.5) == pytest.approx(0.25)
    assert network.at(row, float(network.levels[2])) == pytest.approx(row[2])
    assert row[1] < network.at(row, 0.03) < row[2]
    assert 0 <= network.at(row, 1e-6) < row[0] < row[-1] < network.at(row, 1 - 1e-6) <= 1


def test_the_data_file_says_how_it_was_made():
    from importlib import resources

    path = resources.files("pumonitor.prior") / "data" / "auto.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        assert "python -m benchmarks.prior.train_auto --cases" in str(stored["recipe"])


@pytest.mark.parametrize("separation", [2.0, 3.0])
def test_two_normals(separation):
    errors, held = [], 0
    for prior in (0.05, 0.1, 0.3, 0.5):
        for seed in range(6):
            data = two_normals(
                prior, n_labeled=1000, n_unlabeled=10_000, separation=separation, seed=10 + seed
            )
            found = pumonitor.estimate_class_prior(*data, scenario="case-control")
            errors.append(abs(found.value - prior))
            held += found.low <= prior <= found.high
    assert np.mean(errors) < 0.014
    assert held >= 22


def test_unequal_spreads_are_no_trap():
    """Negatives reach above positives: a least ratio is .04 too high there, and sure of it."""
    held, errors = 0, []
    for seed in range(12):
        data = two_normals(0.1, n_labeled=300, n_unlabeled=6000, spread=0.7, seed=40 + seed)
        found = pumonitor.estimate_class_prior(*data, scenario="case-control")
        held += found.low <= 0.1 <= found.high
        errors.append(found.value - 0.1)
    assert held >= 11
    assert abs(np.mean(errors)) < 0.025


@pytest.mark.parametrize("n_labeled", [5, 10, 30])
def test_few_labeled_rows_give_a_wide_interval(n_labeled):
    held, widths = 0, []
    for seed in range(20):
        data = two_normals(0.3, n_labeled=n_labeled, n_unlabeled=3000, seed=60 + seed)
        found = pumonitor.estimate_class_prior(*data, scenario="case-control")
        held += found.low <= 0.3 <= found.high
        widths.append(found.high - found.low)
    assert held >= 18
    assert np.median(widths) > 0.2


def test_with_three_labeled_rows_only_an_upper_bound_is_known():
    data = two_normals(0.3, n_labeled=3, n_unlabeled=3000, seed=7)
    found = pumonitor.estimate_class_prior(*data, scenario="case-control")
    assert found.low < 1e-6
    assert found.high > 0.6
    assert "only an upper bound is known" in found.diagnostics["why"]


@pytest.mark.parametrize(
    ("prior", "separation", "n_labeled", "begins_at_0"),
    [(0.005, 1.0, 100, True), (0.002, 2.5, 100, True), (0.3, 2.0, 1000, False)],
)
def test_rare_positives_of_weak_scores_have_an_upper_bound_only(
    prior, separation, n_labeled, begins_at_0
):
    labels, scores = two_normals(
        prior, n_labeled=n_labeled, n_unlabeled=20_000, separation=separation
    )
    found = auto(sample_of(labels, scores), confidence_level=0.95)
    assert found.low <= prior <= found.high
    assert (found.low == 0) == begins_at_0
    assert ("not how few" in str(found.details["why"])) == begins_at_0


@pytest.mark.parametrize("n_unlabeled", [10, 40])
def test_few_unlabeled_rows_are_not_trusted(n_unlabeled):
    """Read as the fewest the network has seen, ten rows missed the prior in 40% of samples."""
    held = 0
    for seed in range(40):
        data = two_normals(0.3, n_labeled=100, n_unlabeled=n_unlabeled, seed=400 + seed)
        found = pumonitor.estimate_class_prior(*data, scenario="case-control")
        held += found.low <= 0.3 <= found.high
    assert held >= 38
    assert "unlabeled rows only an upper bound is known" in found.diagnostics["why"]


@pytest.mark.parametrize("change", [np.exp, lambda scores: np.minimum(scores, 2.0)])
def test_where_normals_do_not_fit_it_is_the_median_of_five(change):
    labels, scores = two_normals(0.3, n_labeled=300, n_unlabeled=3000, separation=2.5, seed=15)
    found = pumonitor.estimate_class_prior(labels, change(scores), scenario="case-control")
    five = ("network", "dedpul", "pulscar", "tilt", "distcurve")
    assert found.diagnostics["normal_mixture_weight"] < 1e-3
    assert found.value == pytest.approx(np.median([found.diagnostics[one] for one in five]), 1e-3)


def test_the_interval_reaches_further_where_estimators_disagree():
    """Scores bent so that the network's own estimate is far from the median."""
    labels, scores = two_normals(0.3, n_labeled=1000, n_unlabeled=3000, separation=2.2, seed=16)
    sample = sample_of(labels, np.exp(scores))
    found = auto(sample, confidence_level=0.95)
    network = load_network("auto")
    rows = np.array([sample.n_labeled]), np.array([sample.n_unlabeled])
    inputs = auto_inputs(sample.scores[np.newaxis], sample.labeled, sample.unlabeled, *rows)
    low, middle = (
        np.arcsin(np.sqrt(network.at(network.quantiles(inputs.numbers)[0], at)))
        for at in (0.025, 0.5)
    )
    value, reach = np.arcsin(np.sqrt(found.value)), np.arcsin(np.sqrt(found.low))
    assert abs(value - middle) > 0.01
    assert value - reach == pytest.approx(np.hypot(middle - low, value - middle), rel=0.02)


def test_scores_that_do_not_rank_tell_nothing():
    rng = np.random.default_rng(8)
    labels = np.repeat([1, 0], [500, 5000])
    found = pumonitor.estimate_class_prior(labels, rng.normal(size=5500), scenario="case-control")
    assert found.high - found.low > 0.8


def test_the_interval_ends_at_what_is_possible_at_all():
    sample = sample_of(*two_normals(0.02, n_labeled=1000, n_unlabeled=10_000, separation=6, seed=9))
    found = auto(sample, confidence_level=0.95)
    assert found.low <= found.value <= found.high <= found.details["highest_possible"] < 0.05


def test_a_higher_confidence_gives_a_wider_interval_about_the_same_value():
    sample = sample_of(*two_normals(0.3, n_labeled=200, n_unlabeled=2000, seed=10))
    narrow, wide, widest = (auto(sample, confidence_level=level) for level in (0.8, 0.95, 0.999))
    assert narrow.value == wide.value == widest.value
    assert widest.low < wide.low < narrow.low < narrow.high < wide.high <= widest.high


def test_what_it_stands_on_is_said_and_can_be_stored():
    labels, scores = two_normals(0.3, n_labeled=1000, n_unlabeled=10_000, seed=11)
    normal = pumonitor.estimate_class_prior(labels, scores, scenario="case-control")
    assert "two normals, which fit them and give 0.3" in normal.diagnostics["why"]
    bent = pumonitor.estimate_class_prior(labels, np.exp(scores), scenario="case-control")
    assert "normals" not in bent.diagnostics["why"]
    json.dumps([normal.to_dict(), bent.to_dict()], allow_nan=False)


def test_sizes_beyond_those_seen_are_read_as_the_largest_seen():
    sample = sample_of(*two_normals(0.3, n_labeled=1000, n_unlabeled=10_000, seed=12))
    arguments = (sample.scores[np.newaxis], sample.labeled, sample.unlabeled)
    at_most = auto_inputs(*arguments, np.array([3e5]), np.array([3e6]))
    beyond = auto_inputs(*arguments, np.array([3e7]), np.array([3e8]))
    assert at_most.numbers == pytest.approx(beyond.numbers)


@pytest.mark.parametrize(("seed", "is_far"), [(0, True), (3, False)])
def test_estimates_that_are_far_apart_are_said_to_be(seed, is_far):
    """On the scale of the square root, where each errs about as much, by .35 and by .25."""
    data = two_normals(0.3, n_labeled=100, n_unlabeled=600, separation=1.2, seed=seed)
    why = auto(sample_of(*data), confidence_level=0.95).details["why"]
    assert ("They are far apart: the classes hardly separate." in why) == is_far


def test_two_scores_are_enough_for_an_answer():
    table = ScoreTable.from_arrays([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [0.5] * 9 + [0.1])
    found = estimate_from_table(table, scenario="case-control")
    assert 0 < found.low <= found.value <= found.high < 1


def test_the_interval_and_what_fits_are_two_things():
    """Sampling leaves the interval; negatives like positives, all down to what is confirmed."""
    rng = np.random.default_rng(13)
    positive = rng.random(20_000) < 0.2
    labels = (positive & (rng.random(20_000) < 0.4)).astype(int)
    labels[~positive & (rng.random(20_000) < 0.1)] = -1
    found = pumonitor.estimate_class_prior(labels, rng.normal(2 * positive), label_purity=0.9)
    assert found.identified_set == (pytest.approx(0.9 * np.mean(labels == 1)), found.high)
    assert found.identified_set[0] < found.low
    assert found.to_dict()["identified_set"] == list(found.identified_set)


def test_in_case_control_anything_down_to_nothing_fits():
    data = two_normals(0.3, n_labeled=200, n_unlabeled=2000, seed=14)
    found = pumonitor.estimate_class_prior(*data, scenario="case-control")
    assert found.identified_set == (0.0, found.high)


def test_a_given_prior_fits_as_given():
    given = pumonitor.ClassPriorEstimate.given((0.1, 0.2))
    assert given.identified_set == (0.1, 0.2)
