"""AUL's interval by Theorem 1 and by Chebyshev, over every labeling and by simulation."""

import itertools

import numpy as np
import pytest

from pumonitor import metrics
from pumonitor.metrics.aul_theory import chebyshev_half_width, theorem_1_variance
from tests.oracles import pairs

SCORES = np.array([9.1, 8.3, 7.7, 7.2, 6.9, 6.1, 5.8, 5.0, 4.4, 4.1, 3.9, 3.0, 2.2, 1.6, 1.1, 0.3])
IS_POSITIVE = np.array([1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0], dtype=bool)


def test_variance_is_that_over_all_labelings_and_its_estimate_has_that_mean():
    placements = np.array([pairs.mean_win([s], SCORES) for s in SCORES[IS_POSITIVE]])
    theorem = theorem_1_variance(float(np.var(placements)), positives=9, labeled=4)
    values, estimated = [], []
    for chosen in itertools.combinations(np.flatnonzero(IS_POSITIVE), 4):
        labels = np.zeros(len(SCORES), dtype=int)
        labels[list(chosen)] = 1
        found = metrics.aul(
            labels, SCORES, class_prior=9 / 16, target="window", interval="theorem-1"
        )
        values.append(found.value)
        estimated.append(found.se**2)
    assert np.var(values) == pytest.approx(theorem, abs=1e-12)
    assert np.mean(estimated) == pytest.approx(theorem, abs=1e-12)


def test_chebyshev_holds_for_the_worst_placements_and_the_printed_form_does_not():
    """Half of 400 positives at the very top, half at the very bottom: the largest spread."""
    positives, labeled, level, runs = 400, 40, 0.75, 4000
    rng = np.random.default_rng(6)
    found = rng.hypergeometric(positives // 2, positives // 2, labeled, size=runs) / labeled
    errors = np.abs(found - 0.5)
    half = chebyshev_half_width(positives=positives, labeled=labeled, confidence_level=level)
    assert np.mean(errors >= half) <= 1 - level
    variance = theorem_1_variance(0.25, positives=positives, labeled=labeled)
    assert np.var(found) == pytest.approx(variance, rel=0.1)
    # P(error >= e) <= Var / e, as printed, at e = 0.05: .11 promised.
    assert np.mean(errors >= 0.05) > 3 * variance / 0.05


def test_intervals_are_ordered_and_vanish_when_every_positive_is_labeled():
    labels = np.zeros(len(SCORES), dtype=int)
    labels[np.flatnonzero(IS_POSITIVE)[[0, 2, 3, 6, 8]]] = 1

    def width(interval, **settings):
        found = metrics.aul(
            labels, SCORES, target="window", interval=interval, class_prior=9 / 16, **settings
        )
        assert (found.se_sampling, found.se_prior) == (found.se, 0.0)
        return found.high - found.low

    assert width("theorem-1") < width("student") < width("chebyshev")
    all_labeled = metrics.aul(
        IS_POSITIVE.astype(int),
        SCORES,
        class_prior=9 / 16,
        target="window",
        interval="chebyshev",
    )
    assert all_labeled.low == all_labeled.value == all_labeled.high


def test_where_the_theorem_says_nothing_it_is_refused():
    labels = IS_POSITIVE.astype(int)
    with pytest.raises(ValueError, match=r"needs target='window' and no weights or propensities"):
        metrics.aul(labels, SCORES, class_prior=0.6, interval="theorem-1", propensity=0.5)
    with pytest.raises(ValueError, match=r"interval must be 'student', 'theorem-1'"):
        metrics.aul(labels, SCORES, interval="normal")
