"""Draws against a random walk over the formulas of the table, of another making."""

import numpy as np
import pytest
from scipy import special

from pumonitor.reviews import ComplaintRate, estimate_reviews
from tests.oracles.review_cells import Line, hidden_positives, random_walk
from tests.reviews.made_up_queue import BLOCKED, MISTAKEN, NOT_BLOCKED, counts_of, logit

LEVELS = [0.025, 0.5, 0.975]
SEEDS = 3
METRICS = ("class_prior", "recall", "auc")

# The draws of three seeds are worth about 4,500 independent ones, those of the walk about 2,000.
# On the scale of logits, in standard deviations, the median of 1,400 independent draws in all then
# errs by 1.25 / 1400 ** .5 = .033 and an end by .072 (the density of a normal there is .058), or
# .14 where the tail is twice as long. Three and a half and two and a half of these:
TOLERANCE = np.array([0.35, 0.115, 0.35])

CASES = {
    "blocks": (BLOCKED, True, None),
    "complains anyhow": (NOT_BLOCKED, False, None),
    "blocks, reviewers err": ({**BLOCKED, **MISTAKEN}, True, (float(np.log(9)), 1.0)),
    "complains anyhow, reviewers err": (
        {**NOT_BLOCKED, **MISTAKEN},
        False,
        (float(np.log(9)), 1.0),
    ),
}


def line_of(rows, *, rank):
    """Where the bins lie, as the prior reads it: three of seven were reviewed."""
    number = np.sum(list(rows.values()), axis=0)
    normal_score = special.ndtri((np.cumsum(number) - 0.5 * number) / number.sum())
    return Line(
        normal_score=normal_score,
        rank=rank,
        without_verdict=np.arange(7) < 4,
        anchor=float(normal_score[4]),
    )


def metrics_of(positives, rows):
    """By draw. Inside a bin a positive is above a negative in half of the pairs."""
    number = np.sum(list(rows.values()), axis=0)
    negatives = number - positives
    below = np.cumsum(negatives, axis=1) - negatives
    pairs = (positives * (below + 0.5 * negatives)).sum(axis=1)
    return {
        "class_prior": positives.sum(axis=1) / number.sum(),
        "recall": positives[:, -4:].sum(axis=1) / positives.sum(axis=1),
        "auc": pairs / (positives.sum(axis=1) * negatives.sum(axis=1)),
    }


def known_positives(rows):
    return sum(
        np.asarray(number)
        for name, number in rows.items()
        if name not in ("open_silent", "cleared_silent")
    )


def differences(rows, *, blocks, detection, complaints=None, overall=None):
    """Of the quantiles of each metric, in standard deviations on the scale of logits."""
    rows = {name: np.array(number) for name, number in rows.items()}
    counts = counts_of(rows, blocks=blocks)
    walked = random_walk(
        rows,
        line_of(rows, rank=counts.bins.rank),
        blocks=blocks,
        detection=detection,
        overall=overall,
    )
    positives = known_positives(rows) + hidden_positives(rows, walked, errs=detection is not None)
    expected = metrics_of(positives, rows)
    drawn = [
        estimate_reviews(counts, seed=seed, **({} if complaints is None else complaints)).metrics()
        for seed in range(SEEDS)
    ]
    off = {}
    for name in METRICS:
        own = np.mean([np.quantile(logit(each[name]), LEVELS) for each in drawn], axis=0)
        other = logit(expected[name])
        off[name] = (own - np.quantile(other, LEVELS)) / other.std()
    return off


@pytest.mark.parametrize("name", CASES)
def test_class_prior_recall_and_auc_are_those_of_a_random_walk(name):
    rows, blocks, detection = CASES[name]
    for metric, off in differences(rows, blocks=blocks, detection=detection).items():
        assert np.all(np.abs(off) < TOLERANCE), (metric, off.round(3))


def test_a_stated_rate_of_complaints_is_read_as_a_random_walk_reads_it():
    # That of the open positives is between .38 and .5: -logit is 0.25 with a deviation of .12.
    overall = (0.25, 0.12**2)
    off = differences(
        BLOCKED,
        blocks=True,
        detection=None,
        overall=overall,
        complaints={"complaints": ComplaintRate(overall=overall)},
    )
    for metric, each in off.items():
        assert np.all(np.abs(each) < TOLERANCE), (metric, each.round(3))
