"""A window beside those of a reference, which differ by themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pumonitor.monitor.rules.reference.compared import compared
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain


def window(value: float, se: float, metric: str = "recall") -> dict[str, Uncertain]:
    reach = 1.959964 * se
    return {metric: Uncertain(value=value, low=value - reach, high=value + reach, se=se)}


def test_a_window_with_errors_like_the_others_has_the_prediction_interval_of_a_normal_sample():
    values = [0.30, 0.54, 0.36, 0.48, 0.42, 0.42]
    reference = ReferenceWindows(windows=[window(v, 0.04) for v in values])
    found = compared("recall", window(0.2, 0.04), reference)
    half = stats.t.ppf(0.975, 5) * np.std(values, ddof=1) * math.sqrt(1 + 1 / 6)
    change = 0.2 - np.mean(values)
    assert found.limit == pytest.approx(np.mean(values))
    assert (found.change.value, found.change.low, found.change.high) == pytest.approx(
        (change, change - half, change + half), abs=1e-6
    )
    # How far it is from their mean is known better than how unusual that is.
    assert found.measured.high - found.measured.low < 1.2 * half


def test_a_spread_that_is_wider_below_is_as_wide_there_as_it_is():
    reference = ReferenceWindows(windows=[window(v, 1e-9) for v in (0.9, 0.8, 0.9, 0.8, 0.1)])
    usual = reference.usual("recall")
    assert usual.value == pytest.approx(0.7)
    assert usual.below == pytest.approx(0.6)
    assert usual.above == pytest.approx(np.std([0.9, 0.8, 0.9, 0.8, 0.1], ddof=1))
    found = compared("recall", window(0.5, 1e-9), reference).change
    half = stats.t.ppf(0.975, 4) * math.hypot(0.6, usual.mean_error)
    assert found.high == pytest.approx(-0.2 + half)


def test_a_share_of_what_is_usual_has_that_share_of_what_windows_differ_by():
    reference = ReferenceWindows(windows=[window(v, 0.01) for v in (0.3, 0.5, 0.4, 0.6)])
    whole, half = (
        compared("recall", window(0.2, 1e-9), reference, times=times) for times in (1.0, 0.5)
    )
    assert half.limit == pytest.approx(0.225)
    assert half.change.high - half.change.value == pytest.approx(
        0.5 * (whole.change.high - whole.change.value), rel=1e-6
    )


def test_counts_of_windows_are_compared_with_counts_of_windows():
    """Not with those of the whole reference, and not as if they never varied."""
    counts = [95, 110, 102, 88, 105]
    reference = ReferenceWindows(windows=[window(n, 0.0, "predictions") for n in counts])
    found = compared("predictions", window(90, 0.0, "predictions"), reference, times=0.9)
    assert found.limit == pytest.approx(90.0)
    assert found.change.low < 0 < found.change.high


@pytest.mark.parametrize("known", [0, 1, 2])
def test_too_few_windows_say_so(known):
    reference = ReferenceWindows(windows=[window(0.4, 0.1)] * known + [{}])
    reason = reference.why_none("recall", "Recall")
    assert (
        reason
        == {
            0: "the reference has no possible value of Recall",
            1: "the reference has 1 window with Recall, and 3 are needed to estimate how much "
            "windows vary when nothing changes",
            2: "the reference has 2 windows with Recall, and 3 are needed to estimate how much "
            "windows vary when nothing changes",
        }[known]
    )
    with pytest.raises(ValueError, match="the reference has"):
        reference.usual("recall")


def test_without_a_followed_prior_windows_have_the_level_itself():
    factor = ReferenceWindows(windows=[window(0.4, 0.1)] * 3).factor("recall")
    assert factor == Uncertain(value=1.0, low=1.0, high=1.0, se=0.0)


def test_values_are_those_of_windows_that_have_all_that_is_named():
    prior, delay = (window(value, 0.0, name) for value, name in ((0.1, "class_prior"), (3, "rows")))
    some = window(0.4, 0.1) | prior, window(0.5, 0.1) | prior | delay, window(0.6, 0.1), prior
    reference = ReferenceWindows(windows=some)
    assert reference.values("recall").tolist() == [0.4, 0.5, 0.6]
    assert reference.values("recall", "class_prior").tolist() == [0.4, 0.5]
    assert reference.values("recall", "class_prior", "rows").tolist() == [0.5]


def _false_alarms(
    *, windows: int, between: float, shared: float, runs: int = 4000, seed: int = 7
) -> tuple[float, float]:
    """How often a quiet window has an interval of the change below 0, and above it."""
    rng = np.random.default_rng([seed, windows])
    errors = rng.uniform(0.5, 1.5, (runs, windows + 1))
    common = np.repeat(rng.normal(scale=shared, size=(runs, 2)), [windows, 1], axis=1)
    own = np.sqrt(np.maximum(errors**2 - shared**2, 0)) * rng.normal(size=errors.shape)
    values = common + own + rng.normal(scale=between, size=errors.shape)
    below = above = 0
    for row, stated in zip(values, errors, strict=True):
        some = [window(v, s) for v, s in zip(row, stated, strict=True)]
        found = compared("recall", some[-1], ReferenceWindows(windows=some[:-1])).change
        below += found.high < 0
        above += found.low > 0
    return below / runs, above / runs


@pytest.mark.slow
@pytest.mark.parametrize(("between", "shared"), [(0.0, 0.0), (0.7, 0.0), (2.0, 0.0), (0.0, 0.45)])
@pytest.mark.parametrize("windows", [3, 5, 10, 30])
def test_quiet_windows_are_below_the_reference_as_rarely_as_the_level_says(
    windows, between, shared
):
    """Whether windows differ by themselves, or their errors are in common.

    Both at once hide each other: with .7 and .45 it is 3.8% in place of 2.5%.
    """
    rates = _false_alarms(windows=windows, between=between, shared=shared)
    assert max(rates) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 4000)


def test_windows_that_differ_by_themselves_are_no_evidence():
    rates = _false_alarms(windows=10, between=2.0, shared=0.0, runs=600)
    assert max(rates) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 600)
