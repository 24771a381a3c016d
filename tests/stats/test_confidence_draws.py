"""Quantiles of confidence draws are the classical intervals."""

import numpy as np
import pytest
from scipy import special, stats

from pumonitor.stats.confidence_draws import (
    interval,
    log_t_draws,
    logit_t_draws,
    share_draws,
    split_normal_logit_draws,
)
from pumonitor.stats.resampling import share_resamples


def test_share_draws_are_jeffreys_interval():
    draws = share_draws(17, 20, size=200_000, rng=np.random.default_rng(0))
    low, high = interval(draws, confidence_level=0.9)
    expected = stats.beta.ppf([0.05, 0.95], 17.5, 3.5)
    assert (low, high) == pytest.approx(tuple(expected), abs=0.003)


def test_logit_t_draws_are_students_interval_on_the_logit_scale():
    draws = logit_t_draws(0.8, 0.05, 7, order=np.random.default_rng(0).permutation(10_000))
    low, high = interval(draws, confidence_level=0.95)
    reach = stats.t.ppf(0.975, 7) * 0.05 / (0.8 * 0.2)
    centre = special.logit(0.8)
    assert low == pytest.approx(special.expit(centre - reach), abs=1e-3)
    assert high == pytest.approx(special.expit(centre + reach), abs=1e-3)


def test_logit_t_draws_outside_the_unit_interval_are_on_the_plain_scale():
    draws = logit_t_draws(1.1, 0.05, 1e6, order=np.random.default_rng(0).permutation(10_001))
    assert np.median(draws) == pytest.approx(1.1)
    assert draws.std() == pytest.approx(0.05, rel=0.01)


def test_no_error_is_no_spread():
    assert set(logit_t_draws(0.7, 0.0, 5, order=np.random.default_rng(0).permutation(10))) == {0.7}


def test_prior_draws_return_the_interval_they_were_made_of():
    draws = split_normal_logit_draws(
        0.3, 0.1, 0.35, confidence_level=0.8, order=np.random.default_rng(0).permutation(20_001)
    )
    quantiles = np.quantile(draws, [0.1, 0.5, 0.9])
    assert quantiles == pytest.approx([0.1, 0.3, 0.35], abs=1e-3)


def test_interval_of_draws_without_a_value_is_undefined():
    assert np.isnan(interval(np.full(5, np.nan), confidence_level=0.9)).all()


def test_resamples_have_the_spread_of_a_multinomial_and_the_mean_of_the_data():
    counts = np.array([0.0, 3.0, 6.0, 21.0])
    spread = np.array([0.25, 0.25, 0.25, 0.25])
    draws = share_resamples(
        counts, counts, pseudo_row=spread, size=50_000, rng=np.random.default_rng(0)
    )
    assert draws.sum(axis=1) == pytest.approx(np.ones(50_000))
    assert draws.mean(axis=0) == pytest.approx(counts / 30, abs=2e-3)
    assert draws[:, 3].std() == pytest.approx((0.7 * 0.3 / 31) ** 0.5, rel=0.06)
    assert draws[:, 0].std() > 0


def test_log_t_draws_are_students_interval_on_the_log_scale():
    draws = log_t_draws(0.4, 0.1, 9, order=np.random.default_rng(0).permutation(10_000))
    reach = np.exp(stats.t.ppf(0.975, 9) * 0.25)
    expected = (0.4 / reach, 0.4 * reach)
    assert interval(draws, confidence_level=0.95) == pytest.approx(expected, rel=5e-3)


def test_log_t_draws_of_nothing_are_on_the_plain_scale():
    draws = log_t_draws(0.0, 0.1, 1e6, order=np.random.default_rng(0).permutation(10_001))
    assert draws.std() == pytest.approx(0.1, rel=0.01)


def test_resamples_of_weighted_cells_have_the_spread_of_the_weights():
    """Cells of one row each: the share of the first two varies as the linearised variance says."""
    weight = np.array([1.0, 4.0, 2.0, 1.0, 2.0] * 40)
    draws = share_resamples(weight, weight**2, size=20_000, rng=np.random.default_rng(0))
    first = np.arange(len(weight)) % 5 < 2
    share = weight[first].sum() / weight.sum()
    variance = np.sum(weight**2 * (first - share) ** 2) / weight.sum() ** 2
    assert draws[:, first].sum(axis=1).std() == pytest.approx(variance**0.5, rel=0.03)


@pytest.mark.parametrize("degrees", [1.0, 1.3, 2.0, 4.5, 30.0, 1e3, 1e7])
@pytest.mark.parametrize("size", [400, 10_001])
def test_draws_are_students_quantiles_to_twelve_digits(degrees, size):
    draws = np.sort(
        logit_t_draws(-1.0, 1.0, degrees, order=np.random.default_rng(0).permutation(size))
    )
    expected = special.stdtrit(degrees, (np.arange(size) + 0.5) / size)
    assert draws + 1.0 == pytest.approx(expected, rel=1e-11, abs=1e-12)
