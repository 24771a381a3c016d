"""Redrawn shares at labeled cells alone are those of all cells, from the same draws."""

import numpy as np
import pytest

from pumonitor.metrics.maxima import maxima
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.resampled import resample
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("target", ["process", "window"])
def test_maxima_are_the_same_from_labeled_cells_alone(scenario, target):
    rng = np.random.default_rng(4)
    positive = rng.random(300) < 0.3
    labels = positive & (rng.random(300) < 0.4)
    table = ScoreTable.from_arrays(labels, rng.normal(1.5 * positive), thresholds=(1.0,))
    prior = ClassPriorEstimate.given((0.3, 0.2, 0.4))
    problem = make_problem(table, prior, scenario=scenario, target=target, rng=2)
    everywhere = resample(problem, cells=50, thresholds=(1.0,))
    alone = resample(problem, cells=50, thresholds=(1.0,), at="labeled")
    assert 3 < len(alone.thresholds) < len(everywhere.thresholds)
    assert set(alone.thresholds) <= set(everywhere.thresholds)
    assert maxima(problem, alone) == maxima(problem, everywhere)
