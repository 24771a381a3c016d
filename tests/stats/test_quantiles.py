"""Quantiles are NumPy's to the last digit, whatever the draws."""

import numpy as np
import pytest

from pumonitor.stats.quantiles import both_tails, quantiles

SHARES = [0.0, 0.025, 0.1, 1 / 3, 0.5, 0.6, 0.975, 1.0]


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (11,), (2000,), (3, 2), (40, 7), (500, 4)])
@pytest.mark.parametrize("kind", ["scattered", "tied", "wide"])
def test_they_are_numpys_to_the_last_digit(shape, kind):
    rng = np.random.default_rng(0)
    for _ in range(10):
        draws = rng.normal(size=shape)
        if kind == "tied":
            draws = np.round(draws) * 0.1
        elif kind == "wide":
            draws = np.exp(20 * draws)
        np.testing.assert_array_equal(
            quantiles(draws, SHARES), np.quantile(draws, SHARES, axis=0), strict=True
        )


def test_a_column_with_nan_has_none_and_no_draw_is_moved():
    draws = np.array([[3.0, 1.0], [np.nan, 0.0], [1.0, 2.0]])
    before = draws.copy()
    found = quantiles(draws, [0.5, 1.0])
    assert np.isnan(found[:, 0]).all()
    assert found[:, 1].tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(draws, before)


@pytest.mark.parametrize("draws", [1, 2, 3, 40, 999, 1000, 1001, 10_000])
@pytest.mark.parametrize("share", [0.0, 1e-17, 0.002, 0.025, 0.05, 0.2, 0.3, 0.49999, 0.5])
@pytest.mark.parametrize("kind", ["scattered", "tied", "wide"])
def test_both_tails_are_numpys_to_the_last_digit(draws, share, kind):
    rng = np.random.default_rng(draws)
    for _ in range(5):
        values = rng.normal(size=draws)
        if kind == "tied":
            values = np.round(values) * 0.1
        elif kind == "wide":
            values = np.exp(20 * values)
        before = values.copy()
        assert both_tails(values, share) == tuple(np.quantile(values, [share, 1 - share]))
        np.testing.assert_array_equal(values, before)
