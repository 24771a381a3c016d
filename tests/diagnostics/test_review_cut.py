"""Labels that stop at a rank, and labels that only become rare."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import pumonitor
from pumonitor.diagnostics.review_cut import _deviance, review_cut
from pumonitor.tables import ScoreTable

ROWS = 20_000


def scored(auc=0.85, prior=0.1, seed=1, rows=ROWS):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < prior
    return rng, positive, rng.normal(stats.norm.ppf(auc) * np.sqrt(2) * positive)


def from_the_top(scores, positive, share, below, rng):
    reviewed = (scores >= np.quantile(scores, 1 - share)) | (rng.random(len(scores)) < below)
    return (positive & reviewed).astype(np.int8)


@pytest.mark.parametrize("below", [0.0, 0.05])
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_labels_from_the_highest_scores_alone_are_seen_where_they_stop(share, below):
    rng, positive, scores = scored()
    labels = from_the_top(scores, positive, share, below, rng)
    found = review_cut(ScoreTable.from_arrays(labels, scores))
    # Places that are looked at are 8% apart.
    assert found.share == pytest.approx(share, rel=0.15)
    assert found.score == pytest.approx(np.quantile(scores, 1 - share), abs=0.1)
    assert found.ratio == np.inf if below == 0 else 8 < found.ratio < 60
    assert found.p_value < 0.001
    assert not found.at_threshold


def test_a_cut_at_the_threshold_is_seen_from_fewer_labels():
    rng, positive, scores = scored(rows=3000)
    cut = float(np.quantile(scores, 0.95))
    table = ScoreTable.from_arrays(
        from_the_top(scores, positive, 0.05, 0.0, rng), scores, thresholds=(cut,)
    )
    assert table.n_labeled < 80
    assert review_cut(table) is None
    found = review_cut(table, thresholds=(cut,))
    assert found.at_threshold
    assert found.share == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize("auc", [0.7, 0.9, 0.98, 0.999])
@pytest.mark.parametrize("as_shares", [False, True])
def test_fair_labels_of_models_however_sharp_do_not_stop(auc, as_shares):
    for prior, labels in ((0.01, 100), (0.1, 100), (0.1, 1000), (0.3, 1000)):
        rng, positive, scores = scored(auc, prior, seed=labels)
        if as_shares:
            apart = stats.norm.ppf(auc) * np.sqrt(2)
            odds = prior / (1 - prior) * np.exp(apart * scores - 0.5 * apart**2)
            scores = odds / (1 + odds)
        chosen = positive & (rng.random(ROWS) < labels / positive.sum())
        table = ScoreTable.from_arrays(chosen.astype(int), scores)
        assert review_cut(table, thresholds=(float(np.quantile(scores, 1 - prior)),)) is None


def test_labels_that_stop_where_the_classes_are_apart_are_no_cut():
    """All scores of positives are above those of negatives, and thin out between them."""
    rng = np.random.default_rng(5)
    positive = rng.random(ROWS) < 0.1
    scores = rng.normal(np.where(positive, 4.0, -4.0))
    labels = positive & (rng.random(ROWS) < 0.3)
    assert review_cut(ScoreTable.from_arrays(labels.astype(int), scores)) is None


def test_a_few_heavy_rows_are_no_cut():
    for seed in range(6):
        rng, positive, scores = scored(seed=seed)
        labels = positive & (rng.random(ROWS) < 0.2)
        weights = np.exp(rng.normal(0.0, 1.5, ROWS))
        table = ScoreTable.from_arrays(labels.astype(int), scores, sample_weight=weights)
        assert review_cut(table) is None, seed


def test_a_cut_is_as_clear_whatever_the_unit_of_the_weights():
    rng, positive, scores = scored()
    labels = from_the_top(scores, positive, 0.1, 0.0, rng)
    plain = review_cut(ScoreTable.from_arrays(labels, scores))
    weighted = review_cut(ScoreTable.from_arrays(labels, scores, sample_weight=np.full(ROWS, 3.0)))
    assert weighted.p_value == pytest.approx(plain.p_value, rel=0.01)


def test_tied_scores_say_nothing_of_the_ranks_between_them():
    rng, positive, scores = scored(0.9, 0.2)
    scores = np.round(scores / 2)
    labels = positive & (rng.random(ROWS) < np.where(scores >= 1, 0.9, 0.3))
    assert review_cut(ScoreTable.from_arrays(labels.astype(int), scores)) is None


def test_evaluate_warns_and_says_what_to_do():
    rng, positive, scores = scored()
    labels = from_the_top(scores, positive, 0.05, 0.0, rng)
    cut = float(np.quantile(scores, 0.95))
    (found,) = [
        one
        for one in pumonitor.evaluate(labels, scores, threshold=cut, class_prior=0.1).warnings
        if one.name == "review_cut"
    ]
    assert found.severity == "warning"
    assert found.sentence.startswith(
        "Confirmed positives stop at the threshold (the highest 5% of rows): right below, there "
        "are none."
    )
    assert "verdicts as reviews; or review some rows at random" in found.sentence
    partial = from_the_top(scores, positive, 0.05, 0.05, rng)
    sentences = " ".join(
        map(str, pumonitor.evaluate(partial, scores, threshold=cut, class_prior=0.1).warnings)
    )
    assert " times as rare among the rows there" in sentences


@pytest.mark.parametrize("given", [{"scenario": "case-control"}, {"propensity": 0.5}])
def test_it_is_silent_where_labels_are_not_said_to_be_of_these_rows_or_at_random(given):
    rng, positive, scores = scored()
    labels = from_the_top(scores, positive, 0.05, 0.0, rng)
    evaluated = pumonitor.evaluate(labels, scores, threshold=2.0, class_prior=0.1, **given)
    assert "review_cut" not in {one.name for one in evaluated.warnings}


def test_every_row_of_counts_is_fitted_to_the_end():
    """At the maximum of a Poisson likelihood no column is left that the residuals follow."""
    x = np.linspace(-1.0, 1.0, 8)
    design = np.stack([np.ones_like(x), x, (x > 0).astype(float)])
    counts = np.array(
        [[3, 4, 2, 5, 1, 2, 1, 3], [90, 80, 95, 70, 1, 2, 0, 1], [5] * 8], dtype=float
    )
    offset = np.zeros(8)
    deviance, found = _deviance(counts, design, offset=offset)
    mean = np.exp(found @ design)
    assert np.abs((counts - mean) @ design.T).max() < 1e-9
    alone = [_deviance(counts[[row]], design, offset=offset)[0][0] for row in range(3)]
    assert deviance == pytest.approx(alone, rel=1e-12)
