"""A queue that the champion's score filled, and the challenger that is evaluated beside it."""

from __future__ import annotations

import numpy as np
import pytest

import pumonitor
from pumonitor.errors import InputError
from pumonitor.reviews.front_door import reviewed_rows
from pumonitor.reviews.queue_score import _place_hidden

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
    _, reading = reviewed_rows(
        complains,
        challenger,
        reviews=reviews,
        complaint_rate=None,
        thresholds=(threshold,),
        confidence_level=0.95,
        class_prior="auto",
        scenario="single-training-set",
        label_purity=1.0,
        given={},
    )
    return reading, truth


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
    hidden = np.array([0.0, 3.0, 46.0, 900.0])
    placed = _place_hidden(hidden, rng.gamma(2.0, size=(4, 4)), silent, rng)
    assert np.all(placed <= silent + 1e-9)
    assert placed.sum(axis=1) == pytest.approx(hidden)


def test_scores_of_the_queue_are_one_a_row():
    with pytest.raises(InputError, match="got 2 for 3 rows"):
        pumonitor.Reviews([1, 0, None], blocks=True, ranked_by=[0.1, 0.2])


def test_positives_along_the_queue_are_kept():
    found, _ = evaluated(5, blocks=True)
    along_queue, along_model = found.by_queue.positives, found.posterior.positives
    assert along_model.sum(axis=1) == pytest.approx(along_queue.sum(axis=1), rel=1e-6)
