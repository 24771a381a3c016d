import numpy as np
import pytest
from scipy import optimize, special, stats

from pumonitor.prior.over_time import Level, PriorFilter, WindowSummary
from pumonitor.prior.over_time.since_reference import _beyond, _Normals, _quantiles
from tests.prior.over_time.windows_shown import LEVEL, REFERENCE, window


def after(*windows, begun=None):
    followed = begun or PriorFilter.begun(REFERENCE, LEVEL)
    for one in windows:
        followed = followed.after(one)
    return followed


def chance(followed, *changed):
    return sum(one.chance for one in followed.explanations() if one.changed == changed)


def test_nothing_has_moved_where_nothing_has():
    followed = after(*[window()] * 6)
    moved = followed.since_reference()
    assert all(one.low < 1 < one.high and one.chance < 0.1 for one in moved.values())
    assert followed.explanations()[0].changed == ()
    assert followed.explanations()[0].chance > 0.85


def test_at_the_reference_nothing_has_moved_even_with_few_confirmed():
    few = PriorFilter.begun(window(rows=2000, confirmed=30), LEVEL)
    assert all(one.chance < 0.07 for one in few.since_reference().values())


@pytest.mark.parametrize("confirmed", [5, 50])
def test_the_label_frequency_is_as_uncertain_as_a_gamma_of_the_confirmed(confirmed):
    """About the median, which is below the mean: a gamma of so many and a half."""
    begun = PriorFilter.begun(window(rows=200_000, confirmed=confirmed), LEVEL)
    frequency = begun.since_reference()["label_frequency"]
    expected = stats.gamma.ppf([0.025, 0.5, 0.975], confirmed + 0.5) / (confirmed + 0.5)
    assert frequency.value == pytest.approx(expected[1], rel=0.04)
    assert frequency.low < 0.8 * frequency.value


def test_labels_that_are_still_to_come_are_no_change():
    """Half of the reference's labels had arrived, and all of those of the windows after it have."""
    begun = PriorFilter.begun(window(rows=15_000, confirmed=112, arrived=0.5), LEVEL)
    moved = after(*[window(confirmed=22)] * 6, begun=begun).since_reference()
    assert moved["label_frequency"].value == pytest.approx(1.0, rel=0.1)
    assert all(one.chance < 0.1 for one in moved.values())


def test_what_has_moved_is_found_with_how_far():
    doubled = after(*[window(confirmed=44, all_mean=1.37)] * 6).since_reference()
    assert doubled["class_prior"].value == pytest.approx(2.0, rel=0.15)
    assert doubled["class_prior"].chance > 0.95
    assert doubled["label_frequency"].chance < 0.1

    halved = after(*[window(confirmed=11)] * 8).since_reference()
    assert halved["label_frequency"].value == pytest.approx(0.5, rel=0.25)
    assert halved["label_frequency"].high < 0.85
    assert halved["label_frequency"].chance > 0.9
    assert halved["class_prior"].chance < 0.1

    # mu1 falls from 8 to 4 and all else stays: M = .632 + .05 (4 - .632) = .8.
    broken = after(*[window(confirmed_mean=4.0, all_mean=0.8)] * 6).since_reference()
    assert broken["ranking"].value == pytest.approx(0.5, rel=0.15)
    assert broken["ranking"].chance > 0.95
    assert broken["class_prior"].chance < 0.1

    # Negatives alone raise the mean index.
    raised = after(*[window(all_mean=1.3)] * 6).since_reference()
    assert raised["negatives"].value == pytest.approx(1.3, abs=0.07)
    assert raised["negatives"].chance > 0.9
    assert raised["ranking"].chance < 0.1


def test_both_explanations_stand_where_two_fit():
    """Half as many confirmed, in the very window in which the ranking breaks."""
    followed = after(*[window(confirmed=11, confirmed_mean=3.0, all_mean=0.8)] * 6)
    ambiguous = [
        chance(followed, "class prior", "ranking"),
        chance(followed, "label frequency", "ranking"),
    ]
    assert min(ambiguous) > 0.1
    assert sum(ambiguous) > 0.8
    sizes = {one.changed: one.factors for one in followed.explanations()}
    assert sizes["class prior", "ranking"]["class prior"] == pytest.approx(0.5, rel=0.15)
    assert sizes["label frequency", "ranking"]["label frequency"] == pytest.approx(0.5, rel=0.15)
    assert sizes["label frequency", "ranking"]["ranking"] == pytest.approx(3 / 8, rel=0.15)


def test_chances_of_the_explanations_agree_with_those_of_each():
    followed = after(window(), window(confirmed=12, all_mean=0.9, confirmed_mean=6.0), window())
    explanations = followed.explanations()
    assert sum(one.chance for one in explanations) == pytest.approx(1.0)
    moved = followed.since_reference()
    for name, of in {"class prior": "class_prior", "label frequency": "label_frequency"}.items():
        total = sum(one.chance for one in explanations if name in one.changed)
        assert total == pytest.approx(moved[of].chance, abs=1e-4)
    total = sum(one.chance for one in explanations if "ranking" in one.changed)
    assert total == pytest.approx(moved["ranking"].chance, abs=1e-4)
    assert followed.moved() == pytest.approx(moved["class_prior"].chance, abs=1e-4)


def test_quantiles_of_a_mixture_are_those_of_draws():
    rng = np.random.default_rng(2)
    mean, deviation, weight = np.array([0.0, 3.0]), np.array([1.0, 0.2]), np.array([0.7, 0.3])
    which = rng.choice(2, size=400_000, p=weight)
    draws = rng.normal(mean[which], deviation[which])
    found = _quantiles(mean, deviation, weight)
    assert found == pytest.approx(np.quantile(draws, [0.025, 0.5, 0.975]), abs=0.02)
    assert weight @ _beyond(mean, deviation, 1.5) == pytest.approx(
        (np.abs(draws) > 1.5).mean(), abs=0.004
    )


@pytest.mark.parametrize("seed", range(20))
def test_quantiles_of_any_mixture_reach_their_shares(seed: int):
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(1, 300))
    # Far apart and narrow as well: Newton steps across a gap lead anywhere.
    mean = rng.normal(size=parts) * 10.0 ** rng.integers(-2, 4)
    deviation = 10.0 ** rng.uniform(-4, 1, size=parts)
    weight = rng.dirichlet(np.full(parts, 0.05 if seed % 2 else 5.0))
    low, high = (mean - 9 * deviation).min(), (mean + 9 * deviation).max()
    found = _quantiles(mean, deviation, weight)
    expected = [
        optimize.brentq(
            lambda value, share=share: weight @ special.ndtr((value - mean) / deviation) - share,
            low,
            high,
            xtol=1e-13 * (high - low),
        )
        for share in (0.025, 0.5, 0.975)
    ]
    reached = [weight @ special.ndtr((value - mean) / deviation) for value in found]
    for value, exact, share, got in zip(found, expected, (0.025, 0.5, 0.975), reached, strict=True):
        # Parts that hold next to nothing are left out: a value, or the share that it reaches.
        assert abs(value - exact) < 2e-7 * (high - low) or abs(got - share) < 2e-4


def test_counts_alone_follow_the_prior_and_say_nothing_of_scores():
    counts = [WindowSummary(rows=1500, confirmed=44)] * 6
    followed = after(*counts)
    alike = [chance(followed, "class prior"), chance(followed, "label frequency")]
    assert min(alike) > 0.25
    assert followed.since_reference()["ranking"].chance < 0.15


def test_another_score_changes_nothing_but_where_rows_score():
    before = after(*[window(confirmed=44, all_mean=1.37)] * 6)
    anew = window(rows=9000, confirmed=264, all_mean=20.0, confirmed_mean=60.0)
    followed = before.reanchored(anew)
    assert followed.quantiles([0.1, 0.5, 0.9]) == pytest.approx(
        before.quantiles([0.1, 0.5, 0.9]), rel=1e-3
    )
    moved = followed.since_reference()
    assert moved["class_prior"].chance > 0.95
    assert moved["ranking"].chance < 0.05
    assert moved["negatives"].chance < 0.3
    # As the new reference: nothing happens. With ranking as bad as then: something has.
    same = followed.after(window(rows=9000, confirmed=264, all_mean=20.0, confirmed_mean=60.0))
    assert same.changes()["nothing"] > 0.9
    other = followed.after(window(confirmed=44, all_mean=18.9, confirmed_mean=40.0))
    assert other.changes()["nothing"] < 0.5


def test_how_far_it_has_moved_where_it_has_is_that_of_draws():
    rng = np.random.default_rng(4)
    mean, deviation, far = np.array([0.1, -0.4]), np.array([0.3, 0.2]), np.array(0.22)
    draws = rng.normal(mean, deviation, (400_000, 2))
    found = _Normals(mean, deviation, far).mean_if_moved()
    for one, some in zip(found, draws.T, strict=True):
        assert one == pytest.approx(some[np.abs(some) > far].mean(), abs=0.003)


def test_a_prior_observed_later_tells_of_that_window():
    followed = after(*[window()] * 3).observed(0.06, 0.058, 0.062)
    low, middle, high = followed.quantiles([0.025, 0.5, 0.975])
    assert middle == pytest.approx(0.06, rel=0.02)
    assert 0.055 < low < high < 0.065
    with pytest.raises(ValueError, match="0 < low <= value <= high < 1"):
        followed.observed(0.06, 0.07, 0.08)


def test_a_level_with_few_confirmed_may_end_anywhere():
    level = Level.estimated(0.3, 0.0, 1.0, confirmed_share=0.01)
    followed = after(window(), begun=PriorFilter.begun(window(rows=2000, confirmed=30), level))
    low, high = followed.quantiles([0.025, 0.975])
    assert 0.01 < low < high < 1
    with pytest.raises(ValueError, match="0 <= low <= value <= high <= 1 and value > 0"):
        Level.estimated(0.0, 0.0, 0.2, confirmed_share=0.01)


def test_a_reference_of_counts_alone_is_refused():
    with pytest.raises(ValueError, match="a reference of counts alone"):
        PriorFilter.begun(WindowSummary(rows=15_000, confirmed=225), LEVEL)
