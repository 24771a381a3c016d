from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.monitor.rules.reference.attribution import (
    attribute_aul,
    attribute_f1,
    difference_at_one_prior,
    stands_on,
)
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR
from pumonitor.monitor.rules.reference.uncertain import Known, Uncertain
from pumonitor.results import ClassPriorEstimate
from pumonitor.stats.confidence_draws import split_normal_logit_draws
from pumonitor.tables import ScoreTable


def known(value: float, reach: float = 0.01) -> Uncertain:
    return Uncertain(value=value, low=value - reach, high=value + reach, se=reach / 1.96)


def exact(value: float) -> Uncertain:
    return Uncertain(value=value, low=value, high=value, se=0.0)


SHARES = st.floats(min_value=0.02, max_value=0.6)
AREAS = st.floats(min_value=0.3, max_value=0.99)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(priors=st.tuples(SHARES, SHARES), aucs=st.tuples(AREAS, AREAS))
def test_the_parts_of_aul_add_up_and_are_the_formula(
    priors: tuple[float, float], aucs: tuple[float, float]
) -> None:
    then, now = (
        {"aul": exact(0.5 * prior + (1 - prior) * auc), "class_prior": exact(prior)}
        for prior, auc in zip(priors, aucs, strict=True)
    )
    parts = attribute_aul(now, then)
    prior_part = (0.5 - np.mean(aucs)) * (priors[1] - priors[0])
    ranking_part = (1 - np.mean(priors)) * (aucs[1] - aucs[0])
    assert parts["prior"].value == pytest.approx(prior_part, abs=1e-12)
    assert parts["ranking"].value == pytest.approx(ranking_part, abs=1e-12)
    total = now["aul"].value - then["aul"].value
    assert parts["prior"].value + parts["ranking"].value == pytest.approx(total, abs=1e-12)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    priors=st.tuples(SHARES, SHARES),
    recalls=st.tuples(SHARES, SHARES),
    rates=st.tuples(st.floats(0.01, 0.3), st.floats(0.01, 0.3)),
)
def test_the_parts_of_f1_add_up_to_its_change(
    priors: tuple[float, float], recalls: tuple[float, float], rates: tuple[float, float]
) -> None:
    def at(prior: float, recall: float, rate: float) -> dict[str, Uncertain]:
        flagged = prior * recall + (1 - prior) * rate
        return {
            "class_prior": exact(prior),
            "recall": exact(recall),
            "predicted_positive_rate": exact(flagged),
            "f1": exact(2 * prior * recall / (prior + flagged)),
        }

    then, now = (at(*values) for values in zip(priors, recalls, rates, strict=True))
    parts = attribute_f1(now, then)
    total = now["f1"].value - then["f1"].value
    assert parts["prior"].value + parts["ranking"].value == pytest.approx(total, abs=1e-9)
    if recalls[0] == recalls[1] and rates[0] == rates[1]:
        assert parts["ranking"].value == pytest.approx(0, abs=1e-12)
    if priors[0] == priors[1]:
        assert parts["prior"].value == pytest.approx(0, abs=1e-12)


def test_the_parts_against_many_windows_add_up_to_the_change_from_their_mean() -> None:
    """F1 of the mean parts is another number than the mean F1."""
    rng = np.random.default_rng(2)
    each = {
        "class_prior": rng.uniform(0.05, 0.2, 9),
        "recall": rng.uniform(0.1, 0.9, 9),
        "predicted_positive_rate": rng.uniform(0.05, 0.3, 9),
    }
    before = {name: known(float(values.mean())) for name, values in each.items()}
    now = {"class_prior": known(0.1), "recall": known(0.3), "predicted_positive_rate": known(0.1)}
    prior, recall, flagged = each.values()
    mean = np.mean(2 * prior * recall / (prior + flagged))
    parts = attribute_f1(now, before, each=each)
    total = 2 * 0.1 * 0.3 / (0.1 + 0.1) - mean
    assert sum(part.value for part in parts.values()) == pytest.approx(total, abs=1e-12)
    assert all(part.low < part.value < part.high for part in parts.values())
    of_the_means = sum(part.value for part in attribute_f1(now, before).values())
    assert of_the_means != pytest.approx(total, abs=1e-3)


def test_a_factor_known_well_leaves_the_part_of_the_prior_known_well() -> None:
    then = {"aul": exact(0.5 * 0.2 + 0.8 * 0.9), "class_prior": exact(0.2)}
    now = {
        "aul": exact(0.5 * 0.1 + 0.9 * 0.9),
        "class_prior": exact(0.1),
        PRIOR_FACTOR: Uncertain(value=0.5, low=0.49, high=0.52, se=0.0075),
    }
    prior = attribute_aul(now, then)["prior"]
    assert prior.value == pytest.approx((0.5 - 0.9) * -0.1)
    # The slope of AUL against the class prior is about (0.5 - 0.9), times 0.2 against the factor.
    assert prior.high - prior.value == pytest.approx(0.4 * 0.2 * 0.01, rel=0.1)
    assert prior.value - prior.low == pytest.approx(0.4 * 0.2 * 0.02, rel=0.1)


def test_what_only_the_prior_changed_is_put_down_to_it() -> None:
    then = {"aul": known(0.5 * 0.05 + 0.95 * 0.9), "class_prior": known(0.05)}
    now = {"aul": known(0.5 * 0.25 + 0.75 * 0.9), "class_prior": known(0.25)}
    parts = attribute_aul(now, then)
    assert parts["prior"].high < 0
    assert parts["ranking"].low < 0 < parts["ranking"].high


def test_intervals_of_the_parts_hold_the_truth() -> None:
    """Prior .1 to .2 and d' 2 to 1.6: both parts are real."""
    cases = ((0.1, 2.0), (0.2, 1.6))
    before, after = (_truth(prior, shift) for prior, shift in cases)
    goal = {name: part.value for name, part in attribute_aul(after, before).items()}
    held, repetitions = dict.fromkeys(goal, 0), 40
    for seed in range(repetitions):
        then, now = (_window(prior, shift, seed=seed) for prior, shift in cases)
        for name, change in attribute_aul(now, then).items():
            held[name] += change.low <= goal[name] <= change.high
    assert min(held.values()) >= 0.95 * repetitions - 3 * np.sqrt(0.95 * 0.05 * repetitions)


def _truth(prior: float, shift: float) -> dict[str, Uncertain]:
    """Positives N(shift, 1), negatives N(0, 1)."""
    auc = float(special.ndtr(shift / np.sqrt(2)))
    return {
        "aul": exact(0.5 * prior + (1 - prior) * auc),
        "class_prior": exact(prior),
    }


def _window(prior: float, shift: float, *, seed: int) -> dict[str, Known]:
    rng = np.random.default_rng([seed, round(10 * prior)])
    positive = rng.random(2000) < prior
    labels = positive & (rng.random(2000) < 0.3)
    table = ScoreTable.from_arrays(labels, rng.normal(shift * positive))
    share = positive.mean()
    error = np.sqrt(share * (1 - share) / 2000)
    estimated = (share, share - 2 * error, share + 2 * error)
    problem = make_problem(table, ClassPriorEstimate.given(estimated), rng=seed)
    return {
        "aul": aul_estimate(problem, observed_lift(problem)),
        "class_prior": class_prior_estimate(problem),
    }


def test_a_prior_that_was_given_once_is_not_uncertain_twice() -> None:
    """The truth is anywhere in the prior's interval; AUC fell by .06 and AUL is measured."""
    rng = np.random.default_rng(8)
    runs, held, widths = 200, 0, []
    given = Uncertain(value=0.1, low=0.05, high=0.16, se=np.nan)
    for seed in range(runs):
        prior = float(np.clip(rng.normal(0.1, 0.028), 0.02, 0.25))
        then, now = (
            {"aul": known(0.5 * prior + (1 - prior) * auc + rng.normal(0, 0.01), 0.0196)}
            for auc in (0.9, 0.84)
        )
        for one in (then, now):
            one["class_prior"] = given
        change = difference_at_one_prior("auc", now, then)
        assert change is not None
        held += change.low <= -0.06 <= change.high
        widths.append(change.high - change.low)
        parts = attribute_aul(now, then, rng=seed)
        assert parts["prior"].low == parts["prior"].high == 0.0
    assert held >= 0.91 * runs
    assert np.mean(widths) < 0.07


def test_ends_and_draws_agree_on_what_one_prior_leaves_uncertain() -> None:
    """Two ways to the same interval, for every estimate that stands on the prior."""
    prior = Uncertain(value=0.1, low=0.05, high=0.16, se=np.nan)
    then = {
        "class_prior": prior,
        "aul": known(0.86),
        "recall": known(0.7, 0.05),
        "predicted_positive_rate": known(0.12, 0.004),
    }
    now = then | {"aul": known(0.80), "recall": known(0.55, 0.06)}
    for name in ("auc", "precision", "f1", "class_prior"):
        low, high = np.quantile(drawn_changes(name, now, then), [0.025, 0.975])
        by_ends = difference_at_one_prior(name, now, then)
        assert by_ends is not None
        assert by_ends.value == pytest.approx(OF_PARTS[name](now) - OF_PARTS[name](then))
        assert by_ends.low == pytest.approx(low, abs=0.07 * (high - low))
        assert by_ends.high == pytest.approx(high, abs=0.07 * (high - low))


OF_PARTS = {
    "auc": lambda one: (
        (_of(one, "aul") - 0.5 * _of(one, "class_prior")) / (1 - _of(one, "class_prior"))
    ),
    "precision": lambda one: (
        _of(one, "class_prior") * _of(one, "recall") / _of(one, "predicted_positive_rate")
    ),
    "f1": lambda one: (
        2
        * _of(one, "class_prior")
        * _of(one, "recall")
        / (_of(one, "class_prior") + _of(one, "predicted_positive_rate"))
    ),
    "class_prior": lambda one: _of(one, "class_prior"),
}


def _of(one, name):
    return getattr(one[name], "value", one[name])


def drawn_changes(name, now, then):
    """Both windows' parts drawn apart, and the prior once for both."""
    rng = np.random.default_rng(3)

    def drawn(known):
        return split_normal_logit_draws(
            known.value, known.low, known.high, confidence_level=0.95, order=rng.permutation(10_000)
        )

    once = drawn(now["class_prior"])
    today, past = (
        {part: once if part == "class_prior" else drawn(known) for part, known in one.items()}
        for one in (now, then)
    )
    return OF_PARTS[name](today) - OF_PARTS[name](past)


def test_the_change_beside_a_share_of_the_reference_holds_the_truth() -> None:
    """AUC now less .9 of what it was; the truth is anywhere in the prior's interval."""
    rng = np.random.default_rng(4)
    given = Uncertain(value=0.1, low=0.05, high=0.16, se=np.nan)
    runs, held = 400, 0
    for _ in range(runs):
        prior = float(np.clip(rng.normal(0.1, 0.028), 0.02, 0.25))
        then, now = (
            {
                "aul": known(0.5 * prior + (1 - prior) * auc + rng.normal(0, 0.01), 0.0196),
                "class_prior": given,
            }
            for auc in (0.9, 0.84)
        )
        change = difference_at_one_prior("auc", now, then, times=0.9)
        assert change is not None
        held += change.low <= 0.84 - 0.9 * 0.9 <= change.high
    assert 0.92 * runs <= held <= 0.99 * runs


def test_without_one_prior_or_what_stands_on_it_there_is_no_such_difference() -> None:
    one = {"aul": known(0.8), "class_prior": known(0.1)}
    assert difference_at_one_prior("auc", one, one | {"class_prior": known(0.2)}) is None
    assert difference_at_one_prior("auc", {"class_prior": known(0.1)}, one) is None
    assert difference_at_one_prior("recall", one, one) is None
    certain = one | {"class_prior": exact(1.0)}
    assert difference_at_one_prior("auc", certain, certain) is None
    silent = {
        "class_prior": known(0.1),
        "recall": known(0.0, 0.0),
        "predicted_positive_rate": exact(0.0),
    }
    assert difference_at_one_prior("precision", silent, silent) is None
    assert stands_on("aul") == ()


def test_the_given_prior_itself_has_not_changed() -> None:
    prior = Uncertain(value=0.1, low=0.05, high=0.16, se=np.nan)
    change = difference_at_one_prior("class_prior", {"class_prior": prior}, {"class_prior": prior})
    assert change is not None
    assert (change.value, change.low, change.high) == (0.0, 0.0, 0.0)
    other = {"class_prior": known(0.1)}
    assert difference_at_one_prior("class_prior", {"class_prior": prior}, other) is None


def test_parts_stay_within_what_is_possible_where_the_prior_may_be_near_one() -> None:
    then = {"aul": known(0.7), "class_prior": Uncertain(value=0.6, low=0.1, high=0.999, se=0.2)}
    now = {"aul": known(0.65), "class_prior": Uncertain(value=0.7, low=0.1, high=0.999, se=0.2)}
    for part in attribute_aul(now, then).values():
        assert -1 <= part.low <= part.high <= 1
