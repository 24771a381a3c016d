"""Published estimators: each as accurate as measured, and against a naive version of itself."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

import pumonitor
from pumonitor import ScoreTable
from pumonitor.prior import METHODS, TwoSamples
from pumonitor.prior.estimators.alphamax import alphamax_n
from pumonitor.prior.estimators.dedpul import dedpul
from pumonitor.prior.estimators.patra_sen import distance_to_isotonic, patra_sen
from pumonitor.prior.estimators.pulscar import beta_kernels, pulscar

PRIORS = (0.05, 0.1, 0.3, 0.5)

# Mean absolute error over PRIORS and seeds 0 to 2, measured, plus 0.01.
LARGEST_ERRORS = {
    "elkan_noto": 0.164,
    "elkan_noto_e2": 0.164,
    "elkan_noto_e3": 0.011,
    "roc_slope": 0.037,
    "bbe": 0.051,
    "dedpul": 0.027,
    "pulscar": 0.020,
    "patra_sen": 0.039,
    "alphamax": 0.043,
    "alphamax_n": 0.042,
    "tilt": 0.024,
}


def two_normals(unlabeled_prior, *, seed, n_labeled=1000, n_unlabeled=10_000, distance=2.0):
    """Labels and scores; then the true probability of being labeled."""
    rng = np.random.default_rng([seed, int(1000 * unlabeled_prior)])
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < unlabeled_prior])
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    scores = rng.normal(distance * (positive - 0.5))
    f_p, f_n = (stats.norm.pdf(scores, mean) for mean in (distance / 2, -distance / 2))
    of_labeled = n_labeled * f_p
    of_unlabeled = n_unlabeled * (unlabeled_prior * f_p + (1 - unlabeled_prior) * f_n)
    return labels, scores, of_labeled / (of_labeled + of_unlabeled)


def samples_of(labels, scores):
    return TwoSamples.from_table(ScoreTable.from_arrays(labels, scores).compress(512))


def exact(labeled, unlabeled, *, n_labeled=1e6, n_unlabeled=1e6):
    """Samples whose shares are the probabilities themselves."""
    return TwoSamples(
        scores=np.arange(len(labeled), dtype=float),
        labeled=np.array([labeled]),
        unlabeled=np.array([unlabeled]),
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
    )


def whole_scores(seed, *, n_labeled=150, n_unlabeled=400, prior=0.3):
    """Scores of few distinct values, so that every one is a cell."""
    labels, scores, _ = two_normals(prior, seed=seed, n_labeled=n_labeled, n_unlabeled=n_unlabeled)
    scores = np.round(8 * scores)
    return labels, scores, TwoSamples.from_table(ScoreTable.from_arrays(labels, scores))


def ranks_in_even_mixture(labels, scores):
    """Row by row: half the share below, and half of the ties, in either sample, averaged."""
    shares = [
        [np.mean(own < score) + 0.5 * np.mean(own == score) for score in scores]
        for own in (scores[labels == 1], scores[labels == 0])
    ]
    return np.mean(shares, axis=0)


@pytest.mark.parametrize("method", sorted(LARGEST_ERRORS))
def test_as_accurate_as_measured(method):
    reads_probabilities = METHODS[method].reads == "probabilities"
    errors = []
    for prior, seed in itertools.product(PRIORS, range(3)):
        labels, scores, probabilities = two_normals(prior, seed=seed)
        sample = samples_of(labels, probabilities if reads_probabilities else scores)
        errors.append(METHODS[method](sample)[0] - prior)
    assert np.mean(np.abs(errors)) < LARGEST_ERRORS[method]


@pytest.mark.parametrize("method", ["dedpul", "pulscar", "patra_sen", "alphamax_n"])
def test_by_name_with_an_interval(method):
    labels, scores, _ = two_normals(0.3, seed=0, distance=3.0)
    found = pumonitor.estimate_class_prior(
        labels, scores, method=method, scenario="case-control", rng=0
    )
    own = METHODS[method](samples_of(labels, scores))[0]
    assert found.unlabeled_prior == pytest.approx(own)
    assert found.method == method
    assert found.low < 0.3 < found.high
    assert found.high - found.low < 0.25


# Elkan-Noto


def test_elkan_noto_e2_and_e3_by_hand():
    labels = [1, 1, 0, 0, 0, 0, 0, 0]
    sample = TwoSamples.from_table(
        ScoreTable.from_arrays(labels, [0.5, 0.3, 0.5, 0.3, 0.1, 0.1, 0.1, 0.1])
    )
    # Scores sum to 0.8 over labeled and 1.2 over unlabeled rows: c = 0.4; a = 2 * 0.6 / (0.4 * 6).
    assert METHODS["elkan_noto_e2"](sample)[0] == pytest.approx(0.5)
    # c = 0.5; a = 2 * 0.5 / (0.5 * 6).
    assert METHODS["elkan_noto_e3"](sample)[0] == pytest.approx(1 / 3)


def test_elkan_noto_e2_does_not_mind_scores_that_are_all_half_of_what_they_should_be():
    labels, _, probabilities = two_normals(0.1, seed=0, distance=4.0)
    right, halved = (samples_of(labels, scale * probabilities) for scale in (1.0, 0.5))
    e1, e2 = METHODS["elkan_noto"], METHODS["elkan_noto_e2"]
    assert e2(halved)[0] == pytest.approx(e2(right)[0], rel=1e-9)
    assert e1(halved)[0] > e1(right)[0] + 0.05


def test_elkan_noto_e3_needs_no_more_than_a_pure_region():
    labels, _, probabilities = two_normals(0.3, seed=0)
    sample = samples_of(labels, probabilities)
    assert METHODS["elkan_noto_e3"](sample)[0] == pytest.approx(0.3, abs=0.002)
    assert METHODS["elkan_noto"](sample)[0] > 0.4


@pytest.mark.parametrize("method", ["elkan_noto", "elkan_noto_e2", "elkan_noto_e3"])
def test_elkan_noto_refuses_scores_beyond_probabilities_by_its_own_name(method):
    labels, scores, _ = two_normals(0.3, seed=0, n_labeled=50, n_unlabeled=100)
    with pytest.raises(ValueError, match=f"^{method} needs scores that are probabilities"):
        pumonitor.estimate_class_prior(labels, scores, method=method)


@pytest.mark.parametrize("method", ["elkan_noto", "elkan_noto_e2", "elkan_noto_e3"])
def test_elkan_noto_of_a_tenth_of_the_unlabeled_rows_at_ten_times_the_weight(method):
    labels, _, probabilities = two_normals(0.1, seed=0, distance=4.0)
    every = METHODS[method](samples_of(labels, probabilities))[0]
    kept = (labels == 1) | (np.arange(len(labels)) % 10 == 0)
    table = ScoreTable.from_arrays(
        labels[kept], probabilities[kept], sample_weight=np.where(labels[kept] == 1, 1.0, 10.0)
    )
    sample = TwoSamples.from_table(table)
    assert METHODS[method](sample)[0] == pytest.approx(every, abs=0.02)
    assert sample.n_labeled / sample.n_unlabeled == pytest.approx(1.0)
    assert sample.labeled_per_unlabeled == pytest.approx(0.1)
    drawn = sample.drawn_from(
        sample.labeled, sample.unlabeled, size=20, rng=np.random.default_rng(0)
    )
    assert np.mean(METHODS[method](drawn)) == pytest.approx(every, abs=0.03)


def test_rows_of_the_population_count_by_their_weight_whatever_they_stand_for():
    labels = [1, 1, 0, 0, 0, 0]
    table = ScoreTable.from_arrays(labels, np.linspace(0, 1, 6), propensity=0.25)
    assert TwoSamples.from_table(table).labeled_per_unlabeled == pytest.approx(0.5)
    assert exact([1.0], [1.0], n_labeled=10, n_unlabeled=40).labeled_per_unlabeled == 0.25


# AlphaMax-N


def test_alphamax_n_is_the_prior_beside_the_purity():
    labels, scores, _ = two_normals(0.3, seed=1)
    sample = samples_of(labels, scores)
    assert METHODS["alphamax_n"](sample)[0] == alphamax_n(sample).unlabeled_prior[0]


def test_alphamax_n_is_not_told_the_purity_it_estimates():
    labels, scores, _ = two_normals(0.3, seed=1, n_labeled=100, n_unlabeled=300)
    with pytest.raises(ValueError, match=r"alphamax_n .* finds the mistakes itself: with label_p"):
        pumonitor.estimate_class_prior(labels, scores, method="alphamax_n", label_purity=0.9)


# PULSCAR


def test_beta_kernels_are_beta_densities():
    values, points = np.array([0.02, 0.4, 0.97]), np.array([0.1, 0.75])
    for row, column in itertools.product(range(3), range(2)):
        x = points[column]
        expected = stats.beta.pdf(values[row], x / 0.07 + 1, (1 - x) / 0.07 + 1)
        found = beta_kernels(values, points, bandwidth=0.07)[row, column]
        assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_pulscar_is_where_the_log_error_of_the_papers_changes_slope_most(seed):
    """Beta kernels around every row, then the error on a grid of shares, as in the paper."""
    labels, scores, sample = whole_scores(seed)
    rank = ranks_in_even_mixture(labels, scores)
    points = (np.arange(32) + 0.5) / 32
    bandwidth = 0.4 * 150**-0.4

    def density(rows):
        kernels = [stats.beta.pdf(rows, x / bandwidth + 1, (1 - x) / bandwidth + 1) for x in points]
        return np.mean(kernels, axis=1)

    f_p, f_u = density(rank[labels == 1]), density(rank[labels == 0])
    f_p, f_u = f_p / f_p.sum(), f_u / f_u.sum()
    step = 1e-3
    grid = np.arange(0, 1, step)
    error = np.array([np.min((f_u - share * f_p)[points > 0.5]) for share in grid])
    slope = np.diff(np.log(np.abs(error) + f_p.min())) / step
    literal = grid[1:][np.argmax(np.abs(np.diff(slope)))]
    assert pulscar(sample)[0] == pytest.approx(literal, abs=1.01 * step)


def test_pulscar_without_a_labeled_row_in_the_upper_half_is_one():
    """Labeled rows lowest of all: nothing says that any unlabeled row is negative."""
    labels = np.repeat([1, 0], [500, 500])
    scores = np.concatenate([np.zeros(500), np.ones(500)])
    table = ScoreTable.from_arrays(labels, scores)
    assert METHODS["pulscar"](TwoSamples.from_table(table))[0] == 1.0


# Patra-Sen


def isotonic_by_minimum_and_maximum(values, weights):
    """The least over ends of the greatest over beginnings of weighted means."""
    size = len(values)

    def mean(begin, end):
        part = slice(begin, end + 1)
        return np.average(values[part], weights=weights[part])

    return np.array(
        [
            min(max(mean(begin, end) for begin in range(at + 1)) for end in range(at, size))
            for at in range(size)
        ]
    )


def test_distance_is_to_the_isotonic_fit_of_each_share_alone():
    rng = np.random.default_rng(0)
    known, mixture = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    weights = 0.5 * (known + mixture)
    grid = np.array([0.0, 0.2, 0.55, 0.9])
    expected = []
    for share in grid:
        remainder = np.cumsum(mixture) - share * np.cumsum(known)
        fit = isotonic_by_minimum_and_maximum(remainder, weights)
        assert fit == pytest.approx(optimize.isotonic_regression(remainder, weights=weights).x)
        fit = np.clip(fit, 0, 1 - share)
        expected.append(np.sqrt(np.sum(weights * (remainder - fit) ** 2)))
    found = distance_to_isotonic(known, mixture, weights=weights, grid=grid)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found[0] == pytest.approx(0.0, abs=1e-12)
    assert found[3] > found[2] > 0.01


def test_distance_by_hand():
    """F_u = .5, 1 and F_p = 1, 1: less half of the latter 0, .5; less .8 of it -.3, .2."""
    known, mixture = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    found = distance_to_isotonic(
        known, mixture, weights=np.array([0.75, 0.25]), grid=np.array([0.5, 0.8])
    )
    assert found == pytest.approx([0.0, 0.3 * 0.75**0.5])


@pytest.mark.parametrize("prior", [0.0, 0.05, 0.3, 0.9, 1.0])
def test_patra_sen_finds_the_share_of_exact_distributions(prior):
    positive, negative = np.array([0, 0, 0.2, 0.3, 0.5]), np.array([0.4, 0.3, 0.3, 0, 0])
    sample = exact(positive, prior * positive + (1 - prior) * negative)
    assert patra_sen(sample)[0] == pytest.approx(prior, abs=0.003)


# DEDPUL


# Without a positive EM may collapse, as it does in these three; no two turns are as sharp there.
@pytest.mark.parametrize(
    ("prior", "seed"), [*itertools.product((0.1, 0.4), range(4)), (0.0, 4), (0.0, 7), (0.0, 12)]
)
def test_dedpul_is_expectation_maximisation_on_kernel_densities_of_rows(prior, seed):
    """A Gaussian kernel around every row; EM step by step; the sharpest turn if it collapses."""
    labels, scores, sample = whole_scores(seed, n_labeled=300, n_unlabeled=1000, prior=prior)
    normal = stats.norm.ppf(ranks_in_even_mixture(labels, scores))
    labeled, unlabeled = (np.sort(normal[labels == label]) for label in (1, 0))

    def density(rows):
        bandwidth = 0.45 * rows.std() * len(rows) ** -0.2
        return stats.norm.pdf(unlabeled[:, np.newaxis], rows, bandwidth).mean(axis=1)

    ratio = np.minimum(density(labeled) / density(unlabeled), 1000.0)
    above = unlabeled >= 0.5 * (labeled.mean() + unlabeled.mean())
    ratio[above] = np.maximum.accumulate(ratio[above])
    share = 1.0
    for _ in range(100_000):
        last, share = share, np.mean(np.minimum(1.0, share * ratio))
        if share * ratio.max() < 1 or last - share < 1e-9:
            break
    assert (ratio.mean() <= 1) == (prior == 0)
    if ratio.mean() <= 1:
        grid = np.linspace(0, 1, 201)
        excess = np.array([a - np.mean(np.minimum(1.0, a * ratio)) for a in grid])
        turn = np.where(excess < 0.05, np.convolve(excess, [1, -2, 1], mode="same"), -1)[1:-1]
        share = max(share, grid[1:-1][np.argmax(turn)])
    # What bins of 1/32 and a grid of 1/200 are worth.
    assert dedpul(sample)[0] == pytest.approx(share, abs=0.012)


@pytest.mark.parametrize("method", ["dedpul", "pulscar", "patra_sen"])
def test_of_complete_separation_nothing_is_left(method):
    """No unlabeled row where labeled ones are."""
    assert METHODS[method](exact(np.array([0, 0, 0.4, 0.6]), np.array([0.7, 0.3, 0, 0])))[0] < 1e-6


@pytest.mark.parametrize("method", ["dedpul", "pulscar", "patra_sen"])
def test_of_two_samples_alike_all_is_positive(method):
    share = np.full(60, 1 / 60)
    assert METHODS[method](exact(share, share))[0] > 0.99


@pytest.mark.parametrize("method", ["dedpul", "pulscar", "patra_sen"])
def test_rare_positives(method):
    errors = []
    for seed in range(4):
        labels, scores, _ = two_normals(0.005, seed=seed, distance=4.0)
        errors.append(METHODS[method](samples_of(labels, scores))[0] - 0.005)
    assert np.abs(errors).max() < 0.006


def test_dedpul_of_exact_distributions_is_their_share():
    """Normal densities far apart, hardly smoothed: the ratio reaches 1 / a and stays there."""
    cells = np.linspace(-6, 6, 2001)
    positive, negative = (stats.norm.pdf(cells, mean) for mean in (2.5, -2.5))
    positive, negative = positive / positive.sum(), negative / negative.sum()
    sample = exact(positive, 0.2 * positive + 0.8 * negative, n_labeled=1e8, n_unlabeled=1e8)
    assert dedpul(sample)[0] == pytest.approx(0.2, abs=0.005)
