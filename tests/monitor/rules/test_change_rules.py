"""Rules on a change from a reference, by its prediction interval."""

from __future__ import annotations

import math

import pytest

from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.rule import KnownReference, Reading
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from tests.monitor.rules.folded_views import (
    ALL,
    CHANGE,
    DAY,
    DROP,
    RISE,
    START,
    folded,
    kinds,
    of_metric,
    reading,
    reference,
    rule,
    view,
)

# A window is .02 about its value, moved out from 1.96 to Student's 2.776; windows differ by
# sqrt(.0002), and their mean is known to sqrt(.00025 / 5).
T = 2.7764


OWN, OTHERS, MEAN = 0.02 * T / 1.96, T * math.sqrt(0.0002 + 0.00005), T * math.sqrt(0.00005)


HALF = math.hypot(OWN, OTHERS) + 0.001


SURE = math.hypot(0.02, MEAN) + 0.001


OF_90_PERCENT = math.hypot(OWN, 0.9 * OTHERS) + 0.001


TENTH = Change(direction="drop", amount=0.1, relative=True)


@pytest.mark.parametrize(
    ("condition", "value", "kind"),
    [
        (DROP, 0.80 - 0.05 - HALF, "breach"),
        (DROP, 0.80 - 0.05 - HALF + 0.002, "insufficient"),
        # That windows differ by themselves is no reason to go on firing.
        (DROP, 0.80 - 0.05 + SURE, "good"),
        (DROP, 0.80 - 0.05 + SURE - 0.002, "insufficient"),
        (DROP, 0.99, "good"),
        (RISE, 0.80 + 0.05 + HALF, "breach"),
        (RISE, 0.5, "good"),
        (CHANGE, 0.80 + 0.05 + HALF, "breach"),
        (CHANGE, 0.80 - 0.05 - HALF, "breach"),
        (CHANGE, 0.80, "good"),
        # 90% of .80 is .72, with 90% of what windows differ by.
        (TENTH, 0.72 - OF_90_PERCENT, "breach"),
        (TENTH, 0.72 - OF_90_PERCENT + 0.002, "insufficient"),
    ],
)
def test_a_change_counts_what_is_not_known_of_both_and_what_windows_differ_by(
    condition, value, kind
):
    (one,) = of_metric(value)
    late = view(0, one.readings, as_of=START + 4 * DAY)
    assert kinds(rule(condition), [late], known_reference=reference(0.80)) == [kind]


def test_a_negative_number_drops_downwards():
    condition = Change(direction="drop", amount=0.5, relative=True)
    for value, kind in ((-0.19, "breach"), (-0.05, "good")):
        (one,) = of_metric(value, half=0.001)
        late = view(0, one.readings, as_of=START + 4 * DAY)
        known_reference = reference(-0.1, half=0.001, spread=(-0.001, 0.0, 0.001))
        assert kinds(rule(condition), [late], known_reference=known_reference) == [kind]


def test_before_the_reference_is_mature_nothing_is_said():
    condition = Change(direction="drop", amount=0.05, relative=False)
    found = folded(rule(condition), of_metric(0.1), reference(0.8)).evidence
    assert (found[0][ALL].kind, found[0][ALL].reason) == (
        "insufficient",
        "the reference is not mature yet",
    )


def test_windows_before_are_those_that_ended_before_and_are_not_too_old():
    condition = Change(direction="drop", amount=0.05, relative=False, over=4 * DAY)
    found = folded(rule(condition), of_metric(0.2, 0.9, 0.9, 0.9, 0.9, 0.7)).evidence
    # Of the last, days 1 to 4; of the fourth, the first three days, whose mean is far from known.
    assert [one[ALL].kind for one in found[:3]] == ["insufficient"] * 3
    assert found[5][ALL].kind == "breach"
    assert found[5][ALL].reference == pytest.approx(0.9)
    assert found[4][ALL].reference == pytest.approx((0.2 + 3 * 0.9) / 4, abs=1e-3)


def at_a_given_prior(number, aul):
    """AUC as it is with a class prior of .05 to .16, most of whose interval is the prior's."""
    prior = Reading(value=0.1, low=0.05, high=0.16)
    auc, low, high = ((aul - p / 2) / (1 - p) for p in (0.1, 0.05, 0.16))
    half = math.hypot(max(abs(low - auc), abs(high - auc)), 0.01)
    readings = {"auc": reading(auc, half), "aul": reading(aul, 0.01), "class_prior": prior}
    return view(number, {ALL: readings}, as_of=START + 60 * DAY)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("over", [None, 28 * DAY])
def test_a_given_prior_that_is_wrong_is_as_wrong_before_as_now(over, relative):
    """AUL falls by .05 and AUC by .056, where .02 is allowed; the prior is worth .04 either way."""
    condition = Change(direction="drop", amount=0.02, relative=relative, over=over)
    views = [at_a_given_prior(n, 0.86) for n in range(20)]
    views += [at_a_given_prior(20, 0.81), at_a_given_prior(21, 0.86)]
    readings = views[0].readings[ALL]
    known = {
        name: Uncertain(value=one.value, low=one.low, high=one.high, se=(one.high - one.low) / 3.92)
        for name, one in readings.items()
    }
    quiet = ReferenceWindows(windows=[known] * 10)
    known_reference = KnownReference(as_of=START, end=START, windows=lambda series: quiet)
    one = rule(condition)
    factors = ("class_prior_factor", "class_prior_to_compare")
    assert one.metrics == ("auc", "class_prior", "aul", *factors)
    assert kinds(one, views, known_reference=known_reference)[-2:] == ["breach", "good"]
    # With two priors, each window's own, nothing is known of what they have in common.
    apart = [
        view(n, {ALL: {
            **at.readings[ALL], "class_prior": Reading(value=0.1 + n / 1e6, low=0.05, high=0.16),
        }}, as_of=at.as_of)
        for n, at in enumerate(views)
    ]  # fmt: skip
    if over is None:
        assert kinds(one, apart, known_reference=known_reference)[-2] == "insufficient"
