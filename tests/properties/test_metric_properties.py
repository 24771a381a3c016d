"""What must hold for any data: order, scale, ties, merging, the prior's direction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pumonitor
from pumonitor import ScoreTable, evaluate_table
from tests.given_labels import labels_as_given
from tests.oracles import pairs

# At most 30% labeled: the priors used here, .35 and more, are then possible.
rows = st.lists(
    st.tuples(st.sampled_from([1, 0, 0, 0, 0, -1]), st.integers(-4, 4)), min_size=8, max_size=40
).filter(
    lambda found: (
        2 <= sum(label == 1 for label, _ in found) <= 0.3 * len(found)
        and any(label == 0 for label, _ in found)
        and len({score for _, score in found}) > 1
    )
)
few = settings(
    max_examples=200 if settings.get_current_profile_name() == "thorough" else 15,
    deadline=None,
    derandomize=True,
)


def arrays(found):
    labels, scores = zip(*found, strict=True)
    return np.array(labels), np.array(scores, dtype=float)


def evaluate(found, *, threshold=1.0, class_prior=0.45):
    """Without curves and the search for mistaken labels, which no estimate follows from."""
    table = ScoreTable.from_arrays(*arrays(found), thresholds=(threshold,))
    with labels_as_given():
        return evaluate_table(table, threshold=threshold, class_prior=class_prior, curves=False)


def numbers(ev):
    return {
        name: (e.value, e.low, e.high)
        for name, e in ev.estimates.items()
        if e.undefined_reason is None
    }


@few
@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert numbers(evaluate(found)) == numbers(evaluate(shuffled))


@few
@given(rows)
def test_an_increasing_change_of_scores_changes_nothing_but_thresholds(found):
    moved = [(label, score**3 + 2.0 * score) for label, score in found]
    before, after = numbers(evaluate(found)), numbers(evaluate(moved, threshold=3.0))
    for name in before:
        if not name.endswith("_threshold"):
            assert before[name] == pytest.approx(after[name], abs=1e-9), name


@few
@given(rows)
def test_reversing_the_scores_mirrors_the_ranking(found):
    mirrored = [(label, -score) for label, score in found]
    ev, other = evaluate(found), evaluate(mirrored)
    assert ev["aul"].value + other["aul"].value == pytest.approx(1)
    assert ev["auc"].value + other["auc"].value == pytest.approx(1)
    assert ev["aul"].low == pytest.approx(1 - other["aul"].high, abs=1e-9)
    assert ev["aul"].high == pytest.approx(1 - other["aul"].low, abs=1e-9)


@few
@given(rows)
def test_aul_is_the_mean_win_of_labeled_rows(found):
    ev = evaluate(found)
    scores = [score for _, score in found]
    labeled = [score for label, score in found if label == 1]
    assert ev["aul"].value == pytest.approx(pairs.mean_win(labeled, scores))
    others = [score for label, score in found if label != 1]
    assert ev["auc_pu"].value == pytest.approx(pairs.mean_win(labeled, others))


@few
@given(rows)
def test_intervals_hold_their_value_and_nothing_is_nan_without_a_reason(found):
    # With all that an evaluation does, which must go through on any rows.
    ev = pumonitor.evaluate(*arrays(found), threshold=1.0, class_prior=(0.45, 0.4, 0.5))
    for estimate in ev.estimates.values():
        if estimate.undefined_reason is None:
            assert estimate.low <= estimate.value <= estimate.high, estimate.name
            assert np.isfinite([estimate.low, estimate.high, estimate.se]).all(), estimate.name
            low, high = estimate.range
            assert low <= estimate.displayed[0] <= high
        else:
            assert np.isnan(estimate.value)


@few
@given(rows, st.floats(0.35, 0.6), st.floats(0.35, 0.6))
def test_precision_and_f1_rise_with_the_prior_and_auc_moves_away_from_half(found, first, second):
    low, high = sorted((first, second))
    less, more = evaluate(found, class_prior=low), evaluate(found, class_prior=high)
    for name in ("precision", "f1"):
        if less[name].undefined_reason is None:
            assert less[name].value <= more[name].value + 1e-12, name
    further = abs(more["auc"].value - 0.5) - abs(less["auc"].value - 0.5)
    assert further >= -1e-12


@few
@given(rows)
def test_identities_between_metrics(found):
    ev = evaluate(found)
    prior = 0.45
    recall, precision = ev["recall"].value, ev["precision"].value
    flagged = ev["predicted_positive_rate"].value
    assert ev["aul"].value == pytest.approx(prior / 2 + (1 - prior) * ev["auc"].value)
    assert ev["balanced_accuracy"].value == pytest.approx(0.5 * (recall + ev["specificity"].value))
    if flagged > 0:
        assert ev["ll_score"].value == pytest.approx(recall * precision / prior)
        assert ev["recall"].value * prior == pytest.approx(precision * flagged)
    if recall > 0:
        harmonic = 2 * precision * recall / (precision + recall)
        assert ev["f1"].value == pytest.approx(harmonic)


@few
@given(rows)
def test_theorem_2_1_of_ramola(found):
    """Balanced accuracy and MCC straight from their uncorrected values."""
    if any(label == -1 for label, _ in found):
        found = [(max(label, 0), score) for label, score in found]
    ev = evaluate(found)
    q = sum(label for label, _ in found) / len(found)
    prior = 0.45
    unlabeled_prior = (prior - q) / (1 - q)
    gap = 1 - unlabeled_prior
    assert ev["balanced_accuracy"].value == pytest.approx(
        (2 * ev["balanced_accuracy_pu"].value - 1) / (2 * gap) + 0.5
    )
    if ev["mcc"].undefined_reason is None:
        scale = np.sqrt(prior * (1 - prior) / (q * (1 - q))) / gap
        assert ev["mcc"].value == pytest.approx(scale * ev["mcc_pu"].value)


@few
@given(rows, st.integers(1, 3))
def test_more_of_the_same_data_narrows_intervals(found, times):
    once, more = evaluate(found), evaluate(found * (4 * times))
    for name in ("aul", "recall", "precision"):
        if once[name].undefined_reason is None and once[name].se_sampling > 0:
            assert more[name].se < once[name].se, name
