"""The label frequency of all positives, from that by bin."""

import numpy as np
import pytest

from pumonitor.audit.overall import confirmed_share, level_of, log_density, with_departures
from tests.audit.made_up_audit import counts


def test_departures_move_and_spread_the_level_as_in_draws():
    audit, tau = counts(), 0.3
    line = np.linspace(1.0, 2.5, 12)
    part = confirmed_share(audit) * np.exp(line)
    level, spread = with_departures(part.sum(), (part**2).sum(), np.array([0.0, tau]))
    departed = line[:, np.newaxis] + tau * np.random.default_rng(0).standard_normal((12, 400_000))
    drawn = level_of(departed, audit)
    assert level[0] == pytest.approx(level_of(line[:, np.newaxis], audit)[0])
    assert spread[0] == 0
    assert level[1] == pytest.approx(drawn.mean(), abs=0.002)
    assert level[1] - level[0] > 0.03
    assert spread[1] == pytest.approx(drawn.var(), rel=0.1)


def test_density_holds_as_much_whatever_the_spread():
    level = np.linspace(-20, 20, 40_001)
    held = [np.exp(log_density(level, (1.2, 0.04), spread)).sum() for spread in (0.0, 0.5, 3.0)]
    assert held == pytest.approx([held[0]] * 3)
    assert level[np.argmax(log_density(level, (1.2, 0.04), 0.5))] == pytest.approx(1.2)
