import dataclasses

import numpy as np
import pytest
from scipy import stats

from pumonitor.prior.over_time import Level, PriorFilter, variation, window_update
from pumonitor.prior.over_time.changes import CHANGES, PACES, drift, jump
from pumonitor.prior.over_time.conditionals import Frequency, Places
from pumonitor.prior.over_time.variation import Variation
from tests.oracles import prior_particles
from tests.prior.over_time.windows_shown import LEVEL, REFERENCE, window

LEVELS = [0.025, 0.25, 0.5, 0.75, 0.975]


def only(**own):
    """Windows that differ by so much, for certain."""
    wanted = np.array([own["prior"], own["frequency"], own["negatives"], 0.0, 1.0])
    at = np.abs(variation._POINTS - wanted).sum(axis=1).argmin()
    weight = np.where(np.arange(len(variation._POINTS)) == at, 0.0, -60.0)
    nothing = np.zeros(len(weight))
    return Variation(log_weight=weight, deviation=nothing, variance=nothing)


def test_the_hypotheses_about_a_window_are_all_there_is():
    assert sum(one.probability for one in CHANGES) == pytest.approx(1.0)
    kinds = {(one.prior, one.frequency, one.scores, one.burst) for one in CHANGES}
    assert len(kinds) == len(CHANGES)


@pytest.mark.parametrize("deviation", [0.003, 0.03, 0.2])
def test_drifts_have_their_variance_whatever_the_step(deviation):
    chances = drift(101, 0.085, {deviation: 1.0})
    steps = 0.085 * (np.arange(101) - 50)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert chances[50] @ steps**2 == pytest.approx(deviation**2, rel=1e-6)


def test_jumps_add_up_to_one_at_the_ends_as_well():
    assert jump(9, 0.1, deviation=0.5).sum(axis=1) == pytest.approx(1.0)


def test_the_number_confirmed_is_negative_binomial():
    frequency = Frequency(mean=np.array([0.3]), relative=np.array([0.04]))
    log_chance, after = frequency.after(17, np.array([70.0]), spread=0.0)
    shape = 25.0
    expected = stats.nbinom.logpmf(17, shape, shape / (shape + 21.0))
    assert log_chance[0] == pytest.approx(expected)
    assert after.mean[0] == pytest.approx((25 + 17) / (25 / 0.3 + 70))
    assert after.relative[0] == pytest.approx(1 / 42)


def test_windows_that_differ_by_themselves_tell_less_of_the_label_frequency():
    frequency = Frequency(mean=np.array([0.3]), relative=np.array([0.04]))
    _, alike = frequency.after(40, np.array([70.0]), spread=0.0)
    _, apart = frequency.after(40, np.array([70.0]), spread=0.1)
    assert 0.3 < apart.mean[0] < alike.mean[0]
    assert apart.relative[0] > alike.relative[0]


def test_places_are_conditioned_as_a_joint_normal_is():
    mean, covariance = np.array([8.0, 0.7]), np.array([[0.5, -0.02], [-0.02, 0.004]])
    one_one, one_zero, zero_zero = covariance[np.triu_indices(2)][:, np.newaxis]
    places = Places(
        one=mean[:1],
        zero=mean[1:],
        one_one=one_one,
        one_zero=one_zero,
        zero_zero=zero_zero,
    )
    for weights, (log_density, after) in (
        (np.array([0.06, 0.94]), places.after_all(1.3, 0.003, share=np.array([0.06]))[:2]),
        (np.array([1.0, 0.0]), places.after_positives(1.3, 0.003)),
    ):
        total = weights @ covariance @ weights + 0.003
        gain = covariance @ weights / total
        expected = stats.norm.logpdf(1.3, weights @ mean, np.sqrt(total))
        assert log_density[0] == pytest.approx(expected)
        assert [after.one[0], after.zero[0]] == pytest.approx(mean + gain * (1.3 - weights @ mean))
        left = covariance - np.outer(gain, weights @ covariance)
        found = [after.one_one[0], after.one_zero[0], after.zero_zero[0]]
        assert found == pytest.approx(left[np.triu_indices(2)])


@pytest.mark.parametrize(
    ("apart", "shown"),
    [
        (0.0, [window()] * 3),
        (0.0, [window(), window(confirmed=44, all_mean=1.37), window(confirmed=41, all_mean=1.35)]),
        (0.0, [window(), window(all_mean=0.85, confirmed_mean=5.0), window(all_mean=0.86)]),
        (0.0, [window(), window(confirmed=80), window()]),
        (0.45, [window(), window(confirmed=10), window(confirmed=12)]),
        (0.45, [window(), window(confirmed=40, all_mean=1.3)]),
        (0.45, [window(), window(confirmed=80), window()]),
    ],
    ids=[
        "nothing",
        "the prior doubles",
        "ranking breaks for a window",
        "a burst of confirmations",
        "windows differ, fewer are confirmed",
        "windows differ, one has more positives",
        "windows differ, and a burst",
    ],
)
def test_the_density_is_that_of_many_particles(apart, shown):
    """One pace, whose drifts the particles can have as well."""
    own = {"prior": apart, "frequency": 0.2 * (apart > 0), "negatives": 0.3 * (apart > 0)}
    begun = PriorFilter.begun(REFERENCE, LEVEL)
    followed = PriorFilter(begun.parts[:1], only(**own))
    for one in shown:
        found = followed.after(one)
        followed = dataclasses.replace(found, variation=followed.variation)
    pace = PACES[0]
    distance = begun.parts[0].scales.distance
    particles, of_window = prior_particles.followed(
        REFERENCE,
        LEVEL,
        shown,
        drifts={"prior": 0.003, "frequency": pace.frequency, "scores": pace.positives},
        jumps={
            "prior": 0.7,
            "frequency": 0.7,
            "positives": 0.6,
            "negatives": 1.2,
            "far": 0.35,
            "burst": 1.0,
        },
        own=own | {"negatives": own["negatives"] * distance},
        particles=400_000,
        seed=1,
    )
    assert followed.quantiles(LEVELS) == pytest.approx(np.quantile(particles, LEVELS), rel=0.06)
    found = followed.window_quantiles(LEVELS)
    assert found == pytest.approx(np.quantile(of_window, LEVELS), rel=0.06)


def test_windows_that_are_as_before_say_nothing_of_the_level():
    """With c and the places known only from the same windows, they say nothing of the level."""
    followed = PriorFilter.begun(REFERENCE, LEVEL)
    for _ in range(10):
        followed = followed.after(window(confirmed=22, all_mean=1.0))
    start = PriorFilter.begun(REFERENCE, LEVEL)
    assert followed.quantiles([0.5])[0] == pytest.approx(start.quantiles([0.5])[0], rel=0.03)
    low, high = followed.quantiles([0.025, 0.975])
    low_then, high_then = start.quantiles([0.025, 0.975])
    assert 0.9 < np.log(high / low) / np.log(high_then / low_then) < 1.25


def test_a_move_of_the_prior_tells_its_level():
    """F2 - F1 = lambda (G - F1): who sees the prior double sees how far the mean index moves."""
    wide = Level.given(0.06, 0.02, 0.18)
    reference = window(rows=60_000, confirmed=900, all_mean=1.0)
    followed = PriorFilter.begun(reference, wide)
    # pi from .04 to .08 with mu1 = 8: mu0 = .708, so M = 1 - .04 8 ... + .08 8 ... = 1.292.
    negatives = (1 - 0.04 * 8) / 0.96
    later = negatives + 0.08 * (8 - negatives)
    for _ in range(8):
        followed = followed.after(window(rows=6000, confirmed=180, all_mean=later))
    low, middle, high = followed.quantiles([0.025, 0.5, 0.975])
    assert low < 0.08 < high
    assert middle == pytest.approx(0.08, rel=0.15)
    assert high / low < 2.2


def test_a_window_without_confirmations_is_no_window_without_rows():
    followed = PriorFilter.begun(REFERENCE, LEVEL).after(window(confirmed=0))
    assert np.isfinite(followed.quantiles(LEVELS)).all()
    assert followed.changes()["nothing"] < 0.5


def test_labels_still_to_come_are_no_fall_of_the_prior():
    quarter = [window(confirmed=6, arrived=0.25, arrived_variance=0.01)] * 3
    followed = PriorFilter.begun(REFERENCE, LEVEL)
    taken_for_all = followed
    for one in quarter:
        followed = followed.after(one)
        taken_for_all = taken_for_all.after(dataclasses.replace(one, arrived=1.0))
    assert followed.moved() < 0.05
    assert followed.changes()["nothing"] > 0.95
    # Only the count has fallen: the scores say that the prior has not.
    assert taken_for_all.changes()["nothing"] < followed.changes()["nothing"]


def test_a_label_frequency_above_one_is_ruled_out():
    """A confirmed share of 4% leaves no prior of 3%."""
    reference = window(rows=15_000, confirmed=600)
    followed = PriorFilter.begun(reference, Level.given(0.05, 0.02, 0.12))
    assert followed.quantiles([0.001])[0] > 0.036


def test_the_same_windows_give_the_same_numbers():
    def last():
        followed = PriorFilter.begun(REFERENCE, LEVEL)
        for one in (window(confirmed=30), window(all_mean=1.2)):
            followed = followed.after(one)
        return followed.quantiles(LEVELS).tolist()

    assert last() == last()


def test_impossible_windows_are_refused():
    with pytest.raises(ValueError, match="0 <= confirmed <= rows and rows > 0, got 30 of 20"):
        window(rows=20, confirmed=30)
    with pytest.raises(ValueError, match=r"0 < arrived <= 1 and its variance >= 0, got 0 and 0"):
        window(arrived=0.0)
    with pytest.raises(ValueError, match="without confirmed rows"):
        PriorFilter.begun(window(confirmed=0), LEVEL)


def test_every_change_that_a_window_can_show_has_a_name():
    assert {one.name for one in CHANGES} == set(
        PriorFilter.begun(REFERENCE, LEVEL).after(window()).changes()
    )


def chance_of_path(shown, *, prior, upto):
    """Log density of the windows if the ranking and one of both change in the second, no more."""
    names = {"prior and ranking"} if prior else {"label frequency and ranking"}
    total = []
    for scores in ("ranking", "ranking, far"):
        part = PriorFilter.begun(REFERENCE, LEVEL).parts[0]
        for place, one in enumerate(shown[:upto]):
            wanted = names if place == 1 else {"nothing"}
            chosen = [
                one.probability if one.name in wanted and one.scores in (scores, "as before") else 0
                for one in CHANGES
            ]
            with pytest.MonkeyPatch.context() as patch, np.errstate(divide="ignore"):
                least = np.maximum(np.log(chosen), -1e5)
                patch.setattr(window_update, "_LOG_PROBABILITY", least)
                part = part.after(one, Variation.none().next_window(expected=22))
        total.append(part.log_evidence)
    return float(np.logaddexp(*total))


def test_what_jumps_with_the_ranking_is_as_likely_as_its_one_path():
    """Half are confirmed and the ranking breaks: a path alone is exact, all paths are mixed.

    Were a label frequency that has just jumped one gamma with one that has not, the prior, which
    the grid holds apart, would win ten to one.
    """
    broken = [
        window(confirmed=count, confirmed_mean=high, all_mean=0.85)
        for count, high in ((12, 3.0), (9, 2.0), (11, 2.5), (9, 3.0), (12, 2.0), (10, 2.4))
    ]
    shown = [window(), *broken]
    odds = chance_of_path(shown, prior=True, upto=7) - chance_of_path(shown, prior=False, upto=7)
    begun = PriorFilter.begun(REFERENCE, LEVEL)
    followed = PriorFilter(begun.parts[:1], begun.variation)
    for one in shown:
        followed = followed.after(one)
    found = {one.changed: one.chance for one in followed.explanations()}
    ratio = found["class prior", "ranking"] / found["label frequency", "ranking"]
    assert np.log(ratio) == pytest.approx(odds, abs=0.4)


def test_a_level_keeps_its_interval_among_points_of_little_weight():
    """Moves that hold next to nothing lie between the levels: quantiles must not stick to these."""
    followed = PriorFilter.begun(REFERENCE, Level.given(0.05, 0.041, 0.0608))
    for _ in range(4):
        low, middle, high = followed.quantiles([0.025, 0.5, 0.975])
        assert middle == pytest.approx(0.05, rel=0.03)
        assert np.log(high / low) == pytest.approx(np.log(0.0608 / 0.041), rel=0.12)
        followed = followed.after(window())


def test_a_series_that_never_drifted_may_begin_to():
    followed = PriorFilter.begun(REFERENCE, LEVEL)
    for _ in range(60):
        followed = followed.after(window())
    assert 1 / 250 < followed.shares()[1] < 0.2
