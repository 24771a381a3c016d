"""Each bad label, score and frame has its own error: what, how often, where, what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pumonitor
from pumonitor.errors import InputError, TooFewPositivesError

GOOD_LABELS = [1, 0, 1, 0]
GOOD_SCORES = [0.9, 0.2, 0.7, 0.1]


def refused(labels=GOOD_LABELS, scores=GOOD_SCORES):
    with pytest.raises(InputError) as caught:
        pumonitor.evaluate(labels, scores, class_prior=0.6)
    return str(caught.value)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([1, None, 0, None], dtype="Int64"),
        pd.Series([1, np.nan, 0, np.nan]),
        pl.Series([1, None, 0, None]),
        np.array([1, None, 0, None], dtype=object),
        np.array([1, pd.NA, 0, pd.NA], dtype=object),
        np.ma.masked_array([1, 0, 0, 0], mask=[0, 1, 0, 1]),
    ],
)
def test_missing_labels_are_never_taken_as_unlabeled(labels):
    message = refused(labels)
    assert message.startswith("labels has 2 missing values in 4 rows, first at row 1")
    assert "an unlabeled row must have label 0" in message


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        ([1, 0, 2, 2], "labels has 2 values other than 1, 0 and -1 in 4 rows: 2 (2 times)"),
        ([1, 0, 0.5, 1], "0.5 (1 times), first at row 2"),
        (["1", "0", "1", "0"], "labels has 4 values other than 1, 0 and -1"),
        (["yes", "no", "no", "no"], "'no' (3 times), 'yes' (1 times), first at row 0"),
        (np.array([1, 0, "1", 0], dtype=object), "'1' (1 times), first at row 2"),
        (np.array([1, 257, 0, 1]), "257 (1 times), first at row 1"),
    ],
)
def test_labels_that_mean_nothing_are_named_and_counted(labels, what):
    message = refused(labels)
    assert what in message
    assert "use 1 for a confirmed positive, 0 for unlabeled, -1 for a confirmed negative" in message


def test_boolean_labels_are_accepted():
    ev = pumonitor.evaluate([True, False, True, False], GOOD_SCORES, class_prior=0.6)
    assert ev["aul"].n_labeled == 2


def test_categorical_labels_are_refused():
    assert refused(pd.Series(["1", "0", "1", "0"], dtype="category")).startswith(
        "labels is categorical: convert it to numbers first"
    )


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        ([1, 1, 1, 1], "all 4 rows are confirmed: no row is unlabeled"),
        ([0, 0, 0, 0], "none of 4 rows is a confirmed positive (label 1)"),
        ([1, 0, 0, 0], "only 1 of 4 rows is a confirmed positive: at least 2 are needed"),
    ],
)
def test_one_kind_of_label_is_refused(labels, what):
    assert what in refused(labels)


def test_too_few_positives_can_be_told_apart():
    with pytest.raises(TooFewPositivesError):
        pumonitor.evaluate([0, 0, 1, 0], GOOD_SCORES, class_prior=0.6)


@pytest.mark.parametrize(
    ("scores", "what"),
    [
        ([0.9, np.nan, 0.7, np.nan], "scores has 2 missing values (NaN) in 4 rows, first at row 1"),
        ([0.9, 0.2, np.inf, 0.1], "scores has 1 infinite values in 4 rows, first at row 2"),
        ([0.5, 0.5, 0.5, 0.5], "scores are all equal to 0.5 in 4 rows: a constant score ranks"),
        (["0.9", "0.2", "0.7", "0.1"], "scores holds text, not numbers, in 4 of 4 rows"),
        (np.array([0.9, "a", 0.7, 0.1], dtype=object), "text, not numbers, in 1 of 4 rows"),
        (np.zeros((4, 2)), "scores has 2 columns (shape (4, 2)): pass one column"),
        (pd.Series([0.9, None, 0.7, 0.1], dtype="Float64"), "1 missing values in 4 rows"),
        (pd.DataFrame({"a": GOOD_SCORES}), "scores is a data frame with columns a"),
        ([0.9, 0.2], "one value per row: got 4 labels and 2 scores"),
        ([], "scores is empty: there is nothing to evaluate"),
        (pd.Series(GOOD_SCORES, dtype="category"), "scores is categorical"),
    ],
)
def test_scores_that_rank_nothing_are_refused(scores, what):
    assert what in refused(scores=scores)


def test_one_row_is_refused():
    assert "only 1 of 1 rows is a confirmed positive" in refused([1], [0.3])


def test_constant_table_is_refused():
    table = pumonitor.ScoreTable.from_counts([5], [5], lower=[0.5], upper=[0.5])
    with pytest.raises(InputError, match=r"scores are all equal to 0\.5"):
        pumonitor.evaluate_table(table, class_prior=0.6)


def test_series_whose_indexes_disagree_are_refused():
    labels = pd.Series(GOOD_LABELS, index=[3, 2, 1, 0])
    assert "labels and scores have different indexes" in refused(labels, pd.Series(GOOD_SCORES))
    aligned = pumonitor.evaluate(pd.Series(GOOD_LABELS), pd.Series(GOOD_SCORES), class_prior=0.6)
    assert aligned["aul"].value == pumonitor.metrics.aul(GOOD_LABELS, GOOD_SCORES).value


@pytest.mark.parametrize(
    "scores",
    [
        [[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.9, 0.1]],
        pd.Series([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.9, 0.1]]),
        [[0.1, 0.9], [0.8], [0.3, 0.7], [0.9, 0.1]],
    ],
)
def test_lists_in_place_of_scores_are_refused(scores):
    message = refused(scores=scores)
    assert "pass one column, for class probabilities" in message


def test_names_in_place_of_columns_are_refused():
    assert "pass the column itself, not its name" in refused(labels="confirmed")


def test_a_table_that_is_none_is_refused():
    with pytest.raises(TypeError, match="table must be a ScoreTable, got DataFrame"):
        pumonitor.evaluate_table(pd.DataFrame({"labeled": [1]}))


def test_a_prior_below_what_is_already_confirmed_is_refused():
    rng = np.random.default_rng(0)
    labels = rng.random(5000) < 0.05
    with pytest.raises(
        InputError, match=r"class_prior=0\.01 is impossible: 5\.18% of the rows are"
    ):
        pumonitor.evaluate(labels, rng.normal(size=5000), class_prior=0.01)
    # Elsewhere collected positives say nothing of the population's share.
    pumonitor.evaluate(labels, rng.normal(size=5000), class_prior=0.01, scenario="case-control")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_prior": 5}, "got 5; did you mean 0.05"),
        ({"class_prior": (2, 5)}, r"got low=2, high=5; did you mean \(0.02, 0.05\)"),
        ({"class_prior": 0.6, "confidence_level": 95}, "got 95; did you mean 0.95"),
        ({"class_prior": 0.6, "label_purity": 90}, "got 90; did you mean 0.9"),
        ({"class_prior": 0.6, "propensity": 0.5, "detection_rate": 80}, "did you mean 0.8"),
        ({"class_prior": (0.3, 0.7, 0.8)}, "the order is .value, low, high."),
    ],
)
def test_percentages_and_orders_are_guessed_in_the_message(settings, message):
    with pytest.raises(ValueError, match=message):
        pumonitor.evaluate(GOOD_LABELS, GOOD_SCORES, **settings)


def test_an_estimate_that_is_not_there_is_named_with_the_nearest():
    ev = pumonitor.evaluate(GOOD_LABELS, GOOD_SCORES, class_prior=0.6)
    with pytest.raises(KeyError, match="did you mean 'f1'"):
        ev["f11"]
    assert len(repr(ev)) < 200


@pytest.mark.parametrize("name", ["bounds", "curves", "estimates"])
def test_every_mapping_of_an_evaluation_names_what_it_holds(name):
    held = getattr(pumonitor.evaluate(GOOD_LABELS, GOOD_SCORES, class_prior=0.6), name)
    near = next(iter(held))
    with pytest.raises(KeyError, match=f"no .* '{near}_'; did you mean '{near}'.* {near}, "):
        held[f"{near}_"]
    assert "nope" not in held
    assert held.get("nope") is None
    with pytest.raises(TypeError):
        held["nope"] = held[near]


@pytest.mark.parametrize("name", ["threshold", "detection_rate", "min_propensity", "top_k"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0.5", "must be one number, got the text '0.5': convert it with float"),
        (None, "must be one number, got None of type NoneType"),
        ([0.5, 0.6], r"must be one number, got \[0.5, 0.6\] of type list"),
        (float("nan"), "must be finite, got nan"),
    ],
)
def test_a_setting_that_is_no_number_is_refused_by_name(name, value, message):
    settings = {"class_prior": 0.6, "propensity": 0.5, name: value}
    with pytest.raises(InputError, match=f"^{name} {message}"):
        pumonitor.evaluate(GOOD_LABELS, GOOD_SCORES, **settings)


def test_the_least_that_can_be_evaluated_raises_no_warning_of_numpy():
    pumonitor.evaluate([1, 1, 0], [0.9, 0.8, 0.1])
    labels = np.zeros(100, dtype=int)
    labels[[3, 60]] = 1
    pumonitor.evaluate(labels, np.linspace(0, 1, 100) ** 2)
