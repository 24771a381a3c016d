"""Average precision is right on average whatever the shape of the scores; its ends are possible."""

import numpy as np
import pytest

import pumonitor
from benchmarks.average_precision import summary
from benchmarks.shapes import SHAPES, ShapedDesign
from tests.given_labels import labels_as_given


def windows(design, *, runs):
    return (design.draw(np.random.default_rng([7, run])) for run in range(runs))


def test_it_is_right_on_average_where_precision_is_low_and_the_ranking_good():
    """The average over a recovered curve, once used from AUC .85 on, is too high by .06 there."""
    design = ShapedDesign(shape="gamma", auc=0.9, class_prior=0.05, n_labeled=20)
    found = [
        pumonitor.metrics.average_precision(*rows, class_prior=0.05).value
        for rows in windows(design, runs=250)
    ]
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(design.average_precision(), abs=2.5 * error)
    assert 2.5 * error < 0.03


def test_no_end_is_impossible_where_the_value_is_possible():
    """With eight labels the log scale allowed for thousands."""
    design = ShapedDesign(shape="gamma", auc=0.9, class_prior=0.05, n_labeled=8)
    for labels, scores in windows(design, runs=3):
        with labels_as_given():
            ev = pumonitor.evaluate(labels, scores, threshold=1.0, class_prior=(0.05, 0.03, 0.08))
        plain = ev.to_dict()["estimates"]["average_precision"]
        assert plain["infeasible"] == (plain["value"] > 1)
        assert plain["low"] <= plain["value"] <= plain["high"]
        assert plain["high"] <= (1 if plain["value"] <= 1 else 2 * plain["value"])
        assert plain["se"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_over_shapes_bias_is_small_beside_the_error_and_the_interval_holds(shape):
    for auc, class_prior, n_labeled in ((0.75, 0.05, 20), (0.9, 0.05, 20), (0.98, 0.3, 50)):
        design = ShapedDesign(shape=shape, auc=auc, class_prior=class_prior, n_labeled=n_labeled)
        found = summary(design, runs=200, seed=3)
        # Two Monte-Carlo errors of each.
        assert abs(found.bias) < 1 / 3 + 2 / np.sqrt(200)
        assert found.covered > 0.93 - 2 * np.sqrt(0.07 * 0.93 / 200)
