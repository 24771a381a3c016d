from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pumonitor.monitor.rules.detectors import standardise
from pumonitor.monitor.rules.detectors.standardise import Expected, Standardiser, learned
from pumonitor.monitor.rules.detectors.watch import DetectorState
from tests.monitor.rules.detectors.slow_filters import mixture


@pytest.mark.parametrize("seed", range(2))
def test_expectations_are_those_of_the_joint_distribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 9
    indices = np.cumsum(rng.integers(1, 4, count))
    values, errors = rng.normal(0.8, 0.03, count), rng.uniform(0.01, 0.04, count)
    unit = 0.02
    state = Standardiser.started(values[:1], errors[:1], unit=np.array([unit]))
    for at in range(1, count):
        state = state.ahead(int(indices[at] - indices[at - 1]))
        expected = state.expected(values[at : at + 1], errors[at : at + 1])
        mean, spread, below = mixture(
            values[: at + 1], errors[: at + 1], indices[: at + 1], unit=unit
        )
        assert expected.mean[0] == pytest.approx(mean, abs=1e-10)
        assert expected.spread[0] == pytest.approx(spread, rel=1e-9)
        assert expected.z[0] == pytest.approx(stats.norm.ppf(below), abs=1e-7)
        state = state.taught(values[at : at + 1], errors[at : at + 1])


@pytest.mark.parametrize("reference", [5, 20])
@pytest.mark.parametrize(("between", "stated"), [(0.0, 1.0), (1.0, 1.0), (0.5, 1.4)])
def test_z_is_normal_however_short_the_reference(
    reference: int, between: float, stated: float
) -> None:
    """`between` in standard errors; errors are stated too large by the factor `stated`."""
    rng = np.random.default_rng(3)
    series, windows = 1000, reference + 12
    true = 0.02 * np.exp(rng.normal(0.0, 0.3, (series, windows)))
    values = 0.8 + true * rng.normal(size=true.shape)
    values += between * 0.02 * rng.normal(size=true.shape)
    errors = stated * true
    state, _ = learned(
        values[:, :reference], errors[:, :reference], np.ones(reference, dtype=np.intp)
    )
    found = []
    for at in range(reference, windows):
        state = state.ahead(1)
        found.append(state.expected(values[:, at], errors[:, at]).z)
        state = state.taught(values[:, at], errors[:, at])
    z = np.array(found)
    assert abs(z.mean()) < 0.04
    assert z.std() == pytest.approx(1.0, abs=0.06 if reference > 5 else 0.12)
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.05, abs=0.028)
    assert np.mean(z < -3) < 0.0035
    assert np.mean(z > 3) < 0.0035
    # What is not known about one series is in all its windows, and still they are independent but
    # for deviations that might have lasted.
    assert -0.1 < np.mean(z[:-1] * z[1:]) < 0.03


def test_autocorrelation_is_learned() -> None:
    rng = np.random.default_rng(4)
    series, windows, reference = 200, 120, 60
    course = np.zeros((series, windows))
    course[:, 0] = rng.normal(size=series)
    for at in range(1, windows):
        course[:, at] = 0.9 * course[:, at - 1] + math.sqrt(0.19) * rng.normal(size=series)
    values = 0.03 * course + 0.01 * rng.normal(size=course.shape)
    errors = np.full_like(values, 0.01)
    state, _ = learned(values[:, :reference], errors[:, :reference], np.ones(60, dtype=np.intp))
    found = []
    for at in range(reference, windows):
        state = state.ahead(1)
        found.append(state.expected(values[:, at], errors[:, at]).z)
        state = state.taught(values[:, at], errors[:, at])
    z = np.array(found)
    assert abs(np.mean(z[:-1] * z[1:])) < 0.1
    assert z.std() == pytest.approx(1.0, abs=0.06)


def test_series_do_not_see_each_other() -> None:
    rng = np.random.default_rng(5)
    values, errors = rng.normal(size=(3, 8)), rng.uniform(0.5, 1.0, (3, 8))
    gaps = np.ones(8, dtype=np.intp)
    together, spreads = learned(values, errors, gaps)
    for one in range(3):
        alone, spread = learned(values[one : one + 1], errors[one : one + 1], gaps)
        assert alone.level[0] == pytest.approx(together.level[one], abs=1e-12)
        assert alone.log_weight[0] == pytest.approx(together.log_weight[one], abs=1e-9)
        assert spread[0] == pytest.approx(spreads[one])


def test_what_is_not_taught_leaves_no_trace() -> None:
    rng = np.random.default_rng(6)
    values, errors = rng.normal(size=(2, 6)), np.ones((2, 6))
    state, _ = learned(values, errors, np.ones(6, dtype=np.intp))
    taught = state.taught(np.array([3.0, 3.0]), np.ones(2), which=np.array([True, False]))
    assert np.abs(taught.level[0] - state.level[0]).max() > 0.1
    assert np.array_equal(taught.level[1], state.level[1])
    assert np.array_equal(taught.covariance[1], state.covariance[1])
    assert np.allclose(
        taught.log_weight[1] - taught.log_weight[1].max(),
        state.log_weight[1] - state.log_weight[1].max(),
    )
    expected = Expected(mean=np.zeros(2), spread=np.ones(2), z=np.array([-50.0, 3.9]))
    assert expected.near().tolist() == [False, True]


@pytest.mark.parametrize(
    ("jump", "least"), [(1e2, 7), (1e6, 15), (1e12, 20), (-1e12, 20), (1e150, 30)]
)
def test_z_of_a_huge_jump_is_finite(jump: float, least: float) -> None:
    rng = np.random.default_rng(7)
    state, _ = learned(rng.normal(size=(1, 10)), np.ones((1, 10)), np.ones(10, dtype=np.intp))
    expected = state.ahead(1).expected(np.array([jump]), np.ones(1))
    assert np.isfinite(expected.z[0])
    assert expected.z[0] * np.sign(jump) > least


def test_the_distribution_function_is_that_of_ten_degrees() -> None:
    distance = np.append(np.linspace(-50.0, 50.0, 201), [-1e20, 1e20])
    wanted = stats.t.cdf(distance * math.sqrt(10 / 8), 10)
    assert standardise._below(distance) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("fall", "days"), [(0.9, 26), (1.2, 15)])
def test_a_fall_after_a_short_reference_is_not_taken_for_a_deviation_that_lasts(
    fall: float, days: int
) -> None:
    """30 days cannot tell how long deviations last. `fall` in standard deviations of a day.

    Who knows that days are independent, but neither level nor spread, sees half in 16 and 10 days.
    """
    rng = np.random.default_rng(8)
    series, reference = 200, 30
    values = rng.normal(0.8, 0.075, (series, reference + days))
    values[:, reference:] -= fall * 0.075
    errors = np.full(values.shape, 0.05)
    watch = DetectorState.begun_after(
        values[:, :reference],
        errors[:, :reference],
        np.ones(reference, dtype=np.intp),
        direction="down",
        windows_per_alarm=365.0,
        detector="shiryaev-roberts",
    )
    seen = np.zeros(series, dtype=bool)
    for day in range(reference, reference + days):
        watch = watch.after(values[:, day], errors[:, day])
        seen |= watch.on
    assert seen.mean() >= 0.5
