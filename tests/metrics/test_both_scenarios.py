"""F1, AUC, precision, MCC and average precision are right in both scenarios at once."""

import numpy as np
import pytest

import pumonitor
from benchmarks.simulation import Design, process_truth, simulate

NAMES = ("auc", "aul", "average_precision", "recall", "precision", "f1", "mcc", "accuracy")


@pytest.mark.parametrize("auc", [0.75, 0.92])
@pytest.mark.parametrize(
    ("scenario", "label_frequency"),
    [("single-training-set", 0.5), ("single-training-set", 0.9), ("case-control", 0.5)],
)
@pytest.mark.parametrize("label_purity", [1.0, 0.85])
def test_estimates_are_within_sampling_error(scenario, label_frequency, auc, label_purity):
    design = Design(
        scenario=scenario,
        n_labeled=20_000,
        class_prior=0.15,
        auc=auc,
        label_frequency=label_frequency,
        label_purity=label_purity,
    )
    window = simulate(design, np.random.default_rng(7))
    ev = pumonitor.evaluate(
        window.labels,
        window.scores,
        threshold=design.threshold,
        class_prior=design.class_prior,
        scenario=scenario,
        label_purity=label_purity,
    )
    truth = process_truth(design)
    for name in NAMES:
        estimate = ev[name]
        assert abs(estimate.value - truth[name]) < 4 * estimate.se, name
        assert estimate.se < 0.02, name


def test_mixing_up_the_scenarios_is_seen():
    """The other scenario's formula is far outside the interval: the two are not the same number."""
    design = Design(
        scenario="single-training-set",
        n_labeled=5000,
        class_prior=0.3,
        auc=0.8,
        label_frequency=0.9,
    )
    window = simulate(design, np.random.default_rng(1))
    ev = pumonitor.evaluate(
        window.labels,
        window.scores,
        threshold=design.threshold,
        class_prior=0.3,
        scenario="case-control",
    )
    truth = process_truth(design)
    assert not ev["auc"].low <= truth["auc"] <= ev["auc"].high
    assert not ev["precision"].low <= truth["precision"] <= ev["precision"].high
