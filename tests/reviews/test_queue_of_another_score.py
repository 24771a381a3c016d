"""A queue that the champion's score filled, and the challenger that is evaluated beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pumonitor
from pumonitor.audit.placing import draw_hidden
from pumonitor.errors import InputError
from pumonitor.reviews.front_door import reviewed_models
from pumonitor.reviews.queue_score import ModelBins
from tests.reviews.made_up_queue import read

ROWS, RUNS = 20_000, 8


def shop(seed: int, *, blocks: bool):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(ROWS) < 0.02
    both = 0.6 * rng.normal(size=ROWS)
    champion = both + rng.normal(size=ROWS, scale=0.8) + 2.0 * is_positive
    challenger = both + rng.normal(size=ROWS, scale=0.8) + 2.6 * is_positive
    in_queue = champion >= np.quantile(champion, 0.98)
    verdicts = np.where(in_queue, is_positive.astype(float), np.nan)
    complains = is_positive & (rng.random(ROWS) < 0.5) & ~(in_queue & blocks)
    return is_positive, champion, challenger, verdicts, complains


def evaluated(seed: int, *, blocks: bool, **options):
    is_positive, champion, challenger, verdicts, complains = shop(seed, blocks=blocks)
    reviews = pumonitor.Reviews(verdicts, blocks=blocks, **{"ranked_by": champion, **options})
    threshold = float(np.quantile(challenger, 0.98))
    flagged = challenger >= threshold
    truth = {
        "class_prior": is_positive.mean(),
        "recall": (flagged & is_positive).sum() / is_positive.sum(),
        "precision": (flagged & is_positive).sum() / flagged.sum(),
    }
    return read(complains, challenger, reviews, threshold=threshold), truth


@pytest.mark.parametrize("blocks", [True, False])
def test_intervals_of_a_challenger_hold_the_truth(blocks):
    held = {"class_prior": 0, "recall": 0, "precision": 0}
    for seed in range(RUNS):
        reading, truth = evaluated(seed, blocks=blocks)
        estimates = reading.estimates
        for name, value in truth.items():
            held[name] += estimates[name].low <= value <= estimates[name].high
    assert min(held.values()) >= RUNS - 1


def test_a_queue_of_another_score_that_is_not_named_is_refused():
    with pytest.raises(InputError, match="lie below rows that were not reviewed"):
        evaluated(0, blocks=True, ranked_by=None)


def test_the_same_score_named_is_the_same_score():
    _, champion, _, verdicts, complains = shop(3, blocks=False)
    threshold = float(np.quantile(champion, 0.98))
    own, named = (
        pumonitor.evaluate(
            complains,
            champion,
            threshold=threshold,
            reviews=pumonitor.Reviews(verdicts, blocks=False, ranked_by=ranked_by),
        )
        for ranked_by in (None, champion)
    )
    assert named["recall"].value == pytest.approx(own["recall"].value, abs=0.02)
    assert named["class_prior"].low == pytest.approx(own["class_prior"].low, rel=0.02)
    assert named["class_prior"].high == pytest.approx(own["class_prior"].high, rel=0.02)


def test_no_cell_gets_more_than_its_silent_rows():
    rng = np.random.default_rng(0)
    silent = np.array([1, 5, 40, 1000])
    hidden = np.array([0.0, 3.0, 46.0, 900.0, 1046.0])
    placed = draw_hidden(hidden, rng.gamma(2.0, size=(5, 4)), silent, rng)
    assert np.all(placed <= silent + 1e-6)
    assert np.all(placed >= 0)
    assert placed.sum(axis=1) == pytest.approx(hidden, abs=1e-6)


def test_hidden_positives_are_drawn_and_not_spread():
    """As many rows in each of two cells: of 20 positives each has binomially many."""
    rng = np.random.default_rng(1)
    silent = np.array([500, 500])
    placed = draw_hidden(np.full(4000, 20.0), np.ones((4000, 2)), silent, rng)
    assert placed[:, 0].mean() == pytest.approx(10, abs=0.15)
    assert placed[:, 0].var() == pytest.approx(20 * 0.25 * 980 / 999, rel=0.1)


def test_odds_of_a_cell_are_those_of_its_rows():
    """Two cells of which one has no room for its share, were it in proportion to the odds."""
    rng = np.random.default_rng(2)
    placed = draw_hidden(
        np.full(4000, 12.0), np.tile([30.0, 1.0], (4000, 1)), np.array([10, 90]), rng
    ).mean(axis=0)
    odds = placed / (np.array([10, 90]) - placed)
    assert odds[0] / odds[1] == pytest.approx(30, rel=0.1)
    assert placed.sum() == pytest.approx(12)


def test_what_both_scores_tell_is_not_told_twice():
    """A challenger that is the champion with noise tells nothing beside it.

    Known positives favour its high scores for being high in the queue's. How many positives each
    bin of the queue has is given here, so that those which the challenger flags are right, or too
    many where its score is counted as well.
    """
    errors, spreads = [], []
    for seed in range(6):
        is_positive, champion, _, verdicts, complains = shop(seed, blocks=True)
        noise = np.random.default_rng(seed + 50).normal(size=ROWS)
        names = ("champion", "challenger")
        scores = dict(zip(names, (champion, 0.6 * champion + 0.8 * noise), strict=True))
        models = reviewed_models(
            complains,
            scores,
            reviews=pumonitor.Reviews(verdicts, blocks=True),
            complaint_rate=None,
            thresholds={name: (float(np.quantile(scores[name], 0.98)),) for name in names},
            confidence_level=0.95,
            class_prior="auto",
            scenario="single-training-set",
            label_purity=1.0,
            given={},
        )
        rows, reading = models.rows, models.readings["challenger"]
        true = np.bincount(rows.bin_of_row[is_positive], minlength=len(rows.counts.bins.rows))
        known = replace(models.by_queue[0], positives=np.tile(true.astype(float), (400, 1)))
        bins_of_row = models.bins_of_row["challenger"]
        (along,) = rows.along_models(known, [ModelBins(reading.counts, bins_of_row)])
        above = reading.counts.bins.above
        drawn = along.positives[:, above].sum(axis=1)
        errors.append(drawn.mean() - (is_positive & above[bins_of_row]).sum())
        spreads.append(drawn.std())
    assert abs(np.mean(errors)) < 2.5 * np.mean(spreads) / np.sqrt(len(errors))
    assert np.std(errors) < 2 * np.mean(spreads)


def test_scores_of_the_queue_are_one_a_row():
    with pytest.raises(InputError, match="got 2 for 3 rows"):
        pumonitor.Reviews([1, 0, None], blocks=True, ranked_by=[0.1, 0.2])


def test_positives_along_the_queue_are_kept():
    found, _ = evaluated(5, blocks=True)
    along_queue, along_model = found.by_queue[0].positives, found.posterior.positives
    assert along_model.sum(axis=1) == pytest.approx(along_queue.sum(axis=1), rel=1e-6)
