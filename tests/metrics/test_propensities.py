"""Propensities: unbiased where the unweighted numbers are not, covered, read as they are logged."""

import numpy as np
import pandas as pd
import pytest

import pumonitor
from benchmarks.propensities import POLICIES, summary
from benchmarks.simulation import Design
from pumonitor import ScoreTable
from pumonitor.errors import InputError
from tests.frozen import assert_as_frozen, shares

RANKING = ("aul", "auc", "average_precision")
AT_THRESHOLD = ("recall", "precision", "specificity", "f1", "accuracy", "balanced_accuracy", "mcc")
DESIGN = Design(scenario="single-training-set", n_labeled=200, class_prior=0.1, auc=0.85)


@pytest.fixture(scope="module")
def reviewed():
    """Everything above 1 reviewed, 5% of the rest, and below -2 nothing at all."""
    rng = np.random.default_rng(5)
    is_positive = rng.random(6000) < 0.2
    scores = rng.normal(1.5 * is_positive)
    logged = np.select([scores >= 1, scores >= -2], [1.0, 0.05], 0.0)
    is_reviewed = rng.random(6000) < logged
    labels = np.where(is_reviewed, np.where(is_positive, 1, -1), 0)
    return labels, scores, logged


def evaluate(labels, scores, propensity, **options):
    return pumonitor.evaluate(
        labels, scores, threshold=1.0, class_prior=0.2, propensity=propensity, **options
    )


@pytest.mark.parametrize(
    # Mean errors in their own Monte-Carlo standard errors, which are hardly known from few runs.
    ("runs", "most", "least"),
    [(12, 6, 5.5), pytest.param(25, 4, 8, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("policy", ["rising", "review"])
def test_weighted_estimates_are_unbiased_where_the_others_are_far_off(
    policy, target, runs, most, least
):
    names = (*RANKING, *AT_THRESHOLD, "recall_at_k", "precision_at_k")
    found = summary(DESIGN, POLICIES[policy], effective=150, target=target, runs=runs, names=names)
    for name in names:
        assert abs(found.bias[name]) < most, (name, found.bias)
        assert abs(found.unweighted_bias[name]) > least, (name, found.unweighted_bias)


@pytest.mark.parametrize("runs", [20, pytest.param(80, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
def test_intervals_hold_the_truth_under_a_review_policy(scenario, target, runs, request):
    design = Design(scenario=scenario, n_labeled=100, class_prior=0.2, auc=0.85)
    names = (*RANKING, *AT_THRESHOLD)
    held = summary(
        design, POLICIES["review"], effective=100, target=target, runs=runs, names=names
    ).coverage
    assert min(held.values()) >= shares(runs), held
    if runs == 80:
        assert min(held.values()) < 1.0
        assert_as_frozen(request, held)


@pytest.mark.parametrize("target", ["process", "window"])
def test_propensities_play_no_part_in_uncorrected_numbers(reviewed, target):
    labels, scores, logged = reviewed
    propensity = np.where(logged > 0, logged, 0.5)
    plain, weighted = (
        evaluate((labels == 1).astype(int), scores, one, target=target)
        for one in (None, propensity)
    )
    for name in ("auc_pu", "average_precision_pu", "f1_pu", "accuracy_pu", "mcc_pu"):
        expected = (plain[name].value, plain[name].low, plain[name].high)
        found = (weighted[name].value, weighted[name].low, weighted[name].high)
        assert found == pytest.approx(expected, rel=1e-9), name
    assert weighted["auc"].value != pytest.approx(plain["auc"].value, abs=0.01)


def test_the_logged_probability_is_taken_as_it_is(reviewed):
    labels, scores, logged = reviewed
    assert (logged[labels == 0] == 0).any()
    full = evaluate(labels, scores, logged)
    only_labeled = np.where(labels == 1, logged, np.nan)
    for same in (
        only_labeled,
        np.ma.masked_array(logged, mask=labels != 1),
        pd.Series(only_labeled).astype("Float64"),
        [chance if label == 1 else None for chance, label in zip(logged, labels, strict=True)],
    ):
        found = evaluate(labels, scores, same)
        assert {n: e.value for n, e in found.estimates.items() if n != "auc_pu"} == pytest.approx(
            {n: e.value for n, e in full.estimates.items() if n != "auc_pu"}, nan_ok=True
        )
        assert "never_reviewed_share" not in found.settings
    assert full.settings["never_reviewed_share"] == np.mean(logged[labels == 0] == 0)


def test_a_labeled_row_that_could_not_be_labeled_is_refused(reviewed):
    labels, scores, logged = reviewed
    wrong = logged.copy()
    rows = np.flatnonzero(labels == 1)[[4, 7]]
    wrong[rows] = 0.0
    with pytest.raises(
        InputError,
        match=rf"propensity is 0 in 2 of {np.count_nonzero(labels == 1)} labeled rows, first at "
        rf"row {rows[0]}: a row that had no chance",
    ):
        evaluate(labels, scores, wrong)
    wrong[rows] = [1.5, np.nan]
    with pytest.raises(
        InputError, match=rf"at most 1: 2 of \d+ are not, first at row {rows[0]} \(1.5\)"
    ):
        evaluate(labels, scores, wrong)
    with pytest.raises(InputError, match="propensity must be numbers, got \\['often'"):
        evaluate(labels, scores, ["often"] * len(labels))
    with pytest.raises(InputError, match=r"one value per row: got shape \(6000, 2\)"):
        evaluate(labels, scores, np.stack([logged, logged], axis=1))


def test_the_detection_rate_multiplies(reviewed):
    labels, scores, logged = reviewed
    found = evaluate(labels, scores, logged, detection_rate=0.5)
    halved = evaluate(labels, scores, logged / 2)
    assert found["average_precision"] == halved["average_precision"]
    assert found.settings["detection_rate"] == 0.5
    table = ScoreTable.from_arrays(labels, scores, propensity=logged, detection_rate=0.5)
    assert table.labeled.sum() == pytest.approx(2 * np.sum(1 / logged[labels == 1]))


def test_small_propensities_are_lifted_and_counted(reviewed):
    labels, scores, logged = reviewed
    found = evaluate(labels, scores, logged, min_propensity=0.2)
    assert found["recall"] == evaluate(labels, scores, np.maximum(logged, 0.2))["recall"]
    low = np.count_nonzero(logged[labels == 1] < 0.2)
    assert low > 5
    assert found.settings["lifted_propensities"] == low
    assert found.settings["min_propensity"] == 0.2
    # Lifting never makes a row of propensity 0 one that could have been labeled.
    assert found.settings["never_reviewed_share"] == np.mean(logged[labels == 0] == 0)
    plain = evaluate(labels, scores, logged).settings
    assert plain["lifted_propensities"] == 0
    assert found.settings["effective_labeled"] > 2 * plain["effective_labeled"]
    assert found.settings["largest_weight_share"] < 0.5 * plain["largest_weight_share"]


def test_effective_rows_and_the_heaviest_by_hand():
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    weight = [2.0, 1, 3, 1, 1, 4, 1, 1]
    chance = [1.0, 0.25, 0.5, 0.1, 0, 0, 0.1, 0.1]
    found = pumonitor.evaluate(
        labels, scores, threshold=5, class_prior=0.7, sample_weight=weight, propensity=chance
    ).settings
    assert found["effective_labeled"] == pytest.approx((2 + 4 + 6) ** 2 / (4 + 16 + 36))
    assert found["largest_weight_share"] == pytest.approx(6 / 12)
    assert found["never_reviewed_share"] == pytest.approx(5 / 8)
    table = ScoreTable.from_arrays(
        labels, scores, thresholds=[5], sample_weight=weight, propensity=chance
    )
    assert table.chances is not None
    assert table.chances.expected.sum() == pytest.approx(0.3)


def test_one_propensity_for_all_changes_no_share(reviewed):
    labels, scores, _ = reviewed
    single = evaluate(labels, scores, 0.3)
    plain = evaluate(labels, scores, None)
    for name in ("aul", "auc", "recall", "precision", "auc_pu"):
        assert single[name].value == pytest.approx(plain[name].value, abs=1e-12), name
    assert single.settings["never_reviewed_share"] == 0
    assert "lifted_propensities" not in plain.settings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detection_rate": 0.0}, "detection_rate must satisfy 0 < detection_rate <= 1, got 0"),
        ({"detection_rate": 1.2}, "detection_rate must satisfy 0 < detection_rate <= 1, got 1.2"),
        ({"min_propensity": 1.0}, "min_propensity must satisfy 0 <= min_propensity < 1, got 1"),
        ({"min_propensity": -0.1}, "min_propensity must satisfy 0 <= min_propensity < 1, got -0.1"),
    ],
)
def test_settings_out_of_range_are_refused(reviewed, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(*reviewed, **options)


@pytest.mark.parametrize("options", [{"detection_rate": 0.9}, {"min_propensity": 0.1}])
def test_settings_without_propensities_are_refused(reviewed, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} changes propensities, and there are none"):
        evaluate(reviewed[0], reviewed[1], None, **options)


def test_tables_with_propensities_add(reviewed):
    labels, scores, logged = reviewed
    settings = {"density_edges": 0, "min_propensity": 0.1}
    parts = [
        ScoreTable.from_arrays(labels[part], scores[part], propensity=logged[part], **settings)
        for part in (slice(0, 2500), slice(2500, None))
    ]
    whole = ScoreTable.from_arrays(labels, scores, propensity=logged, **settings)
    both = parts[0] + parts[1]
    assert both.propensities == whole.propensities
    assert both.never_reviewed_share == pytest.approx(whole.never_reviewed_share)
    assert both.largest_weight_share == pytest.approx(whole.largest_weight_share)
    small = both.compress(20)
    assert small.never_reviewed_share == pytest.approx(whole.never_reviewed_share)
    assert small.propensities == whole.propensities
    unknown = parts[0] + ScoreTable.from_arrays(labels[2500:], scores[2500:])
    assert unknown.never_reviewed_share is None
    assert unknown.propensities.min_propensity is None
    assert unknown.propensities.lifted == parts[0].propensities.lifted > 0


def test_reviewed_negatives_stay_single_rows(reviewed):
    labels, scores, logged = reviewed
    settings = {"thresholds": [1.0], "density_edges": 0}
    with_them = ScoreTable.from_arrays(labels, scores, propensity=logged, **settings)
    unlabeled = ScoreTable.from_arrays(np.maximum(labels, 0), scores, propensity=logged, **settings)
    assert with_them.negative.sum() == np.count_nonzero(labels == -1)
    first, second = (
        pumonitor.evaluate_table(table, threshold=1.0, class_prior=0.2)
        for table in (with_them, unlabeled)
    )
    for name in ("recall", "auc", "average_precision", "f1"):
        assert first[name].value == pytest.approx(second[name].value, abs=1e-12), name
