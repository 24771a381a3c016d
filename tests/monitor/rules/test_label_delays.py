"""The usual distribution of delays, and what it makes of a window."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pumonitor.monitor.rules.labels.label_delays import Arrived, UsualDelays

STEPS = 24
EDGES = np.arange(STEPS + 1) / STEPS


def exponential(mean, labels=1e6, complete=STEPS, index=0):
    """Counts that are exactly those expected."""
    counts = labels * np.diff(stats.expon(scale=mean).cdf(EDGES))
    return Arrived(
        index=index,
        counts=tuple(np.where(np.arange(STEPS) < complete, counts, 0.0)),
        complete=complete,
    )


def truncated_mean(mean):
    return float(stats.truncexpon(b=1 / mean, scale=mean).mean())


@pytest.mark.parametrize("times", [1.0, 1.5, 2.0, 3.0])
def test_delays_so_much_longer_are_told_from_those_that_came(times):
    """By the truncated exponential of scipy, whatever share comes too late to be seen."""
    usual = UsualDelays.of([exponential(1 / 3)])
    # A step's labels are taken to be spread evenly over it.
    assert usual.mean_times(times) == pytest.approx(truncated_mean(times / 3), abs=3e-3)
    found = usual.mean_of(exponential(times / 3))
    assert found.value == pytest.approx(truncated_mean(times / 3), abs=3e-3)
    assert usual.times(found.value) == pytest.approx(times, rel=0.03)


def test_windows_that_are_not_complete_leave_the_usual_distribution_as_it_is():
    """The chance of a step given that a label came by its end: known from both kinds of window."""
    whole = UsualDelays.of([exponential(1 / 3)])
    both = UsualDelays.of([exponential(1 / 3), exponential(1 / 3, labels=3e6, complete=12)])
    naive = np.cumsum(np.array(exponential(1 / 3).counts) + 3 * np.array(
        exponential(1 / 3, complete=12).counts
    ))  # fmt: skip
    assert both.reached == pytest.approx(whole.reached, abs=1e-12)
    assert np.abs(naive[:-1] / naive[-1] - whole.reached[1:-1]).max() > 0.1


def test_a_window_half_complete_is_compared_with_as_much_of_the_usual():
    usual = UsualDelays.of([exponential(1 / 3)])
    as_ever = usual.mean_of(exponential(1 / 3, complete=12))
    assert as_ever.value == pytest.approx(usual.mean, abs=1e-9)
    later = usual.mean_of(exponential(1.25 / 3, complete=12))
    assert later.value == pytest.approx(truncated_mean(1.25 / 3), abs=0.01)
    # Less of it is seen, so it is known less well.
    assert as_ever.se > 1.9 * usual.mean_of(exponential(1 / 3)).se


def test_the_error_is_that_of_a_mean():
    rng = np.random.default_rng(3)
    usual = UsualDelays.of([exponential(1 / 3)])
    values, errors = [], []
    for _ in range(400):
        delays = rng.exponential(1 / 3, 30)
        counts = np.histogram(delays, EDGES)[0]
        found = usual.mean_of(Arrived(index=0, counts=tuple(map(float, counts)), complete=STEPS))
        values.append(found.value)
        errors.append(found.se)
    assert np.std(values) == pytest.approx(np.mean(errors), rel=0.1)


def test_too_few_labels_or_steps_tell_nothing():
    assert UsualDelays.of([exponential(1 / 3, labels=0)]) is None
    usual = UsualDelays.of([exponential(1 / 3)])
    assert usual.mean_of(exponential(1 / 3, labels=0)) is None
    assert usual.mean_of(exponential(1 / 3, complete=1)) is None
    one_step = UsualDelays.of([Arrived(index=0, counts=(0.0, 9.0, 0.0), complete=3)])
    assert one_step.mean_of(Arrived(index=0, counts=(0.0, 3.0, 0.0), complete=3)) is None
