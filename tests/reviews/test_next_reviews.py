"""What further reviews are expected to tell, against draws that are thrown away one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pumonitor import Reviews
from pumonitor.reviews.front_door import reviewed_models
from pumonitor.reviews.next_reviews import METRICS, next_reviews
from pumonitor.reviews.reading import read_reviews
from tests.reviews.made_up_queue import BLOCKED, MISTAKEN, NOT_BLOCKED, counts_of
from tests.reviews.two_models import shop


def reading(rows, *, blocks, flagged=4):
    return read_reviews(counts_of(rows, blocks=blocks, flagged=flagged), cuts=(4.0,))


def by_place(told):
    return {worth.where: worth for worth in told}


def width_by_rejection(reading, place, cases, seed):
    """Mean width of recall where all draws that would have found another number are left out."""
    rng = np.random.default_rng(seed)
    counts, posterior = reading.counts, reading.posterior
    silent = int(counts.open_silent[place])
    hidden = np.rint(posterior.positives[:, place] - counts.open_complained[place]).astype(int)
    verdicts = [
        rng.permutation(np.arange(silent) < positive)[:cases].sum() for positive in hidden.tolist()
    ]
    recall = posterior.metrics()["recall"]
    widths = []
    for found in verdicts:
        kept = recall[np.array(verdicts) == found]
        widths.append(np.subtract(*np.quantile(kept, [0.975, 0.025])))
    return float(np.mean(widths))


@pytest.mark.parametrize(("rows", "blocks"), [(BLOCKED, True), (NOT_BLOCKED, False)])
def test_the_expected_width_is_that_of_draws_that_found_as_much(rows, blocks):
    made = reading(rows, blocks=blocks)
    told = by_place(next_reviews(made, cases=40, simulations=150))["below the cut"]
    assert told.cases == 40
    expected = width_by_rejection(made, place=3, cases=40, seed=7)
    # Rejection keeps a few hundred draws of each outcome, whose ends scatter.
    assert told.width_then["recall"] == pytest.approx(expected, rel=0.06)
    assert told.width_then["recall"] < 0.95 * told.width_now["recall"]


def test_many_reviews_are_told_by_many_draws():
    """Weights that leave a handful of draws give far smaller widths with a fifth of the draws."""
    made = reading(BLOCKED, blocks=True)
    draws = ("positives", "concordance", "p", "e", "s")
    fewer = {name: getattr(made.posterior, name)[::5] for name in draws}
    posterior = replace(made.posterior, **fewer)
    thinned = replace(made, posterior=posterior, by_queue=(posterior,))
    full, fifth = (
        by_place(next_reviews(told, cases=500, simulations=200))["below the cut"]
        for told in (made, thinned)
    )
    assert full.cases == fifth.cases == 500
    assert fifth.width_then["recall"] == pytest.approx(full.width_then["recall"], rel=0.1)


def test_width_now_is_that_of_the_estimates():
    made = reading(BLOCKED, blocks=True)
    told = next_reviews(made, cases=10, simulations=2)[0]
    for metric in METRICS:
        estimate = made.estimates[metric]
        assert told.width_now[metric] == pytest.approx(estimate.high - estimate.low, rel=0.01)


def test_cases_are_taken_where_it_says():
    told = by_place(next_reviews(reading(BLOCKED, blocks=True), cases=300, simulations=20))
    # The bin below the cut has 194 silent rows: the rest comes from the next one.
    assert told["below the cut"].cases == told["random"].cases == 300
    # At random next to nothing is positive, as most rows score low.
    assert told["random"].positives < told["below the cut"].positives / 5
    assert told["at the threshold"].cases == 300


def test_a_threshold_among_reviewed_rows_leaves_nothing_to_review_there():
    made = reading(BLOCKED, blocks=True, flagged=1)
    told = by_place(next_reviews(made, cases=100, simulations=5))["at the threshold"]
    assert (told.cases, told.positives) == (0, None)
    assert told.width_then == told.width_now
    assert told.hardly_anything


def test_more_reviews_tell_more():
    made = reading(BLOCKED, blocks=True)
    widths = [
        by_place(next_reviews(made, cases=cases, simulations=60))["below the cut"].width_then
        for cases in (5, 50, 194)
    ]
    assert widths[0]["recall"] > widths[1]["recall"] > widths[2]["recall"]
    few = by_place(next_reviews(made, cases=1, simulations=60))
    assert few["random"].hardly_anything


def test_reviewers_who_miss_positives_find_fewer():
    sure = {**BLOCKED}
    mistaken = {**BLOCKED, **MISTAKEN}
    positives = [
        by_place(next_reviews(reading(rows, blocks=True), cases=100))["below the cut"].positives
        for rows in (sure, mistaken)
    ]
    assert positives[1] < positives[0]


def test_a_queue_that_took_nothing_by_score_has_no_cut_to_go_below():
    made = read_reviews(counts_of(BLOCKED, blocks=True))
    assert "below the cut" not in by_place(next_reviews(made, cases=5, simulations=2))


def test_a_bin_of_positives_alone_leaves_widths_as_finite_as_they_were():
    rows = shop(4)
    scores = np.where(rows.verdicts == 1, 20 + rows.scores["champion"], rows.scores["challenger"])
    models = reviewed_models(
        rows.complained.astype(np.int8),
        {"new": scores},
        reviews=Reviews(rows.verdicts, blocks=True, ranked_by=rows.scores["champion"]),
        complaint_rate=None,
        thresholds={"new": (2.0,)},
        confidence_level=0.95,
        class_prior="auto",
        scenario="single-training-set",
        label_purity=1.0,
        given={},
    )
    made = models.readings["new"]
    assert made.posterior.p.max() == 1
    told = by_place(next_reviews(made, simulations=20))["random"]
    assert 0 < told.width_then["recall"] < told.width_now["recall"]
