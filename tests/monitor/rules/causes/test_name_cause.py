"""The cause that is named, against simulated changes of one kind each."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.detection.incidents import CELLS, DAY, EDGES, MAPPINGS, World, period, window
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.named import KINDS, is_clear
from pumonitor.monitor.rules.causes.period import Period

BEFORE = World()
CHANGED = {
    "class_prior": replace(BEFORE, class_prior=0.05),
    "ranking": replace(BEFORE, separation=1.2),
    "score_scale": replace(BEFORE, shift=0.4, stretch=1.1),
    "label_delay": replace(BEFORE, mean_delay=40 * DAY),
    "confirmed_share": replace(BEFORE, confirmed=0.4),
    "labeling": replace(BEFORE, easier_first=1.0),
    "none": BEFORE,
}


@pytest.fixture(scope="module")
def reference():
    return period(BEFORE, 40, np.random.default_rng(0))


@pytest.mark.parametrize("kind", CHANGED)
def test_the_one_thing_that_changed_is_named(reference, kind):
    rng = np.random.default_rng(1)
    named = [
        name_cause(reference, period(CHANGED[kind], 10, rng), class_prior=0.1).kind
        for _ in range(5)
    ]
    assert named.count(kind) >= 4, named


RARER = World(class_prior=0.04, confirmed=0.1, mean_delay=3.3 * DAY)


@pytest.mark.parametrize(
    ("share", "sentence"), [(0.9, "A larger share"), (0.2, "A larger"), (0.04, "A smaller share")]
)
def test_delays_that_stay_do_not_explain_how_many_are_confirmed(share, sentence):
    rng = np.random.default_rng(0)
    reference = period(RARER, 40, rng)
    for windows in (10, 3):
        now = period(replace(RARER, confirmed=share), windows, rng)
        cause = name_cause(reference, now, class_prior=0.04)
        assert cause.kind == "confirmed_share"
        assert cause.support["label_delay"] < 0.02
        assert (
            cause.sizes["confirmed_share"].low < share / 0.1 < cause.sizes["confirmed_share"].high
        )
        assert cause.sentence.startswith(sentence)
        assert cause.sentence.endswith(" times the usual one. Scores and delays are as before.")


def test_earlier_confirmations_bring_in_no_more_than_were_to_come():
    """Delays are a third as long and nine times as many are confirmed: that is two changes."""
    rng = np.random.default_rng(0)
    reference = period(RARER, 40, rng)
    both = replace(RARER, confirmed=0.9, mean_delay=1.1 * DAY)
    cause = name_cause(reference, period(both, 10, rng), class_prior=0.04)
    assert cause.kind == "confirmed_share"
    assert "Delays changed (median delay 2.4 days, now " in cause.sentence
    assert "which does not explain it" in cause.sentence
    # A third of the labels came too late for the reference, and nearly all come in time now.
    slow = replace(RARER, confirmed=0.4, mean_delay=27 * DAY)
    reference = period(slow, 40, rng)
    cause = name_cause(
        reference, period(replace(slow, mean_delay=8 * DAY), 10, rng), class_prior=0.04
    )
    assert cause.kind == "label_delay"
    assert cause.sentence.startswith("Confirmations arrive earlier: ")
    size = cause.sizes["confirmed_share"]
    assert size.low < (1 - np.exp(-30 / 8)) / (1 - np.exp(-30 / 27)) < size.high


def test_without_delays_no_cause_is_about_them():
    rng = np.random.default_rng(0)
    reference, now = (period(one, 20, rng) for one in (RARER, replace(RARER, confirmed=0.3)))
    reference, now = (replace(one, arrivals=np.zeros(0)) for one in (reference, now))
    cause = name_cause(reference, now, class_prior=0.04)
    assert cause.kind == "confirmed_share"
    assert "label_delay" not in cause.support
    assert "Scores are as before; the label delay is not known." in cause.sentence


def test_ranking_also_gets_worse_where_negatives_score_higher(reference):
    rng = np.random.default_rng(2)
    middles = (np.arange(CELLS) + 0.5) / CELLS

    def harder():
        labeled, rows, arrivals = window(BEFORE, rng)
        # Every tenth row that scores low is scored as if it were in the middle.
        moved = rng.binomial(rows[: CELLS // 4], 0.1)
        rows = rows.copy()
        rows[: CELLS // 4] -= moved
        rows[CELLS // 3 : CELLS // 3 + CELLS // 4] += moved
        return middles, labeled, rows, arrivals

    windows = [harder() for _ in range(10)]
    now = Period.counted(
        [one[:3] for one in windows],
        edges=EDGES,
        arrivals=np.sum([one[3] for one in windows], axis=0),
    )
    cause = name_cause(reference, now, class_prior=0.1)
    assert cause.kind == "ranking"
    assert cause.sizes["auc"].high < 0


@pytest.mark.parametrize(("runs", "missed"), [(5, 1), pytest.param(20, 4, marks=pytest.mark.slow)])
def test_sizes_hold_the_truth(reference, runs, missed):
    """All but a few samples have the true prior, AUC change and share within."""
    rng = np.random.default_rng(3)
    prior = auc = share = 0
    for _ in range(runs):
        fewer = name_cause(reference, period(CHANGED["class_prior"], 10, rng), class_prior=0.1)
        size = fewer.sizes["positives"]
        prior += size.low <= 0.5 <= size.high
        worse = name_cause(reference, period(CHANGED["ranking"], 10, rng), class_prior=0.1)
        size = worse.sizes["auc"]
        # Phi(d / sqrt 2) for separations of 1.2 and 1.7.
        auc += size.low <= 0.8019 - 0.8853 <= size.high
        later = name_cause(reference, period(CHANGED["label_delay"], 10, rng), class_prior=0.1)
        size = later.sizes["confirmed_share"]
        share += size.low <= (1 - np.exp(-30 / 40)) / (1 - np.exp(-3)) <= size.high
    assert min(prior, auc, share) >= runs - missed, (prior, auc, share)


def test_a_change_of_the_prior_alone_is_said_to_leave_the_ranking(reference):
    now = period(CHANGED["class_prior"], 10, np.random.default_rng(4))
    cause = name_cause(reference, now, class_prior=0.1)
    assert cause.sentence.startswith("There are fewer positives: 0.")
    assert "times as many over the 10 windows since it began." in cause.sentence
    assert "ranks as before" in cause.sentence


@pytest.mark.parametrize(("separation", "how"), [(1.55, "worse as well"), (1.85, "better as well")])
def test_a_change_of_the_prior_does_not_hide_one_of_the_ranking(reference, separation, how):
    both = replace(CHANGED["class_prior"], separation=separation)
    cause = name_cause(reference, period(both, 40, np.random.default_rng(4)), class_prior=0.1)
    assert cause.kind == "class_prior"
    assert f"The model ranks {how} (AUC " in cause.sentence


def test_delays_are_told_in_days(reference):
    now = period(CHANGED["label_delay"], 10, np.random.default_rng(5))
    cause = name_cause(reference, now, class_prior=0.1)
    delay = cause.sizes["delay"]
    assert delay.low < delay.change < delay.high
    assert delay.low > 0
    assert "median delay" in cause.sentence
    assert "days" in cause.sentence


def test_traffic_is_named_with_its_part():
    """Two countries with rankings of their own; one of them has gone from half to a tenth."""
    rng = np.random.default_rng(6)
    countries = {
        "country=DE": World(rows=2500, separation=2.5, class_prior=0.15),
        "country=FR": World(rows=2500, separation=1.0, class_prior=0.05),
    }
    middles = (np.arange(CELLS) + 0.5) / CELLS

    def stretch(windows, shares):
        tables = {
            name: [
                (middles, *window(replace(world, rows=int(2 * world.rows * shares[name])), rng)[:2])
                for _ in range(windows)
            ]
            for name, world in countries.items()
        }
        whole = [
            (middles, sum(t[1] for t in both), sum(t[2] for t in both))
            for both in zip(*tables.values(), strict=True)
        ]
        return Period.counted(whole, edges=EDGES, traffic=tables)

    before = stretch(40, {"country=DE": 0.5, "country=FR": 0.5})
    now = stretch(10, {"country=DE": 0.1, "country=FR": 0.9})
    cause = name_cause(before, now, class_prior=0.1)
    assert cause.kind == "traffic"
    assert "country=DE went from 50% to 10%" in cause.sentence


def test_traffic_that_is_made_up_as_before_is_no_cause():
    rng = np.random.default_rng(9)
    parts = {
        "country=DE": World(rows=3000, separation=1.4),
        "country=FR": World(rows=1500, separation=2.0),
    }
    middles = (np.arange(CELLS) + 0.5) / CELLS

    def stretch(windows):
        tables = {
            name: [(middles, *window(world, rng)[:2]) for _ in range(windows)]
            for name, world in parts.items()
        }
        whole = [
            (middles, sum(t[1] for t in both), sum(t[2] for t in both))
            for both in zip(*tables.values(), strict=True)
        ]
        return Period.counted(whole, edges=EDGES, traffic=tables)

    named = [name_cause(stretch(30), stretch(7), class_prior=0.1).kind for _ in range(10)]
    assert named.count("traffic") <= 1, named
    assert named.count("none") >= 8, named


@pytest.mark.parametrize(
    ("runs", "held_in"), [(12, 10), pytest.param(40, 34, marks=pytest.mark.slow)]
)
def test_what_windows_differ_by_anyway_is_within_the_intervals(runs, held_in):
    """Nothing has changed, and sizes are those of the process that makes windows."""
    rng = np.random.default_rng(12)
    held = {"positives": 0, "score": 0, "auc": 0}
    for _ in range(runs):
        before = period(replace(BEFORE, between_windows=0.1), 12, rng)
        now = period(replace(BEFORE, between_windows=0.1), 4, rng)
        sizes = name_cause(before, now, class_prior=0.1).sizes
        for name in held:
            held[name] += not is_clear(sizes, name)
    assert min(held.values()) >= held_in, held


def test_support_is_shared_out_and_all_is_finite(reference):
    now = period(CHANGED["ranking"], 3, np.random.default_rng(7))
    told = name_cause(reference, now, class_prior=0.1).to_dict()
    assert told["kind"] in KINDS
    assert sum(told["support"].values()) == pytest.approx(1)
    assert told["support"][told["kind"]] == max(told["support"].values())
    for size in told["sizes"].values():
        assert all(np.isfinite(number) for number in size.values())
        assert size["low"] <= size["high"]


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_nothing_is_said_without_a_prior(reference, prior):
    assert name_cause(reference, reference, class_prior=prior) is None


def test_nothing_is_said_where_the_reference_has_too_few_confirmed_positives(reference):
    few = period(replace(BEFORE, rows=30, confirmed=0.05), 1, np.random.default_rng(8))
    assert few.labeled.sum() < 5
    assert name_cause(few, reference, class_prior=0.1) is None


@pytest.mark.parametrize("number", [2, 9])
def test_with_too_few_confirmed_positives_it_is_said_how_many_would_tell(number):
    rng = np.random.default_rng(5)
    rare = replace(BEFORE, confirmed=0.0027)
    reference = period(rare, 60, rng)
    worse = replace(rare, separation=1.4)
    now = period(worse, 7, rng)
    while now.labeled.sum() != number:
        now = period(worse, 7, rng)
    cause = name_cause(reference, now, class_prior=0.1)
    assert cause.kind == "unclear"
    said = f"Too few confirmations to find the cause: {number} over the 7 windows "
    said += "since it began; about "
    assert cause.sentence.startswith(said)
    assert 30 <= int(cause.sentence.removeprefix(said).split()[0]) <= 120
    assert cause.sentence.endswith(" are needed.")


@pytest.mark.slow
def test_no_size_that_may_be_nothing_is_named_as_a_cause():
    """Nine confirmations since the change, whatever it was."""
    rare = World(confirmed=0.0027)
    about = {"class_prior": "positives", "ranking": "auc", "labeling": "auc"}
    about |= {"label_delay": "confirmed_share", "confirmed_share": "confirmed_share"}
    for kind, changed in CHANGED.items():
        rng = np.random.default_rng(2)
        reference = period(rare, 40, rng)
        for _ in range(4):
            now = period(replace(changed, confirmed=0.0027), 7, rng)
            cause = name_cause(reference, now, class_prior=0.1)
            shown_by = about.get(cause.kind)
            # An AUC that cannot be is left out.
            assert shown_by not in cause.sizes or is_clear(cause.sizes, shown_by), kind
            assert "nan" not in cause.sentence


@pytest.mark.parametrize("mapping", [name for name in MAPPINGS if name != "same"])
def test_scores_put_through_any_monotone_map_are_another_scale(reference, mapping):
    rng = np.random.default_rng(10)
    mapped = replace(BEFORE, mapping=mapping)
    named = [name_cause(reference, period(mapped, 10, rng), class_prior=0.1).kind for _ in range(5)]
    assert named.count("score_scale") >= 4, named


@pytest.mark.parametrize("class_prior", [0.085, 0.1, 0.115])
def test_a_class_prior_that_is_somewhat_off_makes_no_cause_of_nothing(class_prior):
    """Days differ in how many positives there are and in how well they rank."""
    rng = np.random.default_rng(11)
    days = replace(BEFORE, between_windows=0.25, separation_between=0.1)
    named = [
        name_cause(period(days, 30, rng), period(days, 7, rng), class_prior=class_prior).kind
        for _ in range(6)
    ]
    assert sum(one not in ("none", "unclear") for one in named) <= 1, named


def test_a_ranking_that_is_nearly_perfect_is_none_that_cannot_be():
    sharp = World(separation=4.0)
    rng = np.random.default_rng(13)
    cause = name_cause(
        period(sharp, 30, rng), period(replace(sharp, class_prior=0.05), 10, rng), class_prior=0.101
    )
    assert cause.kind == "class_prior"
    assert "impossible" not in cause.sentence
    assert cause.sizes["auc_at_new_prior"].now <= 1


def test_an_auc_that_cannot_be_is_said_to_be_impossible():
    """No ranking has positives as high among all rows as a class prior of .3 makes of it."""
    sharp = World(class_prior=0.05, separation=3.0)
    rng = np.random.default_rng(12)
    reference, now = period(sharp, 30, rng), period(replace(sharp, separation=3.6), 10, rng)
    cause = name_cause(reference, now, class_prior=0.3)
    assert "auc" not in cause.sizes
    assert "at the class prior of 0.300 it would be 1." in cause.sentence
    assert "which is impossible: that class prior is too high" in cause.sentence
    assert "AUC +" not in cause.sentence


@pytest.mark.parametrize("moved", [100, 200])
def test_scores_spread_otherwise_at_the_same_auc_are_not_called_another_ranking(moved):
    """Negatives leave the second cell for its neighbours, so that AUC stays."""
    edges = np.array([0.25, 0.5, 0.75])

    def week(negatives):
        rows = np.add([20, 60, 120, 200], negatives)
        return [([0.1, 0.4, 0.6, 0.9], [10, 30, 60, 100], rows)] * 4

    down = round(0.692 * moved)
    then = Period.counted(week([3000, 600, 300, 60]), edges=edges)
    now = Period.counted(week([3000 + down, 600 - moved, 300 + moved - down, 60]), edges=edges)
    cause = name_cause(then, now, class_prior=0.092)
    assert cause.kind == "score_scale"
    assert abs(cause.sizes["auc"].change) < 0.004
    assert "the ranking has not changed" in cause.sentence


def test_what_a_hypothesis_holds_fixed_does_not_make_up_for_what_it_cannot_tell(reference):
    """A broken feature: some positives score like negatives, some negatives like positives."""
    rng = np.random.default_rng(8)
    middles = (np.arange(CELLS) + 0.5) / CELLS

    def broken():
        positives, others = 500, 4500
        lost, risen = rng.random(positives) < 0.3, rng.random(others) < 0.2
        own = rng.normal(np.where(lost, 0.0, BEFORE.separation), 1)
        theirs = rng.normal(np.where(risen, BEFORE.separation, 0.0), 1)
        confirmed = rng.random(positives) < BEFORE.confirmed

        def counted(scores):
            cells = (CELLS / (1 + np.exp(1.5 - scores))).astype(int)
            return np.bincount(np.minimum(cells, CELLS - 1), minlength=CELLS)

        return middles, counted(own[confirmed]), counted(own) + counted(theirs)

    now = Period.counted([broken() for _ in range(40)], edges=EDGES)
    cause = name_cause(reference, now, class_prior=0.1)
    assert cause.kind == "ranking"
    # True AUC from .8853 to .7 * (.8 * .8853 + .2 * .5) + .3 * (.8 * .5 + .2 * .1147).
    assert cause.sizes["auc"].low <= 0.6926 - 0.8853 <= cause.sizes["auc"].high
    assert cause.sizes["positives"].change < 1.25


def test_auc_is_as_uncertain_as_labels_that_may_be_mistaken_make_it(reference):
    now = period(CHANGED["ranking"], 10, np.random.default_rng(1))
    pure, mixed = (
        name_cause(reference, now, class_prior=0.1, label_purity=purity).sizes["auc"]
        for purity in (1.0, 0.95)
    )
    # AUC is the placement's distance from a half over purity less class prior.
    assert mixed.change == pytest.approx(pure.change * 0.9 / 0.85, rel=1e-9)
    assert mixed.low - mixed.change == pytest.approx((pure.low - pure.change) * 0.9 / 0.85)


def test_labels_that_are_no_purer_than_all_rows_tell_no_cause(reference):
    now = period(BEFORE, 10, np.random.default_rng(1))
    assert name_cause(reference, now, class_prior=0.1, label_purity=0.1) is None
