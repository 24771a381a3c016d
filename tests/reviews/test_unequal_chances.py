"""Random reviews whose chances differ among rows of one score, against the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest

from pumonitor import Reviews
from pumonitor.errors import InputError
from pumonitor.reviews.counts import KINDS
from pumonitor.reviews.unequal_chances import effective_verdicts, sums_of_odds
from tests.reviews.made_up_queue import read, window

SEEDS = range(12)


def drawn(seed, *, by_amount):
    """A window, its reviews, and the chances: large amounts are drawn 20 times as often.

    Of one score positives are large three times as often as the others are.
    """
    rows = window(seed, rows=20_000, class_prior=0.05, reviewed=0.01, auc=0.85)
    rng = np.random.default_rng(seed + 1000)
    is_large = rng.random(20_000) < np.where(rows.is_positive, 0.6, 0.2)
    chance = np.where(is_large, 0.1, 0.005) if by_amount else np.full(20_000, 0.03)
    in_queue = ~np.isnan(rows.verdicts)
    by_chance = ~in_queue & (rng.random(20_000) < chance)
    verdicts = np.where(by_chance, rows.is_positive, rows.verdicts)
    complained = rows.complained & ~(by_chance & rows.is_positive)
    why = np.where(by_chance, "random", "score")
    return rows, complained, verdicts, why, chance


def class_prior(seed, *, weighted):
    rows, complained, verdicts, why, chance = drawn(seed, by_amount=True)
    reviews = Reviews(
        verdicts, blocks=True, chosen_by=why, probability=chance if weighted else None
    )
    return read(complained, rows.scores, reviews).estimates["class_prior"], rows.is_positive.mean()


def test_weighted_verdicts_cover_where_plain_ones_do_not():
    inside = {True: 0, False: 0}
    for weighted in inside:
        for seed in SEEDS:
            estimate, truth = class_prior(seed, weighted=weighted)
            inside[weighted] += estimate.low <= truth <= estimate.high
    assert inside[True] >= 10
    assert inside[False] <= 4


def test_equal_chances_change_nothing():
    rows, complained, verdicts, why, chance = drawn(1, by_amount=False)
    plain, stated = (
        read(complained, rows.scores, Reviews(verdicts, blocks=True, chosen_by=why, **settings))
        for settings in ({}, {"probability": chance})
    )
    assert plain.estimates == stated.estimates


KNOWN_POSITIVE, KNOWN_NEGATIVE = KINDS.index("known_positive"), KINDS.index("known_negative")


def effective(positive, probability, *, open_rows):
    """Of one bin."""
    kinds = np.where(np.asarray(positive, bool), KNOWN_POSITIVE, KNOWN_NEGATIVE)
    sums = sums_of_odds(kinds, np.array(probability), index=np.zeros(len(kinds), np.intp), size=1)
    return [share.item() for share in effective_verdicts(sums, np.array([open_rows]))]


def test_weights_that_are_equal_count_each_verdict_once():
    # Each of three rows stands for three that were not drawn, of which there are nine.
    assert effective([1, 0, 0], [0.25] * 3, open_rows=9) == pytest.approx([1, 2])


def test_a_row_that_was_drawn_surely_stands_for_no_other():
    assert effective([1, 0, 0], [1.0, 0.5, 0.5], open_rows=2) == pytest.approx([0, 2])


def test_weighted_verdicts_estimate_the_share_of_the_rows_that_were_not_drawn():
    rng = np.random.default_rng(5)
    positive = rng.random(3_000) < 0.2
    chance = np.where(rng.random(3_000) < np.where(positive, 0.6, 0.2), 0.3, 0.03)
    shares, truths = [], []
    for _ in range(200):
        is_drawn = rng.random(3_000) < chance
        one, other = effective(positive[is_drawn], chance[is_drawn], open_rows=(~is_drawn).sum())
        shares.append(one / (one + other))
        truths.append(positive[~is_drawn].mean())
    error = np.array(shares) - truths
    assert abs(error.mean()) < 3 * error.std() / np.sqrt(200)


def test_undecided_rows_take_none_of_the_positives_with_them():
    errors = []
    for seed in range(6):
        rows, complained, verdicts, why, chance = drawn(seed, by_amount=True)
        given = np.where(np.isnan(verdicts), "", np.where(verdicts == 1, "1", "0")).astype("U9")
        rng = np.random.default_rng(seed + 2000)
        is_undecided = (why == "random") & (rng.random(len(given)) < 0.5)
        given[is_undecided] = "undecided"
        # None is asked for where there is no verdict.
        chance = np.where(is_undecided & (rng.random(len(given)) < 0.02), np.nan, chance)
        reviews = Reviews(given, blocks=True, chosen_by=why, probability=chance)
        positives = read(complained, rows.scores, reviews).posterior.positives.sum(axis=1)
        errors.append(np.median(positives) / rows.is_positive.sum() - 1)
    # A tenth too low where all have a verdict, a quarter if half of them were left out.
    assert abs(np.mean(errors)) < 0.15


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        ([0.0, 0.5, 9, 9], "it is not for 1 of 2, first 0.0 at row 0"),
        ([0.5, 1.5, 9, 9], "it is not for 1 of 2, first 1.5 at row 1"),
        ([None, None, 9, 9], "it is not for 2 of 2, first None at row 0"),
        (["a tenth", "0.1", 9, 9], "must be numbers above 0 and at most 1"),
        ([0.5, 0.5], "one value a row: got 2 for 4 rows"),
    ],
)
def test_chances_that_are_none_are_refused(chance, said):
    with pytest.raises(InputError, match=said):
        Reviews(
            [1, 0, 1, 0],
            blocks=True,
            chosen_by=["random", "random", "score", "score"],
            probability=np.array(chance, dtype=object),
        )


def test_chances_need_rows_that_were_drawn():
    with pytest.raises(InputError, match="no row with a verdict is one: say chosen_by='random'"):
        Reviews([1, 0], blocks=True, chosen_by="score", probability=[0.1, 0.2])
