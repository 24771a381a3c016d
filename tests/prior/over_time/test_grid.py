import numpy as np
import pytest
from scipy import special

from pumonitor.prior.over_time.grid import MOVES, UNMOVED, cells, class_priors, quantiles_of_cells


def test_cells_of_neighbouring_levels_meet_and_hold_their_point():
    level = special.expit(np.array([-3.0, -2.6, -2.5]))
    low, high = cells(level)
    assert high[:-1] == pytest.approx(low[1:])
    points = special.logit(class_priors(level))
    assert ((low < points) & (points < high)).all()
    assert low[:, UNMOVED].tolist() == pytest.approx([-3.2, -2.8, -2.55])
    assert MOVES[UNMOVED] == 0


def test_a_level_alone_has_a_cell_as_well():
    low, high = cells(np.array([0.2]))
    assert low.shape == (1, len(MOVES))
    assert high - low == pytest.approx(0.12)


def test_quantiles_of_overlapping_cells_are_those_of_draws():
    rng = np.random.default_rng(1)
    ends = np.array([[0.0, 1.5, -4.0], [2.0, 1.7, 5.0]])
    weight = np.array([0.5, 0.3, 0.2])
    which = rng.choice(3, size=300_000, p=weight)
    draws = rng.uniform(ends[0, which], ends[1, which])
    shares = np.array([0.01, 0.2, 0.5, 0.7, 0.97])
    found = quantiles_of_cells(ends, weight, shares)
    assert found == pytest.approx(np.quantile(draws, shares), abs=0.06)
