"""What numbers of rows say of the tables they come from, and when it is worth telling."""

import pytest

from pumonitor.monitor.rules.windows.input_findings import input_findings


def found(counts, before=()):
    return {one.kind: one.sentence for one in input_findings(counts, lambda: list(before))}


def never():
    raise AssertionError("nothing before the window matters")


def test_rows_as_they_should_be_say_nothing_and_ask_for_nothing():
    counts = {"predictions": 1000, "label_rows": 50, "duplicate_predictions": 10, "early_labels": 0}
    assert input_findings(counts, never) == ()
    assert input_findings({}, never) == ()


def test_labels_that_do_not_count_are_always_told():
    assert found({"predictions": 10_000, "label_rows": 2000, "refused_labels": 1}) == {
        "refused_labels": "1 of 2,000 labels (0.05%) was known more than a day before the "
        "prediction and does not count: check known_at and time, their time_zone "
        "and time_unit, and that each id belongs to one prediction, not to a "
        "case that is scored repeatedly"
    }


@pytest.mark.parametrize(
    ("repeated", "earlier", "told"),
    [
        (20, [0] * 6, True),  # 2% after nothing
        (20, [20] * 6, False),  # as ever
        (20, [9] * 6, True),  # more than twice as many
        (20, [11] * 6, False),
        (8, [0] * 6, False),  # below 1%
        (20, [20] * 2, True),  # too few windows to say what is usual
        (200, [200] * 6, True),  # however long it has been so
    ],
)
def test_a_jump_in_repeated_predictions_is_reported(repeated, earlier, told):
    counts = {"predictions": 1000 - repeated, "duplicate_predictions": repeated}
    before = [{"predictions": 1000 - one, "duplicate_predictions": one} for one in earlier]
    assert ("repeated_predictions" in found(counts, before)) is told


def test_windows_without_rows_are_no_history():
    counts = {"predictions": 950, "duplicate_predictions": 50}
    empty = [{"predictions": 0}] * 9
    assert "usual" not in found(counts, empty)["repeated_predictions"]


def test_what_repeats_is_told_with_other_scores_and_what_is_usual():
    counts = {"predictions": 600, "duplicate_predictions": 300, "conflicting_predictions": 100}
    before = [{"predictions": 999, "duplicate_predictions": 1}] * 3
    assert found(counts, before)["repeated_predictions"] == (
        "400 of 1,000 rows of predictions (40%) repeat an id of the window (usual is 0.1%), 100 "
        "of them with another score, and only the first of each counts: check whether rows were "
        "written twice, and whether the pattern matches files that were replaced"
    )


def test_labels_a_little_early_and_those_that_contradict_each_other_are_reported():
    counts = {"predictions": 600, "label_rows": 40, "early_labels": 30, "conflicting_labels": 4}
    assert found(counts) == {
        "early_labels": "30 of 40 labels (75%) were known before the prediction, by a day at "
        "most, and count: check whether known_at is a date without a time of day, "
        "and whether the clocks of the two tables differ",
        "conflicting_labels": "4 of 40 labels contradict each other about one prediction at the "
        "same known_at, and are not counted: give the later one a later known_at",
    }
