"""Scores that are equal."""

import numpy as np
import pytest

from pumonitor import ScoreTable
from pumonitor.diagnostics.ties import tied_pairs, tied_scores


def test_tied_pairs_against_a_count_of_pairs():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 2, 60), rng.integers(0, 9, 60) / 8
    tied = np.mean(scores[labels == 1][:, None] == scores[labels == 0][None, :])
    assert tied_pairs(ScoreTable.from_arrays(labels, scores)) == pytest.approx(tied)


def test_many_tied_pairs_name_the_score(window, findings):
    found = findings(window.fair, np.minimum(window.scores, 0.1), threshold=0.05)
    assert "most of them at 0.1, the highest score" in found["tied_scores"].sentence


def test_half_the_rows_at_one_low_score_are_a_note():
    labels = np.repeat([1, 0, 0], [50, 600, 350])
    scores = np.concatenate([np.linspace(0.5, 1, 50), np.zeros(600), np.linspace(0.1, 0.9, 350)])
    (found,) = tied_scores(ScoreTable.from_arrays(labels, scores))
    assert (found.name, found.severity) == ("saturated_scores", "note")
    assert found.sentence.startswith("60% of the rows score exactly 0:")


def test_bins_are_not_ties():
    table = ScoreTable.from_counts([20, 80], [900, 300], edges=[0.0, 0.5, 1.0])
    assert tied_scores(table) == []
