"""The best threshold, and whether the bound there holds though it was chosen among many."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from benchmarks.decisions import DESIGNS, misses
from pumonitor.decisions.best_threshold import best_of, best_threshold
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import Rates, at_threshold
from pumonitor.metrics.resampled import resample
from pumonitor.results import ClassPriorEstimate, Estimate
from pumonitor.tables import ScoreTable
from tests.frozen import assert_as_frozen

PRIOR = 0.05


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    positive = rng.random(6000) < PRIOR
    table = ScoreTable.from_arrays(
        positive & (rng.random(6000) < 0.3), rng.normal(2.0 * positive), density_edges=0
    )
    return make_problem(table, ClassPriorEstimate.given((0.05, 0.04, 0.06)))


def by_hand(problem, resampled, metric):
    """Threshold by threshold, redraw by redraw."""
    many, runs = len(resampled.thresholds), len(resampled.labeled_draws)

    def at(g, theta, prior):
        rates = Rates(
            class_prior=np.float64(prior),
            recall=np.float64(g),
            false_positive_rate=np.float64(0),
            predicted_positive_rate=np.float64(theta),
        )
        return float(metric.formula(rates))

    prior = problem.class_prior.value
    seen = zip(resampled.labeled_above, resampled.population_above, strict=True)
    value = [at(g, theta, prior) for g, theta in seen]
    redrawn = [
        [
            at(
                resampled.labeled_draws[b, t],
                resampled.population_draws[b, t],
                resampled.prior_draws[b, 0],
            )
            for t in range(many)
        ]
        for b in range(runs)
    ]
    single = [min(np.quantile([row[t] for row in redrawn], 0.025), value[t]) for t in range(many)]
    reach = [one - low for one, low in zip(value, single, strict=True)]
    worst = [
        max((value[t] - row[t]) / reach[t] for t in range(many) if reach[t] > 0) for row in redrawn
    ]
    widening = max(1.0, np.quantile(worst, 0.975))
    low = [value[t] - widening * reach[t] for t in range(many)]
    return widening, [resampled.thresholds[t] for t in np.argsort(low)[::-1][:8]]


def test_it_is_what_its_definition_says(problem):
    resampled = resample(problem, cells=12)
    metric = outcome_metrics(6000, value=30, cost=2)["money"]
    another = float(problem.table.lower[30])
    found = best_threshold(problem, resampled, metric, also=[another])
    widening, finalists = by_hand(problem, resampled, metric)
    assert found.widening[0] == pytest.approx(widening, rel=1e-9)
    lows = {}
    for threshold in [*finalists, another]:
        one = metric.estimate(at_threshold(problem, threshold))
        lows[threshold] = one.value - widening * (one.value - one.low)
        assert found.band(one)[0] == pytest.approx(lows[threshold])
    assert found.threshold == max(lows, key=lows.get)
    assert found.low == pytest.approx(max(lows.values()), rel=1e-9)
    assert found.low < found.estimate.low < found.estimate.value < found.estimate.high < found.high


def test_a_threshold_where_hardly_anything_is_uncertain_does_not_widen_the_others():
    """At the second of three thresholds one redraw in twenty is far off, the others are not."""
    rng = np.random.default_rng(2)
    value = np.array([10.0, 6.0, 0.0])
    redrawn = value + np.stack([rng.normal(0, 1, 2000), np.zeros(2000), np.zeros(2000)], axis=1)
    redrawn[:40, 1] -= 1e-9
    redrawn[40:90, 1] -= 0.1
    common = {
        "confidence_level": 0.95,
        "flags_any": lambda one: one < 3,
        "estimate": lambda one: as_estimate(redrawn[:, round(one) - 1]),
    }
    thresholds = np.array([1.0, 2.0, 3.0])
    plain = best_of("f1", thresholds, value, redrawn, **common)
    held = best_of("f1", thresholds, value, redrawn, least_share=0.05, **common)
    assert plain.widening[0] > 1.5
    assert held.widening[0] == pytest.approx(1.0, abs=0.1)
    assert held.least_reach[0] == pytest.approx(0.05 * 1.96, rel=0.1)
    assert held.threshold == 1.0
    low = held.band(as_estimate(redrawn[:, 1]))[0]
    assert low == pytest.approx(6 - held.widening[0] * held.least_reach[0])


def as_estimate(draws):
    low, value, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return Estimate(
        name="f1",
        value=float(value),
        low=float(low),
        high=float(high),
        confidence_level=0.95,
        method="draws",
        n_labeled=1,
        n_unlabeled=1,
        range=(-np.inf, np.inf),
    )


def test_a_share_stays_a_share(problem):
    found = best_threshold(problem, resample(problem, cells=12), outcome_metrics(6000)["f1"])
    assert 0 <= found.low < found.estimate.value < found.high <= 1


@pytest.mark.parametrize(("value", "flagged"), [(0.0, 0.0), (1e9, 1.0)])
def test_where_no_review_pays_there_is_none_and_where_all_pay_all_are_reviewed(
    problem, value, flagged
):
    known = make_problem(problem.table, ClassPriorEstimate.given(PRIOR))
    metric = outcome_metrics(6000, value=value, cost=1)["money"]
    found = best_threshold(known, resample(known, cells=50), metric)
    above = known.population_above[known.table.index_of_threshold(found.threshold)]
    # Below the lowest labeled score nothing tells thresholds apart.
    assert above == pytest.approx(flagged, abs=0.4 * flagged)
    assert found.low == pytest.approx(found.estimate.value, rel=0.1)


def test_the_bound_holds_at_the_threshold_that_was_chosen():
    """A few runs of the worst design; `python -m benchmarks.decisions` has them all."""
    found = misses(DESIGNS[0], runs=30, seed=1, criteria=("money",))["money"]
    assert found.band <= 0.025 + 3 * (0.025 * 0.975 / 30) ** 0.5
    assert found.single > found.band
    assert found.optimism > 0


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["money", "f1"])
@pytest.mark.parametrize("number", range(len(DESIGNS)))
def test_bounds_at_the_chosen_threshold_over_many_runs(request, criterion, number):
    found = misses(DESIGNS[number], runs=200, seed=0, criteria=(criterion,))[criterion]
    assert found.band <= 0.025 + 3 * (0.025 * 0.975 / 200) ** 0.5
    assert_as_frozen(request, asdict(found))
