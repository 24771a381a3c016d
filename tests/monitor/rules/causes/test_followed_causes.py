"""Causes with a filter: it decides, and hypotheses separate what it cannot see."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.detection.incidents import CELLS, DAY, DELAY_EDGES, EDGES, World, window
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.reference.what_changed import WhatChanged
from pumonitor.prior.over_time import Cells, Level, Summariser
from pumonitor.results import ClassPriorEstimate

BEFORE = World(rows=4000, class_prior=0.08, confirmed=0.2)
MIDDLES = (np.arange(CELLS) + 0.5) / CELLS


def cells(counted):
    return Cells.of_counts(MIDDLES, counted[0], counted[1])


def period(windows):
    return Period.counted(
        [(MIDDLES, one[0], one[1]) for one in windows],
        edges=EDGES,
        arrivals=np.sum([one[2] for one in windows], axis=0),
        delay_edges=DELAY_EDGES,
    )


def held(followed, *, least=0.0):
    """What is stored of a filter, as causes read it."""
    low, value, high = followed.quantiles([0.025, 0.5, 0.975])
    told = {
        "moved": followed.moved(),
        "since_reference": {
            name: {part: getattr(one, part) for part in ("value", "low", "high", "chance")}
            for name, one in followed.since_reference().items()
        },
        "explanations": [
            {"changed": list(one.changed), "chance": one.chance}
            for one in followed.explanations()
            if one.chance >= least
        ],
    }
    return WhatChanged.of(
        replace(ClassPriorEstimate.given((value, low, high)), diagnostics={"over_time": told})
    )


def cause_of(*worlds, windows=6, seed=0):
    """The cause by the last of the worlds, each of which lasts for so many windows."""
    rng = np.random.default_rng(seed)
    reference = [window(BEFORE, rng) for _ in range(30)]
    summariser = Summariser.learned([cells(one) for one in reference])
    followed = summariser.begun(Level.given(0.08, 0.06, 0.105))
    counted = []
    for world in (BEFORE, *worlds):
        counted = [window(world, rng) for _ in range(windows)]
        for one in counted:
            summary, summariser = summariser.after(cells(one))
            followed = followed.after(summary)
    changed = held(followed)
    found = name_cause(
        period(reference), period(counted), class_prior=changed.reference, changed=changed
    )
    return found, changed


CHANGED = {
    "class_prior": replace(BEFORE, class_prior=0.16),
    "ranking": replace(BEFORE, separation=1.0),
    "score_scale": replace(BEFORE, shift=0.4, stretch=1.1),
    "label_delay": replace(BEFORE, mean_delay=40 * DAY),
    "confirmed_share": replace(BEFORE, confirmed=0.45),
    "labeling": replace(BEFORE, easier_first=1.0),
    "none": BEFORE,
}


@pytest.mark.parametrize("kind", CHANGED)
def test_the_one_thing_that_changed_is_named(kind):
    named = [cause_of(CHANGED[kind], seed=seed)[0].kinds for seed in range(3)]
    assert named.count((kind,)) >= 2, named


def test_the_prior_moves_in_a_cause_as_far_as_in_its_filter():
    cause, changed = cause_of(CHANGED["class_prior"])
    size, moved = cause.sizes["positives"], changed.since_reference["class_prior"]
    assert (size.low, size.change, size.high) == (moved.low, moved.value, moved.high)
    assert size.low < 2 < size.high
    assert "The model ranks as before" in cause.sentence
    assert "explains the counts equally well" not in cause.sentence


def test_two_changes_are_both_named():
    both = replace(CHANGED["class_prior"], separation=1.0)
    cause, _ = cause_of(CHANGED["class_prior"], both)
    assert cause.kinds == ("class_prior", "ranking")
    assert "There are more positives: " in cause.sentence
    assert "The model ranks worse as well (AUC " in cause.sentence
    assert "Instead it may be a larger share of the positives being confirmed." in cause.sentence
    assert "would show whether the class prior changed." in cause.sentence


def changed_by(chances, *, prior=1.0, share=1.0):
    """What a filter holds that has these chances of explanations."""
    moved = sum(chance for names, chance in chances.items() if "class prior" in names)
    since = {
        "class_prior": (prior, moved),
        "label_frequency": (share, 0.5),
        "ranking": (0.7, 0.5),
        "negatives": (1.0, 0.0),
    }
    told = {
        "moved": moved,
        "since_reference": {
            name: {"value": value, "low": 0.6 * value, "high": 1.6 * value, "chance": chance}
            for name, (value, chance) in since.items()
        },
        "explanations": [
            {"changed": [*filter(None, names.split(" and "))], "chance": chance}
            for names, chance in chances.items()
            if chance >= 0.01
        ],
    }
    return WhatChanged.of(
        replace(ClassPriorEstimate.given(0.08 * prior), diagnostics={"over_time": told})
    )


@pytest.fixture(scope="module")
def doubled_while_the_ranking_breaks():
    rng = np.random.default_rng(3)
    both = replace(CHANGED["class_prior"], separation=1.0)
    return tuple(period([window(one, rng) for _ in range(7)]) for one in (BEFORE, both))


def test_where_two_explanations_fit_both_are_said_and_what_would_tell(
    doubled_while_the_ranking_breaks,
):
    chances = {
        "class prior and ranking": 0.5,
        "label frequency and ranking": 0.38,
        "ranking": 0.12,
    }
    cause = name_cause(
        *doubled_while_the_ranking_breaks,
        class_prior=0.08,
        changed=changed_by(chances, prior=2.0),
    )
    assert cause.kinds == ("ranking",)
    assert cause.sentence.startswith("The model ranks worse: AUC changed by -0.")
    assert "Perhaps also more positives (50%)." in cause.sentence
    assert "of the positives being confirmed (38%)." in cause.sentence
    # 0.08 or 0.16: (1.96 sqrt(.08 .92) + 1.28 sqrt(.16 .84))^2 / .08^2 = 157.
    assert (
        "An audit of about 160 rows would show whether the class prior changed." in cause.sentence
    )


@pytest.mark.parametrize("chance", [0.3, 0.55, 0.75, 0.85])
def test_no_explanation_with_a_chance_is_left_out(doubled_while_the_ranking_breaks, chance):
    """Whatever the hypotheses alone would have said."""
    chances = {"class prior": chance, "label frequency": 1 - chance}
    cause = name_cause(
        *doubled_while_the_ranking_breaks,
        class_prior=0.08,
        changed=changed_by(chances, prior=2.0, share=2.0),
    )
    assert cause.kinds == (("class_prior",) if chance > 0.8 else ())
    assert "more positives" in cause.sentence
    assert "a larger share of the positives being confirmed (" in cause.sentence
    assert "n audit of about 160 rows would show whether the class prior changed" in cause.sentence
    assert sum(cause.support.values()) == pytest.approx(1)


def test_unlikely_explanations_that_are_not_stored_change_no_chance_of_the_prior():
    changed = changed_by({"class prior": 0.9, "ranking": 0.092, "": 0.008})
    assert sum(one.chance for one in changed.explanations) == pytest.approx(1)
    of_prior = [one.chance for one in changed.explanations if "class prior" in one.changed]
    assert of_prior == [pytest.approx(changed.moved)]
    # None of those without it is stored.
    (nothing,) = (one for one in changed_by({"class prior": 0.95}).explanations if not one.changed)
    assert nothing.chance == pytest.approx(0.05)


def test_traffic_that_brings_more_positives_says_both():
    """Two countries that score as they did, of which the one with more positives has grown."""
    rng = np.random.default_rng(6)
    countries = {
        "country=DE": World(separation=2.5, class_prior=0.15),
        "country=FR": World(separation=1.0, class_prior=0.03),
    }

    def stretch(windows, shares):
        tables = {
            name: [
                window(replace(world, rows=int(5000 * shares[name])), rng) for _ in range(windows)
            ]
            for name, world in countries.items()
        }
        whole = [
            (MIDDLES, sum(one[0] for one in both), sum(one[1] for one in both))
            for both in zip(*tables.values(), strict=True)
        ]
        parts = {name: [(MIDDLES, *one[:2]) for one in some] for name, some in tables.items()}
        return Period.counted(whole, edges=EDGES, traffic=parts)

    before = stretch(40, {"country=DE": 0.2, "country=FR": 0.8})
    now = stretch(10, {"country=DE": 0.7, "country=FR": 0.3})
    changed = changed_by({"class prior and ranking": 0.9, "class prior": 0.06, "": 0.04}, prior=2.1)
    cause = name_cause(before, now, class_prior=0.054, changed=changed)
    assert cause.kinds == ("class_prior", "traffic")
    assert "There are more positives" in cause.sentence
    assert "country=FR went from 80% to 30%" in cause.sentence
