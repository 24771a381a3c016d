"""Bands against their definitions, and how often they hold the truth."""

import numpy as np
import pytest
from scipy import stats

from pumonitor.stats.distribution_bands import BANDS, SIMULTANEOUS, distribution_band

LEVEL = 0.9


def band_of(share, size, band, level=LEVEL, seed=0):
    return distribution_band(
        np.asarray(share), size, band=band, confidence_level=level, rng=np.random.default_rng(seed)
    )


def test_exact_is_the_interval_of_clopper_and_pearson():
    share = np.array([0, 1, 7, 19, 20]) / 20
    low, high = band_of(share, 20, "exact")
    for found, a, b in zip(share, low, high, strict=True):
        interval = stats.binomtest(round(found * 20), 20).proportion_ci(LEVEL, "exact")
        assert (a, b) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_bootstrap_is_what_resampling_gives():
    rng = np.random.default_rng(5)
    sample, points = np.sort(rng.normal(size=40)), np.array([-1.0, 0.1, 0.7, 1.9])
    share = np.mean(sample[:, np.newaxis] >= points, axis=0)
    resampled = rng.choice(sample, size=(20_000, 40))
    redrawn = np.mean(resampled[:, :, np.newaxis] >= points, axis=1)
    expected = np.quantile(redrawn, [0.05, 0.95], axis=0, method="inverted_cdf")
    assert np.abs(np.array(band_of(share, 40, "bootstrap")) - expected).max() <= 1 / 40 + 1e-12
    assert np.mean(np.isclose(np.array(band_of(share, 40, "bootstrap")), expected)) > 0.7


def test_many_rows_are_interpolated_without_loss():
    share = np.arange(5001) / 5000
    for band in ("exact", "bootstrap"):
        low, high = band_of(share, 5000, band)
        for index in (0, 3, 700, 2501, 4998, 5000):
            one = band_of(share[[index]], 5000, band)
            step = 2e-6 if band == "exact" else 1 / 5000
            assert low[index] == pytest.approx(one[0][0], abs=step)
            assert high[index] == pytest.approx(one[1][0], abs=step)


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("runs", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_holds_the_truth_as_often_as_it_says(band, runs):
    size = 80
    points = np.linspace(0.02, 0.98, 49)
    at_points, everywhere = np.zeros(len(points)), 0
    for run in range(runs):
        sample = np.random.default_rng([11, run]).random(size)
        share = np.mean(sample[:, np.newaxis] >= points, axis=0)
        low, high = band_of(share, size, band, seed=run)
        held = (low <= 1 - points) & (1 - points <= high)
        at_points += held
        everywhere += held[(points > 0.05) & (points < 0.95)].all()
    error = 3 * np.sqrt(LEVEL * (1 - LEVEL) / runs)
    if band in SIMULTANEOUS:
        assert everywhere / runs >= LEVEL - error
    elif band == "exact":
        assert (at_points / runs >= LEVEL - error).all()
    else:
        inner = (points > 0.1) & (points < 0.9)
        assert (at_points[inner] / runs >= LEVEL - error - 0.02).all()
        assert everywhere / runs < 0.8


def test_unknown_band_is_refused():
    with pytest.raises(ValueError, match="band must be one of bootstrap, exact, dkw"):
        band_of([0.5], 10, "normal")
