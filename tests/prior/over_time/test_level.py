import numpy as np
import pytest

from pumonitor.prior.over_time import Level


def quantiles(level, at):
    reached = np.cumsum(level.weight) - 0.5 * level.weight
    return np.interp(at, reached, level.class_prior)


def test_a_given_level_has_its_interval():
    low, middle, high = quantiles(Level.given(0.05, 0.04, 0.0625), [0.025, 0.5, 0.975])
    assert [low, middle, high] == pytest.approx([0.04, 0.05, 0.0625], rel=0.02)


def test_an_estimate_of_an_upper_bound_is_likelier_too_high_than_too_low():
    given = Level.given(0.1, 0.03, 0.25)
    estimated = Level.estimated(0.1, 0.03, 0.25, confirmed_share=0.0)
    ratio = quantiles(estimated, [0.025, 0.5, 0.975]) / quantiles(given, [0.025, 0.5, 0.975])
    assert (ratio < [0.95, 0.85, 0.95]).all()


def test_no_level_is_below_what_is_confirmed():
    level = Level.estimated(0.05, 0.045, 0.2, confirmed_share=0.04)
    assert level.class_prior[0] >= 0.04
    assert level.weight.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("numbers", [(0.05, 0.06, 0.07), (0.05, 0.0, 0.07), (0.5, 0.4, 1.0)])
def test_an_impossible_level_is_refused(numbers):
    with pytest.raises(ValueError, match="0 < low <= value <= high < 1, got"):
        Level.given(*numbers)
