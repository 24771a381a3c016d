"""Redrawn shares at labeled cells alone are those of all cells."""

import numpy as np
import pytest
from scipy import stats

from pumonitor.metrics.maxima import maxima
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.resampled import resample
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

OF_BOTH = pytest.mark.parametrize("target", ["process", "window"])
OF_ALL = pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])


def both(scenario, target, **weights):
    """A problem, redrawn at all cells and at the labeled ones."""
    rng = np.random.default_rng(4)
    positive = rng.random(300) < 0.3
    labels = positive & (rng.random(300) < 0.4)
    scores = rng.normal(1.5 * positive)
    table = ScoreTable.from_arrays(labels, scores, thresholds=(1.0,), **weights)
    prior = ClassPriorEstimate.given((0.3, 0.2, 0.4))
    problem = make_problem(table, prior, scenario=scenario, target=target, rng=2)
    everywhere = resample(problem, cells=50, thresholds=(1.0,))
    alone = resample(problem, cells=50, thresholds=(1.0,), at="labeled")
    assert 3 < len(alone.thresholds) < len(everywhere.thresholds)
    assert set(alone.thresholds) <= set(everywhere.thresholds)
    return problem, everywhere, alone


@OF_ALL
@OF_BOTH
def test_with_weights_maxima_are_the_same_from_labeled_cells_alone(scenario, target):
    problem, everywhere, alone = both(scenario, target, sample_weight=np.linspace(1, 3, 300))
    assert maxima(problem, alone) == maxima(problem, everywhere)


@OF_ALL
@OF_BOTH
def test_sums_of_draws_are_drawn_at_once(scenario, target, monkeypatch):
    monkeypatch.setattr("pumonitor.metrics.resampled.RESAMPLES", 4000)
    _, everywhere, alone = both(scenario, target)
    at = np.searchsorted(everywhere.thresholds, alone.thresholds)
    for name in ("labeled_above", "population_above", "holds_labeled", "row_share"):
        assert np.array_equal(getattr(alone, name), getattr(everywhere, name)[at])
    for name in ("labeled_draws", "population_draws"):
        # The first is 1 and the last 0, but for rounding.
        one, other = getattr(alone, name)[:, 1:-1], getattr(everywhere, name)[:, at[1:-1]]
        for columns in (zip(one.T, other.T, strict=True), _steps(one, other)):
            assert min(stats.ks_2samp(*pair).pvalue for pair in columns) > 1e-4


def _steps(one, other):
    """Shares of each cell, whose correlations with others the sums above do not show."""
    return zip(np.diff(one).T, np.diff(other).T, strict=True)
