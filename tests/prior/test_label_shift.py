"""Label shift from a reference window: by hand, against other solvers, intervals, errors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special, stats

import pumonitor
from pumonitor import ScoreTable
from pumonitor.errors import InputError
from pumonitor.prior import METHODS, ReferenceWindow, TwoSamples
from pumonitor.prior.reference_window.label_shift import label_shift, label_shift_with_interval
from pumonitor.prior.reference_window.label_shift_em import (
    label_shift_em,
    label_shift_em_with_interval,
)
from pumonitor.prior.reference_window.two_windows import shares_below, two_windows
from pumonitor.prior.samples.reference import Reference
from pumonitor.results import ClassPriorEstimate

CELLS = 40
EDGES = np.linspace(-4.0, 6.0, CELLS + 1)
POSITIVE, NEGATIVE = (
    np.diff(stats.norm.cdf(EDGES, centre)) / np.diff(stats.norm.cdf(EDGES, centre)).sum()
    for centre in (2.0, 0.0)
)
# The probability of being positive where a tenth is.
POSTERIOR = 0.1 * POSITIVE / (0.1 * POSITIVE + 0.9 * NEGATIVE)


def known(prior, *, reach=0.0):
    ends = (prior - reach, prior + reach)
    return ClassPriorEstimate(
        value=prior,
        low=ends[0],
        high=ends[1],
        unlabeled_prior=prior,
        unlabeled_prior_interval=ends,
    )


def mixed(prior):
    return prior * POSITIVE + (1 - prior) * NEGATIVE


def samples(
    window,
    *,
    reference=None,
    labeled=POSITIVE,
    prior=None,
    n_labeled=500,
    n_unlabeled=10_000,
    rng=None,
):
    """A window against a reference of prior 0.1; as the shares are, or drawn from them."""

    def drawn(share, rows):
        return (share if rng is None else rng.multinomial(rows, share) / rows)[np.newaxis]

    return TwoSamples(
        scores=POSTERIOR,
        labeled=drawn(labeled, n_labeled),
        unlabeled=drawn(window, n_unlabeled),
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        reference=Reference(
            unlabeled=drawn(mixed(0.1) if reference is None else reference, n_unlabeled),
            n_unlabeled=n_unlabeled,
            prior=prior or known(0.1),
        ),
    )


def rows(prior, *, size=20_000, label_frequency=0.3, separation=2.0, seed=0, shift=0.0):
    """A window of the single-training-set scenario."""
    rng = np.random.default_rng([seed, int(1000 * prior)])
    positive = rng.random(size) < prior
    labels = (positive & (rng.random(size) < label_frequency)).astype(int)
    return labels, rng.normal((separation + shift) * positive)


INTERVALS = {
    "label_shift": label_shift_with_interval,
    "label_shift_em": label_shift_em_with_interval,
}


@pytest.mark.parametrize("method", ["label_shift", "label_shift_em"])
@pytest.mark.parametrize("prior", [0.0, 0.02, 0.1, 0.5, 1.0])
def test_exact_shares_give_the_exact_prior(method, prior):
    sample = samples(mixed(prior))
    assert METHODS[method](sample)[0] == pytest.approx(prior, abs=1e-5)
    found = INTERVALS[method](sample, confidence_level=0.95)
    assert found.low <= found.value <= found.high
    assert found.details["fit_p_value"] == pytest.approx(1.0, abs=1e-6)


def test_mean_matching_minimises_the_generalised_distance():
    """Against a scalar solver on the objective written with pseudo-inverses of all eight bins."""
    sample = samples(mixed(0.25), n_labeled=60, n_unlabeled=900, rng=np.random.default_rng(0))
    pooled = 0.5 * sample.labeled[0] + 0.25 * (sample.unlabeled[0] + sample.reference.unlabeled[0])
    bin_of = np.floor(8 * (np.cumsum(pooled) - 0.5 * pooled)).astype(int)
    sums = [
        np.bincount(bin_of, weights=share[0], minlength=8)
        for share in (sample.labeled, sample.unlabeled, sample.reference.unlabeled)
    ]
    sizes = [60, 900, 900]

    def covariance(share, size):
        smooth = (share * size + 0.5) / (size + 4)
        return (np.diag(smooth) - np.outer(smooth, smooth)) / size

    positives, window, reference = sums

    def distance(prior):
        g = (1 - prior) / 0.9
        residual = window - g * reference - (1 - g) * positives
        parts = [covariance(*both) for both in zip(sums, sizes, strict=True)]
        spread = (1 - g) ** 2 * parts[0] + parts[1] + g**2 * parts[2]
        return residual @ np.linalg.pinv(spread, rcond=1e-10) @ residual

    solved = optimize.minimize_scalar(distance, bounds=(-0.5, 1.2), method="bounded")
    found = label_shift_with_interval(sample, confidence_level=0.95)
    assert found.value == pytest.approx(solved.x, abs=1e-4)
    assert found.details["fit_p_value"] == pytest.approx(stats.chi2.sf(solved.fun, 6), abs=1e-5)
    for end in (found.low, found.high):
        assert distance(end) - solved.fun == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-3)


def test_weights_by_variance_err_less_than_equal_weights():
    """The published inner product in place of Fisher's, on the same bins."""
    errors = []
    for seed in range(150):
        sample = samples(mixed(0.02), n_unlabeled=2000, rng=np.random.default_rng([1, seed]))
        five = [
            share[0].reshape(8, 5).sum(axis=1)
            for share in (sample.labeled, sample.unlabeled, sample.reference.unlabeled)
        ]
        away = five[2] - five[0]
        plain = 1 - 0.9 * ((five[1] - five[0]) @ away) / (away @ away)
        own = label_shift_with_interval(sample, confidence_level=0.95).details["unconstrained"]
        errors.append([own - 0.02, plain - 0.02])
    own, plain = np.sqrt(np.mean(np.square(errors), axis=0))
    assert own < 0.85 * plain


@pytest.mark.parametrize("method", ["label_shift", "label_shift_em"])
@pytest.mark.parametrize(("prior", "n_labeled"), [(0.02, 100), (0.3, 30)])
def test_intervals_cover(method, prior, n_labeled):
    held, widths, rejected = 0, [], 0
    for seed in range(120):
        sample = samples(
            mixed(prior), n_labeled=n_labeled, n_unlabeled=2000, rng=np.random.default_rng(seed)
        )
        found = INTERVALS[method](sample, confidence_level=0.95)
        held += found.low <= prior <= found.high
        widths.append(found.high - found.low)
        rejected += found.details["fit_p_value"] < 0.05
    assert held >= 108
    assert np.median(widths) < 0.12
    assert rejected < 16


@pytest.mark.parametrize("method", ["label_shift", "label_shift_em"])
def test_scores_that_changed_within_a_class_do_not_fit(method):
    moved = np.roll(POSITIVE, 4)
    sample = samples(0.3 * moved + 0.7 * NEGATIVE, rng=np.random.default_rng(2))
    found = INTERVALS[method](sample, confidence_level=0.95)
    assert found.details["fit_p_value"] < 1e-3


def test_outside_what_can_be_is_clipped_and_said():
    """A window without positives, and a reference that has more of them than it is said to."""
    sample = samples(mixed(0.0), prior=known(0.07))
    found = label_shift_with_interval(sample, confidence_level=0.95)
    assert found.value == 0.0
    assert found.low == 0.0
    assert found.details["unconstrained"] == pytest.approx(1 - 0.93 / 0.9, abs=1e-5)
    # The interval is not what is left of one about a prior that cannot be.
    assert 0.001 < found.high < 0.03
    assert label_shift(sample)[0] == 0.0


def test_the_interval_of_the_references_prior_is_added_in_squares():
    exact = label_shift_with_interval(samples(mixed(0.3)), confidence_level=0.95)
    unsure = label_shift_with_interval(
        samples(mixed(0.3), prior=known(0.1, reach=0.05)), confidence_level=0.95
    )
    assert unsure.value == exact.value
    # a = 1 - g (1 - a0), so an error of a0 is carried over times g = 0.7 / 0.9.
    for end in ("low", "high"):
        own = getattr(exact, end) - 0.3
        total = np.hypot(own, 0.05 * 0.7 / 0.9)
        assert abs(getattr(unsure, end) - 0.3) == pytest.approx(total, abs=1e-5)


def with_exact_reference(sample, *, prior=None):
    exact = Reference(unlabeled=mixed(0.1)[np.newaxis], n_unlabeled=1e12, prior=prior or known(0.1))
    return replace(sample, reference=exact)


def test_em_is_where_the_published_steps_end():
    drawn = samples(mixed(0.3), n_unlabeled=3000, rng=np.random.default_rng(3))
    sample = with_exact_reference(drawn)
    prior = 0.1
    for _ in range(5000):
        weighted = POSTERIOR * prior / 0.1
        posterior = weighted / (weighted + (1 - POSTERIOR) * (1 - prior) / 0.9)
        prior = float(sample.unlabeled[0] @ posterior)
    assert label_shift_em(sample)[0] == pytest.approx(prior, abs=1e-6)


def test_em_interval_is_of_the_likelihood_and_of_the_references_prior():
    sample = samples(mixed(0.3), n_unlabeled=3000)
    found = label_shift_em_with_interval(with_exact_reference(sample), confidence_level=0.9)
    ratio = POSITIVE / NEGATIVE

    def log_likelihood(prior):
        return 3000 * sample.unlabeled[0] @ np.log(prior * ratio + 1 - prior)

    for end in (found.low, found.high):
        fall = log_likelihood(found.value) - log_likelihood(end)
        assert 2 * fall == pytest.approx(stats.chi2.ppf(0.9, 1), rel=1e-3)
    unsure = with_exact_reference(sample, prior=known(0.1, reach=0.02))
    wider = label_shift_em_with_interval(unsure, confidence_level=0.9)
    assert wider.low < found.low - 0.002
    assert wider.high > found.high + 0.002


def test_em_interval_counts_the_sampling_of_the_reference():
    """Of the estimate's spread when only the reference is drawn anew, by simulation."""
    exact = samples(mixed(0.3), n_unlabeled=3000)
    rng = np.random.default_rng(15)
    drawn = rng.multinomial(3000, mixed(0.1), size=2000) / 3000
    many = replace(
        exact,
        unlabeled=np.tile(exact.unlabeled, (2000, 1)),
        reference=replace(exact.reference, unlabeled=drawn),
    )
    spread = np.std(label_shift_em(many))
    alone, both = (
        label_shift_em_with_interval(sample, confidence_level=0.6827)
        for sample in (with_exact_reference(exact), exact)
    )
    added = [
        np.sqrt((getattr(both, end) - 0.3) ** 2 - (getattr(alone, end) - 0.3) ** 2)
        for end in ("low", "high")
    ]
    assert np.mean(added) == pytest.approx(spread, rel=0.06)


def test_em_scales_odds_to_the_reference_and_says_by_how_much():
    plain = samples(mixed(0.3))
    odds = 3 * POSTERIOR / (1 - POSTERIOR)
    lifted = replace(plain, scores=odds / (1 + odds))
    for sample, factor in ((plain, 1.0), (lifted, 1 / 3)):
        found = label_shift_em_with_interval(sample, confidence_level=0.95)
        assert found.value == pytest.approx(0.3, abs=1e-6)
        assert found.details["odds_factor"] == pytest.approx(factor, rel=1e-6)


def test_em_of_one_score_for_all_is_refused():
    sample = replace(samples(mixed(0.3)), scores=np.full(CELLS, 0.4))
    with pytest.raises(InputError, match="have the same score"):
        label_shift_em_with_interval(sample, confidence_level=0.95)
    assert 0 <= label_shift_em(sample)[0] <= 1


@pytest.mark.parametrize("method", [label_shift, label_shift_em])
def test_many_samples_at_once_are_each_alone(method):
    one = samples(mixed(0.3), rng=np.random.default_rng(4))
    drawn = one.drawn_from(mixed(0.3), mixed(0.2), size=4, rng=np.random.default_rng(5))
    many = method(drawn)
    pair = replace(drawn, labeled=drawn.labeled[[0, 2]], unlabeled=drawn.unlabeled[[0, 2]])
    assert method(pair)[1] == pytest.approx(many[2], abs=1e-9)
    assert len(set(many.tolist())) == 4


# -- windows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.05, 0.3])
def test_population_prior_of_a_window_from_that_of_another(prior):
    reference = ReferenceWindow.from_arrays(*rows(0.1, seed=1), class_prior=0.1)
    found = pumonitor.estimate_class_prior(
        *rows(prior, seed=2), method="label_shift", reference=reference
    )
    assert found.low < prior < found.high
    assert found.high - found.low < 0.05
    assert found.method == "label_shift"
    share = float(np.mean(rows(prior, seed=2)[0]))
    assert found.value == pytest.approx(share + (1 - share) * found.unlabeled_prior)


def test_negatives_that_look_like_positives_do_not_matter():
    """Where other methods are far too high: no score is free of either class."""
    data = rows(0.3, separation=0.8, seed=2)
    reference = ReferenceWindow.from_arrays(*rows(0.1, separation=0.8, seed=1), class_prior=0.1)
    found = pumonitor.estimate_class_prior(*data, method="label_shift", reference=reference)
    assert found.value == pytest.approx(0.3, abs=0.05)
    assert pumonitor.estimate_class_prior(*data, method="bbe").value > 0.4


def test_case_control_windows_and_coarse_equal_bins():
    edges = np.linspace(-4.0, 6.0, 11)
    tables = [
        ScoreTable.from_counts(
            np.histogram(positives, edges)[0], np.histogram(others, edges)[0], edges=edges
        )
        for positives, others in (
            (np.random.default_rng(6).normal(2.0, size=800), rows(prior, seed=6)[1])
            for prior in (0.25, 0.1)
        )
    ]
    found = pumonitor.prior.estimate_from_table(
        tables[0],
        method="label_shift",
        scenario="case-control",
        reference=ReferenceWindow(table=tables[1], class_prior=0.1),
    )
    assert found.low < 0.25 < found.high
    assert found.high - found.low < 0.06


def test_the_order_of_scores_decides():
    first, second = (
        pumonitor.estimate_class_prior(
            rows(0.3)[0],
            change(rows(0.3)[1]),
            method="label_shift",
            reference=ReferenceWindow.from_arrays(
                rows(0.1)[0], change(rows(0.1)[1]), class_prior=0.1
            ),
        ).value
        for change in (np.asarray, np.exp)
    )
    assert first == pytest.approx(second, abs=1e-4)


def test_many_rows_on_unlike_cells_still_fit():
    """Cells of two windows never end at the same scores; what that costs is below sampling."""
    windows = [rows(prior, size=400_000, label_frequency=0.01, seed=7) for prior in (0.2, 0.1)]
    reference = ReferenceWindow.from_arrays(*windows[1], class_prior=0.1)
    found = pumonitor.estimate_class_prior(*windows[0], method="label_shift", reference=reference)
    assert found.diagnostics["fit_p_value"] > 0.01
    assert found.low < 0.2 < found.high


def test_em_of_a_window():
    separation = 2.0

    def posterior(scores):
        return special.expit(separation * scores - 2.0 + special.logit(0.1))

    reference, window = rows(0.1, seed=8), rows(0.25, seed=9)
    found = pumonitor.estimate_class_prior(
        window[0],
        posterior(window[1]),
        method="label_shift_em",
        reference=ReferenceWindow.from_arrays(
            reference[0], posterior(reference[1]), class_prior=0.1
        ),
    )
    assert found.low < 0.25 < found.high
    assert found.high - found.low < 0.04
    assert found.diagnostics["odds_factor"] == pytest.approx(1.0, abs=0.15)


def test_propensities_are_of_the_whole_population():
    rng = np.random.default_rng(10)

    def window(prior):
        positive = rng.random(30_000) < prior
        scores = rng.normal(2.0 * positive)
        propensity = special.expit(scores - 2.5)
        labels = (positive & (rng.random(30_000) < propensity)).astype(int)
        return labels, scores, propensity

    labels, scores, propensity = window(0.1)
    reference = ReferenceWindow.from_arrays(labels, scores, propensity=propensity, class_prior=0.1)
    labels, scores, propensity = window(0.3)
    found = pumonitor.estimate_class_prior(
        labels, scores, propensity=propensity, method="label_shift", reference=reference
    )
    assert found.low < 0.3 < found.high
    assert found.high - found.low < 0.06


def test_mistaken_labels_are_pooled_as_they_are():
    rng = np.random.default_rng(11)

    def window(prior):
        positive = np.concatenate([rng.random(20_000) < 0.8, rng.random(100_000) < prior])
        return np.repeat([1, 0], [20_000, 100_000]), rng.normal(3.0 * positive)

    reference = ReferenceWindow.from_arrays(*window(0.1), class_prior=0.1)
    found = pumonitor.estimate_class_prior(
        *window(0.3),
        method="label_shift",
        reference=reference,
        label_purity=0.8,
        scenario="case-control",
    )
    assert found.low < 0.3 < found.high
    assert found.value == pytest.approx(0.3, abs=0.008)
    assert found.diagnostics["reference_unlabeled_prior"] == pytest.approx(0.1 / 0.8)


def test_the_references_labeled_fraction_errs_too():
    """The prior of its unlabeled rows follows from a known class prior by a share that varies."""
    window = ScoreTable.from_arrays(
        *rows(0.3, size=20_000, label_frequency=0.7, separation=5.0, seed=20)
    )
    held = 0
    for seed in range(120):
        labels, scores = rows(0.3, size=1000, label_frequency=0.7, separation=5.0, seed=21 + seed)
        found = pumonitor.prior.estimate_from_table(
            window,
            method="label_shift",
            reference=ReferenceWindow.from_arrays(labels, scores, class_prior=0.3),
        )
        held += found.low < 0.3 < found.high
    assert 109 <= held <= 119


def test_an_estimate_made_on_the_references_rows_keeps_its_interval_for_them():
    earlier = rows(0.1, size=5000, seed=12)
    estimated = pumonitor.estimate_class_prior(*earlier)
    carried_over = replace(estimated, unlabeled_prior=np.nan)
    own, over = (
        pumonitor.estimate_class_prior(
            *rows(0.1, size=500_000, seed=13),
            method="label_shift",
            reference=ReferenceWindow.from_arrays(*earlier, class_prior=prior),
        )
        for prior in (estimated, carried_over)
    )
    assert own.value == over.value
    assert own.high - own.low < over.high - over.low


def test_ends_of_another_confidence_level_are_moved():
    earlier, window = rows(0.1, seed=1), rows(0.2, seed=2)
    quantile = {level: stats.norm.ppf(0.5 + 0.5 * level) for level in (0.9, 0.99)}
    found = [
        pumonitor.estimate_class_prior(
            *window,
            method="label_shift",
            reference=ReferenceWindow.from_arrays(
                *earlier,
                class_prior=ClassPriorEstimate(
                    value=0.1,
                    low=0.1 - 0.02 * quantile[level],
                    high=0.1 + 0.02 * quantile[level],
                    confidence_level=level,
                ),
            ),
        )
        for level in (0.9, 0.99)
    ]
    assert found[0].low == pytest.approx(found[1].low, abs=1e-9)
    assert found[0].high == pytest.approx(found[1].high, abs=1e-9)


def test_a_reference_that_cannot_be_told_from_positives_is_refused():
    labels = np.repeat([1, 0], [300, 3000])
    scores = np.random.default_rng(14).normal(size=3300)
    reference = ReferenceWindow.from_arrays(labels, scores, class_prior=0.5)
    with pytest.raises(InputError, match="cannot be distinguished from confirmed positives"):
        pumonitor.estimate_class_prior(
            labels, scores, method="label_shift", reference=reference, scenario="case-control"
        )


@pytest.mark.parametrize("method", ["label_shift", "label_shift_em"])
def test_without_a_reference_the_error_says_what_to_pass(method):
    with pytest.raises(ValueError, match=r"reference=ReferenceWindow.from_arrays\("):
        pumonitor.estimate_class_prior(*rows(0.1), method=method)
    with pytest.raises(ValueError, match="give its result to evaluate as class_prior"):
        pumonitor.evaluate(*rows(0.1), threshold=1.0, class_prior=method)
    with pytest.raises(ValueError, match="needs a reference window"):
        METHODS[method](replace(samples(mixed(0.2)), reference=None))


def test_methods_that_read_no_reference_refuse_one():
    reference = ReferenceWindow.from_arrays(*rows(0.1), class_prior=0.1)
    with pytest.raises(ValueError, match="'bbe' does not read a reference window"):
        pumonitor.estimate_class_prior(*rows(0.1), method="bbe", reference=reference)


def test_em_needs_probabilities():
    reference = ReferenceWindow.from_arrays(*rows(0.1), class_prior=0.1)
    with pytest.raises(InputError, match="label_shift_em needs scores that are probabilities"):
        pumonitor.estimate_class_prior(*rows(0.1), method="label_shift_em", reference=reference)


def test_a_reference_prior_below_what_was_confirmed_is_refused():
    reference = ReferenceWindow.from_arrays(*rows(0.3), class_prior=0.01)
    with pytest.raises(InputError, match=r"class_prior=0\.01 is impossible"):
        pumonitor.estimate_class_prior(*rows(0.3), method="label_shift", reference=reference)


def test_a_reference_of_nothing_but_positives_is_refused():
    with pytest.raises(InputError, match="all positives by class_prior=1"):
        label_shift(samples(mixed(0.2), prior=known(1.0)))


# -- cells --------------------------------------------------------------------------------------


def test_equal_edges_are_compared_exactly():
    edges = [0.0, 1.0, 2.0, 3.0]
    window = ScoreTable.from_counts([1, 2, 3], [10, 20, 30], edges=edges)
    reference = ScoreTable.from_counts([3, 2, 1], [40, 30, 30], edges=edges)
    sample = two_windows(window, reference, prior=known(0.1))
    assert sample.labeled[0] == pytest.approx(np.array([4, 4, 4]) / 12)
    assert sample.unlabeled[0] == pytest.approx(np.array([10, 20, 30]) / 60)
    assert sample.reference.unlabeled[0] == pytest.approx([0.4, 0.3, 0.3])
    assert (sample.n_labeled, sample.n_unlabeled) == (12, 60)
    assert sample.reference.n_unlabeled == 100


def test_the_coarser_windows_cells_are_used_whole():
    fine = ScoreTable.from_arrays(*rows(0.3, size=5000))
    coarse = ScoreTable.from_counts([5, 5], [50, 50], edges=[-10.0, 1.0, 10.0])
    for pair in ((fine, coarse), (coarse, fine)):
        sample = two_windows(*pair, prior=known(0.1))
        assert len(sample.scores) == 2
        of_fine = sample.unlabeled if pair[0] is fine else sample.reference.unlabeled
        labels, scores = rows(0.3, size=5000)
        below = np.mean(scores[labels == 0] < 1.0)
        assert of_fine[0] == pytest.approx([below, 1 - below], abs=1e-3)


def test_ties_are_below_a_cut_or_not_below():
    table = ScoreTable.from_arrays([1, 1, 0, 0, 0], [0.2, 0.8, 0.2, 0.5, 0.8])
    below = shares_below(np.array([0.1, 0.2, 0.21, 0.5, 0.8, 0.9]), table, table.unlabeled)
    assert below == pytest.approx(np.array([0, 0, 1, 1, 2, 3]) / 3)


def test_weights_count_by_their_squares():
    labels, scores = rows(0.2, size=2000)
    even = ScoreTable.from_arrays(labels, scores)
    weights = np.where(np.arange(2000) % 2, 3.0, 1.0)
    uneven = ScoreTable.from_arrays(labels, scores, sample_weight=weights)
    sample = two_windows(uneven, even, prior=known(0.2))
    kept = weights[labels == 0]
    assert sample.n_unlabeled == pytest.approx(kept.sum() ** 2 / (kept**2).sum())
    assert sample.reference.n_unlabeled == np.sum(labels == 0)
