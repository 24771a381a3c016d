from __future__ import annotations

import numpy as np
import pytest

from pumonitor.monitor.rules.detectors.shifts import SIZES
from pumonitor.monitor.rules.detectors.shiryaev_roberts import ShiryaevRoberts
from tests.monitor.rules.detectors.slow_filters import shiryaev_roberts


def normal_log_ratios(rng: np.random.Generator, series: int) -> np.ndarray:
    """Of N(0, 1), for the usual sizes."""
    sizes = np.array(SIZES)
    return rng.normal(size=(series, 1)) * sizes - 0.5 * sizes**2


def test_it_is_the_sum_over_all_beginnings() -> None:
    rng = np.random.default_rng(0)
    ratios = np.exp(rng.normal(0.0, 0.7, (12, 3)))
    state = ShiryaevRoberts(limit=10.0, log_sums=np.full((1, 3), -np.inf))
    for row, wanted in zip(ratios, shiryaev_roberts(ratios.tolist()), strict=True):
        state = state.after(np.log(row)[np.newaxis])
        assert state.statistic()[0] == pytest.approx(wanted)


def test_less_the_number_of_windows_it_is_a_martingale() -> None:
    """E R_t = t; sizes at which the mean is not made by a few series alone."""
    rng = np.random.default_rng(1)
    series, windows = 40_000, 12
    state = ShiryaevRoberts(limit=1e9, log_sums=np.full((series, 2), -np.inf))
    sizes = np.array([0.3, 0.6])
    for window in range(1, windows + 1):
        state = state.after(rng.normal(size=(series, 1)) * sizes - 0.5 * sizes**2)
        statistic = state.statistic()
        error = statistic.std() / np.sqrt(series)
        assert abs(statistic.mean() - window) < 4 * error


@pytest.mark.parametrize("windows_per_alarm", [52, 365])
def test_false_alarms_come_at_the_rate_asked_for(windows_per_alarm: int) -> None:
    rng = np.random.default_rng(2)
    series, windows = 1500, 2 * windows_per_alarm
    state = ShiryaevRoberts.of_shifts(series, len(SIZES), windows_per_alarm)
    alarms = 0
    for _ in range(windows):
        state = state.after(normal_log_ratios(rng, series))
        due = state.statistic() >= state.limit
        alarms += int(due.sum())
        state = state.cleared(due)
    assert alarms / (series * windows) * windows_per_alarm == pytest.approx(0.72, abs=0.07)


def test_for_bets_the_limit_is_the_run_length_itself() -> None:
    assert ShiryaevRoberts.of_bets(1, 4, 365.0).limit == 365.0
    assert ShiryaevRoberts.of_shifts(1, 5, 365.0).limit < 250


def test_clearing_some_series_leaves_the_others() -> None:
    state = ShiryaevRoberts(limit=5.0, log_sums=np.array([[1.0, 2.0], [3.0, 4.0]]))
    cleared = state.cleared(np.array([True, False]))
    assert cleared.log_sums.tolist() == [[-np.inf, -np.inf], [3.0, 4.0]]
    assert state.strongest().tolist() == [1, 1]


def test_evidence_beyond_all_numbers_stays_finite() -> None:
    state = ShiryaevRoberts(limit=5.0, log_sums=np.full((1, 2), -np.inf))
    for _ in range(5):
        state = state.after(np.array([[1e6, -np.inf]]))
    assert np.isfinite(state.statistic()).all()
    assert state.log_sums[0, 1] == -np.inf
    assert state.strongest()[0] == 0
