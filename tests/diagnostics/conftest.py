"""A window with fair labels, and the findings of one evaluation."""

import numpy as np
import pytest

import pumonitor
from pumonitor import ScoreTable
from pumonitor.diagnostics import diagnose


class Window:
    """20,000 rows of which a tenth are positive, scores calibrated: N(2, 1) against N(0, 1)."""

    def __init__(self, seed=3, size=20_000, prior=0.1, distance=2.0):
        self.rng = np.random.default_rng(seed)
        self.positive = self.rng.random(size) < prior
        self.plain = self.rng.normal(distance * self.positive)
        odds = prior / (1 - prior) * np.exp(distance * self.plain - 0.5 * distance**2)
        self.scores = odds / (1 + odds)
        self.rank = np.argsort(np.argsort(self.plain)) / size
        self.fair = (self.positive & (self.rng.random(size) < 0.3)).astype(np.int8)
        # Rises with the rank: the easy positives.
        self.easy = (self.positive & (self.rng.random(size) < 0.5 * self.rank**8)).astype(np.int8)


@pytest.fixture
def window():
    return Window()


@pytest.fixture
def make_window():
    return Window


@pytest.fixture
def findings():
    """Findings by name, of labels and scores with further settings of the diagnostics."""

    def found(labels, scores, *, sources=None, settings=None, propensity=None, **keywords):
        keywords = {"threshold": 0.3, "class_prior": 0.1} | keywords
        ev = pumonitor.evaluate(labels, scores, propensity=propensity, **keywords)
        table = ScoreTable.from_arrays(
            labels, scores, thresholds=(keywords["threshold"],), propensity=propensity
        )
        listed = diagnose(
            table,
            ev.estimates,
            ev.class_prior,
            dict(ev.settings) | (settings or {}),
            label_sources=sources,
        )
        return {finding.name: finding for finding in listed}

    return found
