"""Share of inversions against counting pairs one by one, and against Somers' D."""

import itertools

import numpy as np
import pytest
from scipy import stats

from pumonitor.metrics import share_of_inversions


def counted(estimated, truth):
    """Each pair looked at by itself."""
    wrong = pairs = 0.0
    for i, j in itertools.combinations(range(len(truth)), 2):
        if truth[i] == truth[j]:
            continue
        pairs += 1
        better, worse = (i, j) if truth[i] > truth[j] else (j, i)
        if estimated[better] < estimated[worse]:
            wrong += 1
        elif estimated[better] == estimated[worse]:
            wrong += 0.5
    return wrong / pairs


@pytest.mark.parametrize("models", [2, 3, 4, 7, 8, 9, 31, 64, 100])
@pytest.mark.parametrize("levels", [3, 12, 10_000])
def test_equals_pairs_counted_one_by_one(models, levels):
    rng = np.random.default_rng([models, levels])
    truth = rng.integers(levels, size=models) / levels
    truth[0] = truth[1] + 0.5
    estimated = np.round(truth + rng.gumbel(size=models) * 0.2, 1)
    assert share_of_inversions(estimated, truth) == counted(estimated, truth)


def test_is_somers_d_turned_round():
    rng = np.random.default_rng(5)
    truth = np.round(rng.random(60), 1)
    estimated = np.round(truth + rng.normal(size=60) * 0.3, 1)
    somers = stats.somersd(truth, estimated).statistic
    assert share_of_inversions(estimated, truth) == pytest.approx((1 - somers) / 2, abs=1e-14)


def test_repetitions_go_along_leading_axes():
    rng = np.random.default_rng(8)
    truth = np.round(rng.random((4, 1, 13)), 1)
    estimated = np.round(truth + 0.2 * rng.normal(size=(4, 3, 13)), 1)
    shares = share_of_inversions(estimated, truth)
    assert shares.shape == (4, 3)
    for a, b in itertools.product(range(4), range(3)):
        assert shares[a, b] == counted(estimated[a, b], truth[a, 0])


def test_ends_of_the_scale():
    truth = [0.2, 0.9, 0.5, 0.7]
    assert share_of_inversions(truth, truth) == 0.0
    assert share_of_inversions([-value for value in truth], truth) == 1.0
    assert share_of_inversions([3.0, 3.0, 3.0, 3.0], truth) == 0.5


def test_ties_in_the_truth_are_left_out():
    # Only the pairs with the last model count: one right, one wrong.
    assert share_of_inversions([0.1, 0.3, 0.2], [0.4, 0.4, 0.6]) == 0.5
    assert np.isnan(share_of_inversions([0.1, 0.3], [0.4, 0.4]))


def test_many_models_take_no_table_of_pairs():
    truth = np.arange(300_000.0)
    estimated = truth.copy()
    estimated[:1000] = estimated[:1000][::-1]
    expected = (1000 * 999 / 2) / (300_000 * 299_999 / 2)
    assert share_of_inversions(estimated, truth) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("estimated", "truth", "message"),
    [
        ([0.5], [0.4], "two models or more, got 1"),
        ([0.5, np.nan, 0.1], [0.4, 0.2, 0.1], "estimated has 1 values of 3 .* index 1: leave"),
        ([[0.5, 0.2], [0.3, np.inf]], [0.4, 0.2], r"index \(1, 1\)"),
        ([0.5, 0.1], [0.4, np.nan], "truth has 1 values of 2"),
        (0.5, 0.4, "estimated must hold one number per model, got the single number 0.5"),
    ],
)
def test_refuses_what_has_no_order(estimated, truth, message):
    with pytest.raises(ValueError, match=message):
        share_of_inversions(estimated, truth)
