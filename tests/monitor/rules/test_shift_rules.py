"""Rules on a lasting shift: detectors over windows, of one series and of many segments."""

from __future__ import annotations

import numpy as np
import pytest

from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.shift import Shift
from tests.monitor.rules.folded_views import (
    ALL,
    DAY,
    START,
    folded,
    kinds,
    of_metric,
    reading,
    rule,
    view,
)


def shift(**more):
    return Shift(
        **{
            "direction": "down",
            "false_alarms_per_year": 1,
            "windows_per_year": 365,
            "detector": "shiryaev-roberts",
            "reference_windows": 20,
            **more,
        }
    )


def series_with_a_drop(seed, *, at=40, by=0.05, length=60, sd=0.01):
    rng = np.random.default_rng(seed)
    return [0.8 + sd * rng.normal() - (by if n >= at else 0.0) for n in range(length)]


def test_a_lasting_drop_is_seen_soon_and_named():
    found = folded(rule(shift()), of_metric(*series_with_a_drop(6)))
    seen = [n for n, one in enumerate(found.evidence) if one[ALL].kind == "breach"]
    assert 40 <= seen[0] <= 44
    assert [one[ALL].kind for one in found.evidence[:20]] == ["insufficient"] * 20
    assert "it has fallen by 0.0" in found.evidence[seen[0]][ALL].reason
    assert "since about 2026-02-" in found.evidence[seen[0]][ALL].reason


def test_half_of_the_positives_gone_is_seen_where_days_are_like_those_before():
    """40 confirmed a day, times a level that wanders by 30%."""
    seen = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        course = np.zeros(100)
        for day in range(1, 100):
            course[day] = 0.9 * course[day - 1] + 0.13 * rng.normal()
        level = 40 * np.exp(course + 0.1 * rng.normal(size=100))
        level[70:] /= 2
        numbers = map(float, rng.poisson(level))
        views = of_metric(*numbers, metric="labeled_positives", half=0.0)
        found = folded(rule(shift(), metric="labeled_positives"), views).evidence
        seen += "breach" in [one[ALL].kind for one in found[70:]]
    assert seen >= 20


@pytest.mark.parametrize("changed", [3, 25, 58, 59])
def test_a_fold_from_the_middle_is_the_fold_from_the_beginning(changed):
    for one in (
        rule(shift()),
        rule(Change(direction="drop", amount=0.02, relative=False, over=9 * DAY)),
    ):
        values = series_with_a_drop(2)
        fold = folded(one, of_metric(*values))
        values[changed] -= 0.04
        views = of_metric(*values)
        fold.refold(views, changed)
        anew = folded(one, views)
        assert fold.evidence == anew.evidence
        assert fold.states == anew.states
        # And once more, before what was folded last.
        values[changed // 2] += 0.03
        views = of_metric(*values)
        fold.refold(views, changed // 2)
        assert fold.evidence == folded(one, views).evidence


def test_a_window_inserted_later_counts_where_it_belongs():
    values = series_with_a_drop(3)
    views = of_metric(*values)
    fold = folded(rule(shift()), [*views[:10], *views[11:]])
    fold.refold(views, 10)
    assert fold.evidence == folded(rule(shift()), views).evidence


def test_windows_before_the_reference_teach_nothing():
    values = [0.2] * 10 + series_with_a_drop(4)
    begins = shift(begins=START + 10 * DAY)
    late = folded(rule(begins), of_metric(*values)).evidence
    own = [view(n + 10, v.readings) for n, v in enumerate(of_metric(*values[10:]))]
    assert [one[ALL].kind for one in late[10:]] == [
        one[ALL].kind for one in folded(rule(shift()), own).evidence
    ]


@pytest.mark.slow
def test_segments_that_fall_together_alarm_sooner_than_one_among_many():
    def first_alarm(falling, seed):
        rng = np.random.default_rng(seed)
        names = [("7", f"country={n}") for n in range(8)]
        views = []
        for number in range(70):
            values = {
                name: {
                    "auc": reading(
                        0.8 + 0.01 * rng.normal() - (0.012 if k < falling and number >= 40 else 0)
                    )
                }
                for k, name in enumerate(names)
            }
            views.append(view(number, values))
        found = folded(rule(shift(), per="country"), views).evidence
        return next((n for n in range(40, 70) if found[n][names[0]].kind == "breach"), 99)

    together, alone = (
        sum(first_alarm(falling, seed) for seed in range(8, 12)) for falling in (8, 1)
    )
    assert together <= alone - 4


def test_a_segment_near_its_alarm_is_not_good_where_alarms_may_be_joint():
    """With seven others a part of its limit may be enough."""
    rng = np.random.default_rng(3)
    names = [("7", f"country={n}") for n in range(8)]
    views = []
    for number in range(60):
        falls = 0.012 if number >= 40 else 0.0
        drawn = 0.8 + 0.01 * rng.normal(size=8) - falls * (np.arange(8) == 0)
        views.append(
            view(number, {one: {"auc": reading(v)} for one, v in zip(names, drawn, strict=True)})
        )
    found = kinds(rule(shift(), per="country"), views, names[0])
    assert set(found[20:40]) == {"good"}
    assert found[40:] == sorted(found[40:], key=["good", "insufficient", "breach"].index)
    assert found.count("insufficient") > 20, "those being learned from, and some before the alarm"


def test_bets_are_on_bounded_placements():
    values = series_with_a_drop(5, at=30, by=0.3)
    views = [
        view(n, {ALL: {
            "auc": reading(v), "aul": reading(0.05 + 0.9 * v), "class_prior": reading(0.1),
        }})
        for n, v in enumerate(values)
    ]  # fmt: skip
    found = folded(rule(shift(detector="betting")), views).evidence
    assert found[-1][ALL].kind == "breach"
    assert {one[ALL].kind for one in found[:20]} == {"insufficient"}
    assert rule(shift(detector="betting")).metrics == ("auc", "aul", "class_prior")


def test_estimates_beyond_what_placements_can_be_are_held_inside():
    """With impure labels recall and AUL may be beyond 1: no reason to give the rule up."""
    values = [0.97 + 0.05 * (n % 2) for n in range(40)] + [0.4] * 12
    views = [view(n, {ALL: {"recall": reading(v)}}) for n, v in enumerate(values)]
    found = folded(rule(shift(detector="betting"), metric="recall"), views).evidence
    assert found[-1][ALL].kind == "breach"
    assert {one[ALL].kind for one in found[20:40]} == {"good"}


def test_bets_on_auc_need_a_class_prior_below_one():
    readings = {"auc": reading(0.8), "aul": reading(0.8), "class_prior": reading(1.0)}
    (found,) = folded(rule(shift(detector="betting")), [view(0, {ALL: readings})]).evidence
    assert found[ALL].kind == "insufficient"
    assert "class prior below 1" in found[ALL].reason
