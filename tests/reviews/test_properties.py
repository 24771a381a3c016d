"""What estimates by reviews must keep to, whatever the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

from pumonitor.reviews import KINDS, Reviews, estimate_reviews
from tests.reviews.made_up_queue import BLOCKED, NOT_BLOCKED, counts_of, read, window

NAMES = ("class_prior", "recall", "precision", "f1", "auc", "mcc")


def estimates(complained, scores, reviews, *, threshold):
    reading = read(complained, scores, reviews, threshold=threshold)
    return {name: estimate for name, estimate in reading.estimates.items() if name in NAMES}


def numbers(by_name):
    return np.array([(each.low, each.value, each.high) for each in by_name.values()])


CASE = window(11, rows=5000, class_prior=0.03, blocks=False)


@pytest.fixture(scope="module")
def plain():
    reviews = Reviews(CASE.verdicts, blocks=False)
    return estimates(CASE.complained, CASE.scores, reviews, threshold=2.0)


@pytest.mark.parametrize(
    "stretch", [np.exp, lambda scores: 3 * scores - 70, lambda scores: scores**3], ids=range(3)
)
def test_scores_are_read_by_their_order_alone(plain, stretch):
    reviews = Reviews(CASE.verdicts, blocks=False)
    threshold = float(stretch(np.array(2.0)))
    other = estimates(CASE.complained, stretch(CASE.scores), reviews, threshold=threshold)
    assert numbers(other) == pytest.approx(numbers(plain), rel=1e-9)


def test_the_order_of_rows_does_not_matter(plain):
    order = np.random.default_rng(3).permutation(len(CASE.scores))
    reviews = Reviews(CASE.verdicts[order], blocks=False)
    other = estimates(CASE.complained[order], CASE.scores[order], reviews, threshold=2.0)
    assert np.array_equal(numbers(other), numbers(plain))


def test_four_times_the_rows_give_narrower_intervals():
    """Of AUC hardly: what is believed of e far below the cut decides it, whatever is counted."""
    widths = []
    for times in (1, 4):
        more = {name: times * np.array(number) for name, number in NOT_BLOCKED.items()}
        metrics = estimate_reviews(counts_of(more, blocks=False)).metrics()
        ends = [
            np.quantile(metrics[name], [0.025, 0.975])
            for name in ("class_prior", "precision", "mcc")
        ]
        widths.append(np.ptp(ends, axis=1))
    assert np.all(widths[1] < 0.87 * widths[0])


@pytest.mark.parametrize("blocks", [True, False])
def test_the_same_seed_gives_the_same_draws(blocks):
    counts = counts_of(BLOCKED if blocks else NOT_BLOCKED, blocks=blocks)
    first, again, other = (estimate_reviews(counts, draws=300, seed=seed) for seed in (4, 4, 5))
    for name in ("p", "e", "s", "positives", "concordance"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert not np.array_equal(first.p, other.p)
    assert first.positives.shape == (300, 7)


@pytest.mark.parametrize("blocks", [True, False])
def test_verdicts_of_rules_tell_nothing_of_other_rows(blocks):
    rows = {**(BLOCKED if blocks else NOT_BLOCKED), "known_negative": [50, 40, 30, 20, 10, 5, 2]}
    swapped = {name: number for name, number in rows.items() if name != "known_negative"}
    swapped["known_positive"] = rows["known_negative"]
    negative, positive = (
        estimate_reviews(counts_of(each, blocks=blocks), draws=400) for each in (rows, swapped)
    )
    # The ranks of bins are of labeled rows as well, so that e may lie a little elsewhere.
    assert positive.bins.rank != pytest.approx(negative.bins.rank)
    same = counts_of(rows, blocks=blocks)
    object.__setattr__(same.bins, "rank", positive.bins.rank)
    moved = estimate_reviews(same, draws=400)
    assert np.array_equal(moved.p, positive.p)
    assert np.array_equal(moved.e, positive.e)
    assert np.array_equal(
        positive.positives - moved.positives,
        np.broadcast_to(rows["known_negative"], positive.positives.shape),
    )


@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    blocks=st.booleans(),
    class_prior=st.floats(0.02, 0.6),
    threshold=st.floats(-1.0, 2.5),
)
def test_where_all_rows_are_reviewed_nothing_is_left_to_guess(seed, blocks, class_prior, threshold):
    case = window(seed, rows=400, reviewed=1.0, blocks=blocks, class_prior=class_prior)
    known = estimates(
        case.complained, case.scores, Reviews(case.verdicts, blocks=blocks), threshold=threshold
    )
    flagged = case.scores >= threshold
    expected = {
        "class_prior": case.is_positive.mean(),
        "recall": recall_score(case.is_positive, flagged),
        "precision": precision_score(case.is_positive, flagged),
    }
    for name, value in expected.items():
        each = known[name]
        assert (each.low, each.value, each.high) == pytest.approx((value,) * 3, abs=1e-12)


counts_of_kinds = st.lists(
    st.lists(st.integers(0, 30), min_size=len(KINDS), max_size=len(KINDS)), min_size=3, max_size=5
)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(table=counts_of_kinds, blocks=st.booleans())
def test_positives_lie_between_those_that_are_known_and_those_that_can_be(table, blocks):
    by_kind = np.array(table).T
    # Every bin has some row, as a bin of scores has.
    by_kind[KINDS.index("open_silent")] += 5
    counts = counts_of(dict(zip(KINDS, by_kind, strict=True)), blocks=blocks, flagged=1)
    drawn = estimate_reviews(counts, draws=200)
    sure = counts.known_negative + counts.drawn_negative
    assert np.all(drawn.positives >= counts.bins.labeled)
    assert np.all(drawn.positives <= counts.bins.rows - sure)
    assert np.all((drawn.p >= 0) & (drawn.p <= 1) & (drawn.e >= 0) & (drawn.e <= 1))
    assert np.isfinite(drawn.log_evidence)
    assert 1 <= drawn.effective <= 4000
