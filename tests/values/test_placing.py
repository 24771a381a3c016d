"""Where hidden positives are, against a likelihood that is written out and searched by scipy."""

import numpy as np
import pytest
from scipy import optimize, special

from pumonitor.audit.placing import Axis, _slope_draws, place_hidden
from pumonitor.values.cells import cells_of_values, steps_of

HEIGHTS = np.array([-1.4, -0.3, 0.6, 1.9])
POSSIBLE = np.array([[400, 300, 200, 100], [30, 25, 20, 15]])
POSITIVES = np.array([20.0, 55.0])
"""In the second bin most rows are positive: there a share hardly moves with the odds."""


def shares(slope):
    """Cells of a positive by bin: the level is searched for that gives its positives."""
    rows = []
    for possible, wanted in zip(POSSIBLE, POSITIVES, strict=True):

        def missing(level, possible=possible, wanted=wanted):
            return possible @ special.expit(level + slope * HEIGHTS) - wanted

        level = optimize.brentq(missing, -30, 30)
        expected = possible * special.expit(level + slope * HEIGHTS)
        rows.append(expected / expected.sum())
    return np.array(rows)


def test_slopes_are_those_of_the_likelihood():
    total = np.array([9.0, 40.0])
    known = total[:, np.newaxis] * shares(0.8)

    def minus_log_likelihood(slope):
        return -float((known * np.log(shares(slope))).sum()) + 0.5 * (slope - 0.8) ** 2

    best = optimize.minimize_scalar(minus_log_likelihood, bounds=(-3, 4), method="bounded").x
    step = 1e-3
    bend = (
        minus_log_likelihood(best + step)
        - 2 * minus_log_likelihood(best)
        + minus_log_likelihood(best - step)
    ) / step**2
    heights = np.broadcast_to(HEIGHTS[:, np.newaxis], (2, 4, 1))
    drawn, expected = _slope_draws(
        known,
        POSSIBLE,
        POSITIVES,
        heights,
        np.array([0.8]),
        np.array([1.0]),
        200_000,
        np.random.default_rng(1),
    )
    assert best == pytest.approx(0.8, abs=1e-3)
    assert drawn.mean() == pytest.approx(best, abs=0.005)
    assert drawn.std() == pytest.approx(bend**-0.5, rel=0.01)
    assert expected == pytest.approx(known.sum(axis=0), rel=1e-4)


def test_hidden_positives_are_as_many_as_drawn_and_no_more_than_there_are():
    rng = np.random.default_rng(2)
    drawn = np.column_stack([rng.integers(0, 30, 300), rng.integers(0, 95, 300)]).astype(float)
    silent = POSSIBLE - 1
    axis = Axis(np.arange(4), HEIGHTS, (0.0, 0.0), (1.0, 0.3), turn=0.5, line_counts=10.0)
    for index, placed in place_hidden(
        drawn,
        silent,
        known=np.ones_like(POSSIBLE),
        possible=POSSIBLE,
        tells=np.array([True, True]),
        axes=[axis],
        position=np.array([-0.5, 0.5]),
        rng=rng,
    ):
        assert np.all((placed >= 0) & (placed <= silent[index]))
        wanted = np.minimum(drawn[:, index], silent[index].sum())
        assert placed.sum(axis=1) == pytest.approx(wanted, abs=1e-6)


def test_cells_hold_neighbouring_values_and_the_lowest_hardly_any_value():
    values = np.random.default_rng(3).pareto(1.5, 5000)
    cells = cells_of_values(values)
    order = np.argsort(values)
    assert np.all(np.diff(cells.of_row[order]) >= 0)
    assert np.all(np.diff(cells.normal) > 0)
    steps = steps_of(values)
    for cell in range(1, cells.of_row.max() + 1):
        assert len(np.unique(steps[cells.of_row == cell])) == 1
    lowest = values[cells.of_row == 0]
    assert len(np.unique(steps_of(lowest))) == 1 or lowest.sum() <= 0.006 * values.sum()
