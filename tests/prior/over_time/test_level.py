import numpy as np
import pytest

from pumonitor.prior.over_time import Level, auc_against_all


def quantiles(level, at):
    reached = np.cumsum(level.weight) - 0.5 * level.weight
    return np.interp(at, reached, level.class_prior)


def test_a_given_level_has_its_interval():
    low, middle, high = quantiles(Level.given(0.05, 0.04, 0.0625), [0.025, 0.5, 0.975])
    assert [low, middle, high] == pytest.approx([0.04, 0.05, 0.0625], rel=0.02)


def test_ends_that_are_not_alike_are_the_levels_as_well():
    low, middle, high = quantiles(Level.given(0.05, 0.02, 0.06), [0.025, 0.5, 0.975])
    assert [low, middle, high] == pytest.approx([0.02, 0.05, 0.06], rel=0.05)


def test_an_estimate_is_likelier_too_high_than_too_low_the_worse_the_model_ranks():
    given = quantiles(Level.given(0.1, 0.03, 0.25), [0.025, 0.5, 0.975])
    weak, good = (
        quantiles(
            Level.estimated(0.1, 0.03, 0.25, confirmed_share=0.0, auc=auc), [0.025, 0.5, 0.975]
        )
        / given
        for auc in (0.6, 0.97)
    )
    assert (weak < [0.5, 0.6, 0.8]).all()
    assert good == pytest.approx([0.72, 0.88, 1.04], abs=0.05)


def test_the_auc_against_all_rows_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    rows = rng.integers(1, 9, size=7).astype(float)
    confirmed = rng.binomial(rows.astype(int), 0.4).astype(float)
    scores = np.arange(7)
    ones, everyone = np.repeat(scores, confirmed.astype(int)), np.repeat(scores, rows.astype(int))
    above = np.greater.outer(ones, everyone) + 0.5 * np.equal.outer(ones, everyone)
    assert auc_against_all(confirmed, rows) == pytest.approx(above.mean())


def test_no_level_is_below_what_is_confirmed():
    level = Level.estimated(0.05, 0.045, 0.2, confirmed_share=0.04)
    assert level.class_prior[0] >= 0.04
    assert level.weight.sum() == pytest.approx(1.0)


def test_levels_far_below_an_estimate_are_there_once_each():
    level = Level.estimated(0.14, 0.10, 0.18, confirmed_share=0.009)
    assert level.class_prior[0] == pytest.approx(0.009, rel=0.05)
    assert (np.diff(level.class_prior) > 0).all()


@pytest.mark.parametrize("numbers", [(0.05, 0.06, 0.07), (0.05, 0.0, 0.07), (0.5, 0.4, 1.0)])
def test_an_impossible_level_is_refused(numbers):
    with pytest.raises(ValueError, match="0 < low <= value <= high < 1, got"):
        Level.given(*numbers)
