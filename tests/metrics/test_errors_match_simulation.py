"""Standard errors against the spread over simulated data sets, where weights follow the score."""

from functools import cache

import numpy as np
import pytest

import pumonitor
from benchmarks.simulation import Design, process_truth
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.recall import RECALL
from tests.frozen import assert_as_frozen, shares

DESIGN = Design(scenario="single-training-set", n_labeled=1, class_prior=0.15, auc=0.86)
THRESHOLD, ROWS = 1.0, 2000
FEW, MANY = 50, 300


def one(kind, target, seed):
    rng = np.random.default_rng([seed, 17])
    is_positive = rng.random(ROWS) < DESIGN.class_prior
    scores = rng.normal(DESIGN.separation * is_positive)
    weight = propensity = None
    chance = np.full(ROWS, 0.45)
    if kind == "sample_weight":
        weight = np.where(scores < 0.5, 5.0, 1.0)
    else:
        propensity = chance = 1 / (1 + np.exp(1.0 - scores))
    labels = is_positive & (rng.random(ROWS) < chance)
    prior = DESIGN.class_prior
    if target == "window":
        truth = weighted_truth(is_positive, scores, np.ones(ROWS) if weight is None else weight)
        prior = truth["class_prior"]
    elif weight is not None:
        truth = of_process(is_weighted=True)
        prior = truth["class_prior"]
    else:
        truth = process_truth(DESIGN) | of_process(is_weighted=False)
    table = pumonitor.ScoreTable.from_arrays(
        labels, scores, thresholds=[THRESHOLD], sample_weight=weight, propensity=propensity
    )
    problem = make_problem(table, pumonitor.ClassPriorEstimate.given(prior), target=target)
    at = at_threshold(problem, THRESHOLD)
    found = [
        aul_estimate(problem, observed_lift(problem)),
        *(metric.estimate(at) for metric in (RECALL, PRECISION, F1)),
    ]
    return {e.name: (e.value - truth[e.name], e.se, e.low, e.high, truth[e.name]) for e in found}


def weighted_truth(is_positive, scores, weight):
    order = np.argsort(scores)
    y, w = is_positive[order], weight[order]
    below = np.cumsum(w) - 0.5 * w
    positives = np.sum(w * y)
    above = scores[order] >= THRESHOLD
    recall, flagged = np.sum(w * y * above) / positives, np.sum(w * above) / w.sum()
    prior = positives / w.sum()
    return {
        "class_prior": prior,
        "aul": np.sum(w * y * below) / (positives * w.sum()),
        "recall": recall,
        "precision": prior * recall / flagged,
        "f1": 2 * prior * recall / (prior + flagged),
    }


@cache
def of_process(*, is_weighted):
    """Prior and metrics of the process, from a very large sample."""
    rng = np.random.default_rng(99)
    positive = rng.random(2_000_000) < DESIGN.class_prior
    scores = rng.normal(DESIGN.separation * positive)
    weight = np.where(scores < 0.5, 5.0, 1.0) if is_weighted else np.ones(len(scores))
    return weighted_truth(positive, scores, weight)


@pytest.mark.parametrize("runs", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("kind", ["sample_weight", "propensity"])
def test_standard_errors_with_weights_that_follow_the_score(kind, target, runs, request):
    found = [one(kind, target, seed) for seed in range(runs)]
    shown = {}
    for name in ("aul", "recall", "precision", "f1"):
        error, se, low, high, truth = np.array([run[name] for run in found]).T
        shown[name] = se.mean() / error.std()
        assert shown[name] == pytest.approx(1.0, abs=0.13 * (MANY / runs) ** 0.5), name
        held = np.mean((low <= truth) & (truth <= high))
        assert held > shares(runs), (name, held)
    if runs == MANY:
        assert_as_frozen(request, shown)
