"""Uneven weights."""

import numpy as np

from pumonitor.text import count_text, percent_text


def test_equal_weights_are_silent(window, findings):
    assert findings(window.fair, window.scores, propensity=np.full(20_000, 0.3)) == {}


def test_a_few_tiny_propensities_are_named(window, findings):
    propensity = np.full(20_000, 0.3)
    propensity[np.flatnonzero(window.fair)[:3]] = 0.002
    found = findings(window.fair, window.scores, propensity=propensity, class_prior=(0.05, 0.3))
    sentence = found["few_effective_rows"].sentence
    count = int(window.fair.sum())
    weights = np.concatenate([np.full(count - 3, 1 / 0.3), np.full(3, 500.0)])
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert f"The {count} confirmed positives count for only {count_text(effective)}:" in sentence
    assert f"the heaviest row holds {percent_text(500 / weights.sum())} of all" in sentence


def test_the_share_of_the_heaviest_row_is_read_from_the_settings(window, findings):
    propensity = np.full(20_000, 0.3)
    propensity[window.fair == 1] = window.rng.uniform(0.25, 0.35, int(window.fair.sum()))
    found = findings(
        window.fair, window.scores, propensity=propensity, settings={"largest_weight_share": 0.4}
    )
    assert "holds 40% of all" in found["few_effective_rows"].sentence
