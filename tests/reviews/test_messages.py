"""What a user is told who gives reviews that cannot be read, or what does not go with them."""

import re

import numpy as np
import pandas as pd
import pytest

import pumonitor
from pumonitor import Audit, Reviews
from pumonitor.errors import InputError
from tests.reviews.made_up_queue import window

CASE = window(1, rows=3000, class_prior=0.05)
REVIEWS = Reviews(CASE.verdicts, blocks=True)


def told(message):
    return re.escape(message)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"verdicts": [1, 0], "blocks": "yes"},
            TypeError,
            "blocks must be True or False: whether a positive verdict stops the case, so that it "
            "can never complain; got 'yes'",
        ),
        (
            {"verdicts": [None, "", np.nan, "undecided"]},
            InputError,
            "none of 4 rows has a verdict 1 or 0: leave reviews out, or check the join of verdicts "
            "to predictions",
        ),
        (
            {"verdicts": ["1", "fraud", "0", "Fraud"]},
            InputError,
            "verdicts has 2 of 4 values that are not 1, 0, 'undecided' or missing, first 'fraud' "
            "at row 1 ('Fraud', 'fraud'): say what each means, Reviews(words={'Fraud': ..., "
            "'fraud': ...}) with 1, 0 or 'undecided', and leave rows without a review empty",
        ),
        (
            {"verdicts": ["fraud", "0"], "words": {"fraud": "yes"}},
            ValueError,
            "words must map to 1, 0 or 'undecided', those of chosen_by to 'score', 'random', "
            "'audit' or 'complaint', got 'yes' for 'fraud'",
        ),
        (
            {"verdicts": [1, 0, -1]},
            InputError,
            "verdicts has 1 of 3 values that are not 1, 0, 'undecided' or missing, first '-1' at",
        ),
        (
            {"verdicts": [1.0, np.nan, 0.5]},
            InputError,
            "verdicts has 1 of 3 values that are not 1, 0, 'undecided' or missing, first '0.5' at",
        ),
        (
            {"verdicts": [[1, 0], [0, 1]]},
            InputError,
            "verdicts must have one value a row, got an array of shape (2, 2)",
        ),
        (
            {"verdicts": [1, 0, 1], "chosen_by": ["score", "score"]},
            InputError,
            "chosen_by must have one value a row: got 2 for 3 rows",
        ),
        (
            {"verdicts": [1, 0, None, 1], "chosen_by": ["score", None, None, ""]},
            InputError,
            "chosen_by is missing for 2 of 3 reviewed rows, first at row 1: say why each was "
            "reviewed, score, random, audit, complaint, or the name of a rule",
        ),
        (
            {"verdicts": [1, 0, 1], "stopped": [True, False]},
            InputError,
            "stopped must have one value a row: got 2 for 3 rows",
        ),
        (
            {"verdicts": [1, 0, 1], "stopped": [1, 0, np.nan]},
            InputError,
            "stopped has 1 of 3 values that are not True or False, first 'nan' at row 2: give 1 "
            "where a row was stopped outright and 0 elsewhere",
        ),
        (
            {"verdicts": [0, 1, 1], "stopped": [1, 1, 0], "blocks": False},
            InputError,
            "1 rows with a positive verdict are stopped, first at row 1, and blocks is False: say "
            "blocks=True, by which nothing follows from the silence of a row with a positive",
        ),
    ],
)
def test_reviews_say_what_is_wrong_where_and_what_to_do(settings, error, message):
    with pytest.raises(error, match=told(message)):
        Reviews(**{"blocks": True, **settings})


def test_words_mean_what_is_said_of_them():
    verdicts = ["Fraud", "ok ", "unclear", None, "1"]
    words = {"fraud": 1, "OK": 0, "unclear": "undecided"}
    read = Reviews(verdicts, blocks=True, words=words).rows.verdict
    assert read.tolist() == [1, 0, -1, -2, 1]


@pytest.mark.parametrize("rate", [0, 1.2, (0.9, 0.8), (1.0, 1.0), (0.5, 0.6, 0.7), "0.9", np.nan])
def test_a_detection_rate_is_a_share_or_two(rate):
    message = (
        "detection_rate is a share of the positives that review sees, above 0 and at most 1, or "
        f"(low, high); got {rate!r}"
    )
    with pytest.raises(ValueError, match=told(message)):
        Reviews([1, 0], blocks=True, detection_rate=rate)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (None, None),
        (1, None),
        (0.8, (0.8, 0.8)),
        ((0.7, 0.9), (0.7, 0.9)),
        ([0.9, 1], (0.9, 0.999)),
        (0.9999, (0.999, 0.999)),
        (np.float32(0.5), (0.5, 0.5)),
    ],
)
def test_a_detection_rate_of_one_is_next_to_one(rate, expected):
    assert Reviews([1, 0], blocks=True, detection_rate=rate).detection_rate == expected


@pytest.mark.parametrize(
    "verdicts",
    [
        ["1", "0", "", "undecided"],
        [1, 0, None, "Undecided "],
        [True, False, None, "undecided"],
        pd.Series(["1.0", "0.0", pd.NA, "UNDECIDED"], dtype="string"),
        pd.Series([1, 0, pd.NA, "undecided"], dtype=object),
        pd.Series(["true", "false", None, "undecided"], dtype="category"),
    ],
)
def test_verdicts_are_read_as_people_write_them(verdicts):
    assert Reviews(verdicts, blocks=True).rows.verdict.tolist() == [1, 0, -2, -1]


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "float"])
def test_columns_of_pandas_may_have_gaps(dtype):
    column = pd.Series([1, 0, None]).astype(dtype)
    assert Reviews(column, blocks=True).rows.verdict.tolist() == [1, 0, -2]


@pytest.mark.parametrize("ask", [pumonitor.evaluate, pumonitor.decide])
class TestBesideReviews:
    """What does not go with them, in `evaluate` and in `decide`."""

    @pytest.mark.parametrize(
        "given",
        [
            {"class_prior": 0.05},
            {"class_prior": (0.04, 0.06)},
            {"propensity": np.full(3000, 0.5)},
            {"sample_weight": np.ones(3000)},
            {"ids": np.arange(3000)},
            {"audit": object.__new__(Audit)},
        ],
        ids=lambda given: next(iter(given)),
    )
    def test_what_reviews_say_themselves_is_left_out(self, ask, given):
        message = (
            "reviews and complaints say how many positives there are, and whose labels they are: "
            f"leave out {next(iter(given))}, or reviews"
        )
        with pytest.raises(ValueError, match=told(message)):
            ask(CASE.complained, CASE.scores, threshold=2.0, reviews=REVIEWS, **given)

    def test_all_that_is_to_be_left_out_is_named_together(self, ask):
        with pytest.raises(ValueError, match="leave out class_prior, sample_weight, or reviews"):
            ask(
                CASE.complained,
                CASE.scores,
                reviews=REVIEWS,
                class_prior=0.1,
                sample_weight=np.ones(3000),
            )

    @pytest.mark.parametrize(
        ("setting", "value", "got"),
        [
            ("scenario", "case-control", "'case-control' and 1.0"),
            ("label_purity", 0.9, "'single-training-set' and 0.9"),
            ("label_purity", "auto", "'single-training-set' and 'auto'"),
        ],
    )
    def test_scenario_and_purity_are_what_the_likelihood_knows(self, ask, setting, value, got):
        message = (
            "reviews are read in the single-training-set scenario with a label_purity of 1, got "
            f"{got}"
        )
        with pytest.raises(ValueError, match=told(message)):
            ask(CASE.complained, CASE.scores, reviews=REVIEWS, **{setting: value})

    def test_verdicts_alone_are_no_reviews(self, ask):
        message = (
            "reviews must be a pumonitor.Reviews, got ndarray: pumonitor.Reviews(verdicts, "
            "blocks=...)"
        )
        with pytest.raises(TypeError, match=told(message)):
            ask(CASE.complained, CASE.scores, reviews=CASE.verdicts)

    def test_reviews_of_other_rows(self, ask):
        message = "labels, scores and reviews must have one value a row, got 3000, 3000 and 2999"
        with pytest.raises(InputError, match=told(message)):
            ask(CASE.complained, CASE.scores, reviews=Reviews(CASE.verdicts[1:], blocks=True))

    def test_cleared_cases_are_verdicts_and_no_labels(self, ask):
        labels = CASE.complained.astype(int)
        labels[[5, 9]] = -1
        message = (
            "labels has 2 values -1, first at row 5: with reviews labels are complaints alone, 1 "
            "or 0, and a cleared case is a verdict 0"
        )
        with pytest.raises(InputError, match=told(message)):
            ask(labels, CASE.scores, reviews=REVIEWS)

    def test_one_known_positive_is_too_few(self, ask):
        nobody = np.zeros(3000)
        verdicts = np.where(np.isnan(CASE.verdicts), np.nan, 0)
        verdicts[np.argmax(CASE.scores)] = 1
        message = "fewer than two rows are known to be positive by a verdict or a complaint"
        with pytest.raises(InputError, match=message):
            ask(nobody, CASE.scores, reviews=Reviews(verdicts, blocks=True))

    @pytest.mark.parametrize("rate", [0.5, (0.6, 0.4), (0, 0.5), (0.5, 1), (0.1, 0.2, 0.3), "half"])
    def test_a_rate_of_complaints_is_an_interval(self, ask, rate):
        message = (
            "complaint_rate is the share of unreviewed positives that have complained by now, "
            f"(low, high) within (0, 1); got {rate!r}"
        )
        with pytest.raises(ValueError, match=told(message)):
            ask(CASE.complained, CASE.scores, reviews=REVIEWS, complaint_rate=rate)

    def test_a_rate_of_complaints_goes_with_reviews(self, ask):
        message = (
            "complaint_rate says how often positives complain that no queue reviewed: give reviews "
            "as well; of all positives, label_frequency says it"
        )
        with pytest.raises(ValueError, match=told(message)):
            ask(CASE.complained, CASE.scores, complaint_rate=(0.4, 0.6))

    def test_verdicts_below_rows_that_were_not_reviewed_need_a_reason(self, ask):
        verdicts = CASE.verdicts.copy()
        lowest = np.argsort(CASE.scores)[:3]
        verdicts[lowest] = 0
        message = (
            "3 of 63 verdicts lie below rows that were not reviewed, so the queue did not take the "
            "highest scores alone: say why each row was reviewed, Reviews(chosen_by=...), with "
            "score, random, audit, complaint or the name of a rule; chosen_by='score' only if the "
            "queue took the highest scores of each day. Rows that were declined outright are no "
            "such rows: name them, Reviews(stopped=...). If another score filled the queue, give "
            "that score: Reviews(ranked_by=...)"
        )
        with pytest.raises(InputError, match=told(message)):
            ask(CASE.complained, CASE.scores, reviews=Reviews(verdicts, blocks=True))


@pytest.mark.parametrize(
    "given",
    [
        {"label_frequency": 0.4},
        {"auxiliary": np.zeros((3000, 1))},
        {"groups": np.arange(3000)},
    ],
    ids=lambda given: next(iter(given)),
)
def test_evaluate_takes_nothing_else_that_says_how_many_positives_there_are(given):
    with pytest.raises(ValueError, match=f"leave out {next(iter(given))}, or reviews$"):
        pumonitor.evaluate(CASE.complained, CASE.scores, reviews=REVIEWS, **given)


def test_what_review_misses_is_said_by_the_reviews():
    message = "leave out detection_rate, or reviews; what review misses is said by Reviews("
    with pytest.raises(ValueError, match=told(message)):
        pumonitor.evaluate(CASE.complained, CASE.scores, reviews=REVIEWS, detection_rate=0.8)


def test_words_may_be_numbers_of_a_column_with_gaps():
    reviews = Reviews(
        [1.0, 0.0, np.nan, 2.0],
        blocks=True,
        words={2: "undecided", 7: "score"},
        chosen_by=[7.0, 7.0, np.nan, 7.0],
    )
    assert reviews.rows.verdict.tolist() == [1, 0, -2, -1]
    assert reviews.rows.rules == ()
    assert reviews.rows.is_ranked.tolist() == [True, True, False, True]
