"""Standard errors against the spread over simulated data sets, where weights follow the score."""

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

DESIGN = Design(scenario="single-training-set", n_labeled=1, class_prior=0.15, auc=0.86)
THRESHOLD, ROWS, RUNS = 1.0, 2000, 300


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
    row_weight = np.ones(ROWS) if weight is None else weight
    if weight is not None:
        # The weighted population: its prior and metrics come from a very large sample.
        prior = WEIGHTED["class_prior"]
    truth = WEIGHTED if weight is not None else process_truth(DESIGN) | AT_THRESHOLD
    if target == "window":
        truth = weighted_truth(is_positive, scores, row_weight)
        prior = truth["class_prior"]
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


_rng = np.random.default_rng(99)
_positive = _rng.random(2_000_000) < DESIGN.class_prior
_scores = _rng.normal(DESIGN.separation * _positive)
WEIGHTED = weighted_truth(_positive, _scores, np.where(_scores < 0.5, 5.0, 1.0))
AT_THRESHOLD = weighted_truth(_positive, _scores, np.ones(len(_scores)))


@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("kind", ["sample_weight", "propensity"])
def test_standard_errors_with_weights_that_follow_the_score(kind, target):
    runs = [one(kind, target, seed) for seed in range(RUNS)]
    for name in ("aul", "recall", "precision", "f1"):
        error, se, low, high, truth = np.array([run[name] for run in runs]).T
        assert se.mean() / error.std() == pytest.approx(1.0, abs=0.13), name
        held = np.mean((low <= truth) & (truth <= high))
        assert held > 0.905, (name, held)
