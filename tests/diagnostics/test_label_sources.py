"""Labeled rows of several sources."""

import numpy as np
import pytest
from scipy import stats

from pumonitor.diagnostics.label_sources import (
    _same_scores,
    chance_of_higher,
    different_label_sources,
)


def drawn(*shifts, seed=0, rows=200):
    rng = np.random.default_rng(seed)
    return {f"source {i}": rng.normal(shift, size=rows + 7 * i) for i, shift in enumerate(shifts)}


def test_sources_alike_are_silent():
    assert different_label_sources(drawn(0, 0, 0)) == []
    assert different_label_sources(None) == []


def test_the_two_most_different_sources_are_named_higher_first():
    (found,) = different_label_sources(drawn(0, -0.6, 0.6))
    assert found.sentence.startswith(
        "Confirmed positives from source 2 score higher than those from source 1 "
    )
    assert "214 and 207 rows" in found.sentence


def test_a_difference_too_small_to_matter_is_silent_however_sure():
    sources = drawn(0, 0.1, rows=30_000)
    assert _same_scores(list(sources.values())) < 1e-6
    assert different_label_sources(sources) == []


def test_sources_of_a_few_rows_are_left_out():
    assert different_label_sources({"many": np.arange(500.0), "few": np.full(4, 900.0)}) == []


def test_p_value_is_that_of_kruskal_wallis_with_ties():
    sources = [np.round(scores, 0) for scores in drawn(0, 0.3, 0.1, rows=40).values()]
    assert _same_scores(sources) == pytest.approx(stats.kruskal(*sources).pvalue, rel=1e-9)
    assert _same_scores([np.ones(5), np.ones(9)]) == 1.0


def test_chance_of_higher_counts_pairs():
    first, second = np.array([3.0, 1.0, 1.0]), np.array([2.0, 1.0])
    pairs = [(a > b) + 0.5 * (a == b) for a in first for b in second]
    assert chance_of_higher(first, second) == pytest.approx(np.mean(pairs))


def test_a_few_low_rows_of_one_source_are_seen_though_the_rest_agrees(findings_of_sources):
    rng = np.random.default_rng(8)
    right, rows = rng.normal(3.0, 1.0, size=(2, 1000)), rng.normal(0.0, 1.0, size=80)
    found = findings_of_sources({"one": right[0], "two": np.concatenate([right[1], rows])})
    assert set(found) == {"low_scores_of_one_source"}
    assert "two confirms some by mistake" in found["low_scores_of_one_source"].sentence


def test_alike_sources_are_hardly_ever_said_to_differ(findings_of_sources):
    fired = 0
    for seed in range(400):
        rng = np.random.default_rng([9, seed])
        fired += bool(findings_of_sources({"a": rng.normal(size=40), "b": rng.normal(size=120)}))
    assert fired <= 4


@pytest.fixture
def findings_of_sources():
    return lambda sources: {finding.name: finding for finding in different_label_sources(sources)}
