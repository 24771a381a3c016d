"""Labeled positives against what reviewed cases, confirmed either way, say."""

import numpy as np
import pytest

from pumonitor import ScoreTable
from pumonitor.diagnostics.reviewed_cases import _Binned, positives_by_review


def reviewed(window, chance):
    picked = window.rng.random(len(window.scores)) < chance
    return np.where(picked, np.where(window.positive, 1, -1), 0).astype(np.int8)


def test_cases_reviewed_evenly_are_silent(window, findings):
    assert findings(reviewed(window, 0.2), window.scores) == {}


def test_fair_positives_and_fair_negatives_at_other_rates_are_silent(window, findings):
    labels = window.fair.copy()
    labels[~window.positive & (window.rng.random(20_000) < 0.03)] = -1
    assert findings(labels, window.scores) == {}


def test_cases_reviewed_by_score_are_seen(window, findings):
    found = findings(reviewed(window, 0.02 + 0.5 * window.rank**8), window.scores)
    sentence = found["unfair_labels_by_review"].sentence
    assert sentence.startswith("Confirmed positives score higher (one outscores a positive in ")
    assert "verdicts as reviews; or give the chance of review as propensity" in sentence


def test_propensities_make_labels_of_cases_reviewed_by_score_fair(window, findings):
    chance = 0.05 + 0.5 * window.rank**8
    labels = reviewed(window, chance)
    propensity = np.where(labels == 1, chance, 1.0)
    found = findings(labels, window.scores, propensity=propensity)
    assert "unfair_labels_by_review" not in found


def test_scores_nobody_reviews_are_named(window, findings):
    labels = reviewed(window, 0.5 * (window.rank > 0.9))
    sentence = findings(labels, window.scores)["never_reviewed"].sentence
    assert sentence.startswith("90.2% of all rows score below")


def test_negatives_confirmed_only_high_while_positives_come_from_everywhere(window, findings):
    labels = window.fair.copy()
    labels[~window.positive & (window.rank > 0.9) & (window.rng.random(20_000) < 0.5)] = -1
    assert "never_reviewed" not in findings(labels, window.scores)


@pytest.mark.parametrize("keywords", [{"scenario": "case-control"}, {"label_purity": 0.9}])
def test_nothing_is_said_where_the_comparison_does_not_hold(window, findings, keywords):
    labels = reviewed(window, 0.02 + 0.5 * window.rank**8)
    labels[np.argmax(window.scores)] = 0
    found = findings(labels, window.scores, **keywords)
    assert {"unfair_labels_by_review", "never_reviewed"}.isdisjoint(found)


def test_rejects_no_more_often_than_stated(make_window):
    rejected = 0
    for seed in range(150):
        window = make_window(seed=seed, size=3000)
        table = ScoreTable.from_arrays(reviewed(window, 0.3), window.scores)
        test = positives_by_review(_Binned.of(table))
        assert test is not None
        rejected += test.p_value < 0.1
    # 150 runs at 10%: 15 with a standard deviation of 3.7.
    assert 3 <= rejected <= 27
