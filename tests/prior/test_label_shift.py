"""Label shift from a reference sample: by hand, against other solvers, intervals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from pumonitor.errors import InputError
from pumonitor.prior import METHODS
from pumonitor.prior.reference_window.label_shift import label_shift, label_shift_with_interval
from pumonitor.prior.reference_window.label_shift_em import (
    label_shift_em,
    label_shift_em_with_interval,
)
from pumonitor.prior.samples.reference import Reference
from tests.prior.shifted_samples import (
    CELLS,
    NEGATIVE,
    POSITIVE,
    POSTERIOR,
    known,
    mixed,
    samples,
)

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
