"""Whether the highest scores are purely positive."""

import numpy as np
import pytest
from scipy import stats

from pumonitor import ScoreTable
from pumonitor.diagnostics.pure_region import top_region


def test_against_scipy_within_the_region():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [400, 4000])
    scores = np.round(rng.normal(1.0 * labels), 1)
    top = top_region(ScoreTable.from_arrays(labels, scores))
    # The first score from which on at least a quarter of the labeled rows lie.
    labeled = scores[labels == 1]
    limit = max(value for value in np.unique(scores) if np.mean(labeled >= value) >= 0.25)
    ours, others = labeled[labeled >= limit], scores[(labels == 0) & (scores >= limit)]
    expected = stats.mannwhitneyu(ours, others, alternative="greater", use_continuity=False)
    assert top.chance == pytest.approx(expected.statistic / (len(ours) * len(others)))
    assert top.p_value == pytest.approx(expected.pvalue, rel=0.02)


def test_a_poor_ranking_has_no_pure_region_and_the_note_says_what_the_counts_allow(findings):
    rng = np.random.default_rng(1)
    positive = rng.random(100_000) < 0.05
    labels = (positive & (rng.random(100_000) < 0.5)).astype(int)
    found = findings(labels, rng.normal(1.2 * positive), class_prior="tilt", threshold=2.0)
    note = found["no_pure_region"]
    assert note.severity == "note"
    assert "these outscore the other rows in" in note.sentence
    bound = float(note.sentence.split("at most ")[1].split(". ")[0])
    assert 0.06 < bound < 0.3


def test_silent_where_the_prior_was_given(findings):
    rng = np.random.default_rng(1)
    positive = rng.random(100_000) < 0.05
    labels = (positive & (rng.random(100_000) < 0.5)).astype(int)
    found = findings(labels, rng.normal(1.2 * positive), class_prior=0.05, threshold=2.0)
    assert "no_pure_region" not in found


def test_silent_with_a_good_ranking_and_with_negatives_exactly_like_positives(findings):
    """The second cannot be told from more positives by anything."""
    for alike in (0.0, 0.2):
        rng = np.random.default_rng(2)
        positive = rng.random(20_000) < 0.1
        labels = (positive & (rng.random(20_000) < 0.3)).astype(int)
        high = positive | (rng.random(20_000) < alike)
        found = findings(labels, rng.normal(3.5 * high), class_prior="auto", threshold=2.0)
        assert "no_pure_region" not in found
        assert "prior_is_upper_bound" in found


@pytest.mark.slow
def test_rejects_a_pure_top_as_often_as_stated():
    """Every row positive: labeled and unlabeled rows are alike everywhere."""
    labels = np.repeat([1, 0], [200, 500])
    p_values = [
        top_region(
            ScoreTable.from_arrays(labels, np.random.default_rng(seed).normal(size=700))
        ).p_value
        for seed in range(400)
    ]
    # 10% of 400 are 40, with a standard deviation of 6.
    assert 20 <= np.sum(np.array(p_values) < 0.1) <= 60


@pytest.mark.parametrize(
    ("labeled", "unlabeled"),
    [([27, 9], [500, 500]), ([300, 100], [500, 9]), ([50, 150], [600, 0]), ([300, 100], [50, 60])],
)
def test_too_few_rows_or_one_score_say_nothing(labeled, unlabeled):
    lower = [0.0, 1.0]
    table = ScoreTable.from_counts(labeled, unlabeled, lower=lower, upper=lower)
    assert top_region(table).p_value == 1.0
