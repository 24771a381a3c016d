"""Sample weights and propensities go through every metric and interval."""

import numpy as np
import pytest

import pumonitor
from benchmarks.simulation import Design, process_truth
from pumonitor.metrics.running_sums import above, share_variance


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(11)
    labels = (rng.random(300) < 0.3).astype(int)
    scores = np.round(rng.normal(labels * 1.0), 1)
    weight = rng.integers(1, 5, 300)
    weighted = pumonitor.evaluate(
        labels, scores, class_prior=0.5, sample_weight=weight.astype(float)
    )
    repeated = pumonitor.evaluate(
        np.repeat(labels, weight), np.repeat(scores, weight), class_prior=0.5
    )
    for name in ("aul", "auc", "recall", "precision", "f1", "mcc", "auc_pu", "f1_pu"):
        assert weighted[name].value == pytest.approx(repeated[name].value, abs=1e-12), name
        # Repeating rows pretends to know more than there is.
        assert weighted[name].se > repeated[name].se, name
    # So it does of the best of many thresholds: less luck is taken off.
    assert weighted["f1_max"].value < repeated["f1_max"].value


def test_propensities_undo_easy_positives_first():
    design = Design(scenario="single-training-set", n_labeled=10, class_prior=0.2, auc=0.85)
    rng = np.random.default_rng(2)
    is_positive = rng.random(60_000) < 0.2
    scores = rng.normal(design.separation * is_positive)
    propensity = 1 / (1 + np.exp(-(scores - 1.0)))
    labels = is_positive & (rng.random(60_000) < propensity)
    settings = {"threshold": design.threshold, "class_prior": 0.2}
    truth = process_truth(design)
    naive = pumonitor.evaluate(labels, scores, **settings)
    ev = pumonitor.evaluate(labels, scores, propensity=propensity, **settings)
    for name in ("aul", "auc", "recall", "precision", "f1", "mcc", "average_precision"):
        assert abs(ev[name].value - truth[name]) < 4 * ev[name].se, name
        assert abs(naive[name].value - truth[name]) > 4 * naive[name].se, name


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("sample_weight", [1.0, -1.0, 1.0, 0.0], "sample_weight must be finite, above 0: 2 of 4"),
        ("sample_weight", [1.0, 1.0], "sample_weight must have one value per row: got 2 for 4"),
        ("propensity", [0.5, 0.0, 1.5, 0.5], "propensity of labeled rows .* at most 1: 1 of 2"),
        ("propensity", [0.5, 0.5], "propensity must have one value per row: got 2 for 4"),
    ],
)
def test_wrong_weights_are_refused(argument, value, message):
    with pytest.raises(ValueError, match=message):
        pumonitor.evaluate([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4], class_prior=0.6, **{argument: value})


def test_the_variance_of_a_share_is_that_of_its_weighted_rows():
    rng = np.random.default_rng(4)
    weight = rng.uniform(0.5, 3.0, 7)
    squares = above(weight**2) / weight.sum() ** 2
    shares = above(weight) / weight.sum()
    for cell in range(8):
        is_above = np.arange(7) >= cell
        expected = np.sum(weight**2 * (is_above - shares[cell]) ** 2) / weight.sum() ** 2
        found = share_variance(shares[cell], squares, cell)
        assert found == pytest.approx(expected, abs=1e-12)
