"""How much windows differ by themselves, and whose own it is: the class prior, or the rest."""

import numpy as np
import pytest

from pumonitor.prior.over_time.variation import Residual, Variation


def learned(rng, windows=30, *, prior=0.0, frequency=0.0, negatives=0.0, kept=0.0, index=0.1):
    """From windows that differ so, 100 confirmed in each."""
    found, deviation = Variation.unknown(), prior * rng.normal()
    for _ in range(windows):
        deviation = kept * deviation + np.sqrt(1 - kept**2) * prior * rng.normal()
        own = deviation - 0.5 * prior**2
        found = found.after(
            Residual(
                confirmed=own + frequency * rng.normal() + 0.1 * rng.normal(),
                confirmed_variance=0.01,
                index=own + np.hypot(negatives, index) * rng.normal(),
                index_variance=index**2,
            )
        )
    return found


def deviations(found):
    """Standard deviations of class prior, label frequency and negatives."""
    return np.sqrt(found.of_mean(1))


@pytest.mark.parametrize(
    ("truth", "most"),
    [
        ({}, (0.1, 0.1, 0.1)),
        ({"prior": 0.4}, (0.55, 0.15, 0.2)),
        # Or the class prior of rows that are alike in all windows: nobody knows which.
        ({"frequency": 0.4}, (0.35, 0.55, 0.2)),
        ({"negatives": 0.8}, (0.15, 0.15, 1.1)),
    ],
    ids=["alike", "class priors", "label frequencies", "negatives"],
)
def test_what_windows_differ_by_is_learned_from_counts_and_scores_together(truth, most):
    rng = np.random.default_rng(1)
    found = np.mean([deviations(learned(rng, **truth)) for _ in range(10)], axis=0)
    names = ("prior", "frequency", "negatives")
    assert (found < most).all()
    for name, one in zip(names, found, strict=True):
        assert one > 0.45 * truth.get(name, 0.0)


def test_without_scores_nobody_knows_which_it_is():
    rng = np.random.default_rng(2)
    found = learned(rng, prior=0.4, index=30.0).next_window(expected=100.0)
    assert found.variance > 0.05
    assert found.share_variance > 0.01
    sure = learned(rng, prior=0.4).next_window(expected=100.0)
    assert sure.share_variance < found.share_variance


def test_deviations_that_last_are_carried_on():
    rng = np.random.default_rng(3)
    for kept, least, most in ((0.0, -0.1, 0.1), (0.7, 0.2, 0.5)):
        found = learned(rng, 60, prior=0.4, kept=kept)
        high = found.after(
            Residual(confirmed=0.6, confirmed_variance=0.01, index=0.6, index_variance=0.01)
        )
        ahead = high.next_window(expected=100.0)
        level = -0.5 * 0.4**2
        assert least < ahead.mean - level < most


def test_a_burst_does_not_teach_that_all_windows_differ():
    rng = np.random.default_rng(4)
    found = learned(rng, prior=0.1)
    burst = Residual(confirmed=1.6, confirmed_variance=0.01, index=0.0, index_variance=0.01)
    before, after = (one.next_window(expected=100.0) for one in (found, found.after(burst)))
    assert after.variance < 2 * before.variance + 0.01
    assert after.frequency < 0.1


def test_means_of_windows_differ_by_less_unless_neighbours_are_alike():
    rng = np.random.default_rng(5)
    alone = learned(rng, 60, prior=0.4)
    alike = learned(rng, 60, prior=0.4, kept=0.7)
    assert alone.of_mean(12)[0] == pytest.approx(alone.of_mean(1)[0] / 12, rel=0.5)
    assert alike.of_mean(12)[0] > 1.5 * alone.of_mean(12)[0]


def test_windows_alike_for_certain_stay_so():
    found = Variation.none()
    for off in (2.0, -2.0):
        found = found.after(
            Residual(confirmed=off, confirmed_variance=0.01, index=np.nan, index_variance=np.nan)
        )
    assert found.next_window(expected=20.0).variance < 1e-6
