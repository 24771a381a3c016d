"""Groups that are found by sorting scores are those of a group-by, to the last byte."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pumonitor._score_grid import ScoreGrid
from pumonitor.errors import InputError
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from pumonitor.sources.windows import answers_here, asking, different_ids, slices, sorted_scores
from tests.sources.monitored import DAY, REQUEST, START, assert_equal, labels, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

PLAIN = PredictionColumns(id="prediction id", time="scored_at", score="score")
LABELS = LabelColumns(id="case", known_at="confirmed_at", label="label", propensity="review_rate")
FIRST = replace(REQUEST, as_of=REQUEST.as_of[:1])
MOMENTS = pa.timestamp("us", "UTC")


@pytest.fixture
def sorting(monkeypatch):
    """As if a few hundred rows were many; how often groups are found by sorting."""
    found, groups = [], answers_here.groups_of_scores

    def seen(*given):
        found.append(groups(*given))
        return found[-1]

    monkeypatch.setattr(sorted_scores, "_LEAST", 0)
    monkeypatch.setattr(answers_here, "groups_of_scores", seen)
    return found


def counted(made, known, request=REQUEST, *, columns=PLAIN, scale="probability"):
    source = open_source(made, columns, known, LABELS, score_scale=scale)
    with closing(source):
        return source.counts(request)


def grouped(made, known, request=REQUEST, **options):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sorted_scores, "_LEAST", 10**9)
        return counted(made, known, request, **options)


@pytest.mark.parametrize("repeated", [True, False], ids=["repeated ids", "different ids"])
@pytest.mark.parametrize("text_ids", [True, False], ids=["text", "whole numbers"])
@pytest.mark.parametrize("request_", [REQUEST, FIRST], ids=["three moments", "one moment"])
def test_counts_are_those_of_a_group_by(sorting, repeated, text_ids, request_):
    made, known = predictions(text_ids=text_ids), labels(text_ids=text_ids)
    if not repeated:
        made = made.drop_duplicates("prediction id")
    expected = grouped(made, known, request_)
    assert sorting == []
    assert_equal(counted(made, known, request_), expected)
    assert len(sorting) == 1
    # Rows with labels that say something, and rows without.
    assert len(np.unique(expected.history)) > 2


def test_slices_which_are_read_anew_for_each_statement_are_left_to_the_engine(sorting, monkeypatch):
    made, known = predictions(), labels()
    expected = grouped(made, known)
    monkeypatch.setattr(asking, "_ROWS_HELD", 10)
    monkeypatch.setattr(different_ids, "_IDS_AT_ONCE", 60)
    monkeypatch.setattr(slices, "_LABELS_AT_ONCE", 50)
    assert_equal(counted(made, known), expected)
    assert sorting == [], "rows may change between two statements"


SCORES = {
    "probability": [0.0, -0.0, 1.0, 0.7, 0.5, 5e-324, 2**-24, 2**-8, 1 - 2**-8, 0.25, 1 - 2**-53],
    "unbounded": [0.0, -0.0, 0.7, -1e300, 1e300, 3.0, -3.0, 1e9, 15.189723320158032],
}


@st.composite
def cases(draw):
    """Few scores, so that rows with and without labels have the same; labels of all kinds."""
    scale = draw(st.sampled_from(sorted(SCORES)))
    score = st.sampled_from(SCORES[scale]) | st.floats(0, 1)
    rows = draw(st.lists(st.tuples(st.integers(0, 25), score), min_size=1, max_size=40))
    said = st.tuples(st.integers(-2, 27), st.integers(-50, 60), st.sampled_from([1, 1, -1, 0]))
    return scale, rows, draw(st.lists(said, max_size=30))


@given(case=cases())
@settings(max_examples=4, deadline=None)
def test_no_row_is_lost_or_counted_twice(case):
    scale, rows, said = case
    times = [START + timedelta(seconds=place) for place in range(len(rows))]
    made = pa.table(
        {
            "prediction id": pa.array([row[0] for row in rows], pa.int64()),
            "scored_at": pa.array(times, MOMENTS),
            "score": pa.array([row[1] for row in rows], pa.float64()),
        }
    )
    known = pa.table(
        {
            "case": pa.array([one[0] for one in said], pa.int64()),
            # Two days before a prediction a label is refused, and says nothing of its row.
            "confirmed_at": pa.array([START + timedelta(hours=one[1]) for one in said], MOMENTS),
            "label": pa.array([one[2] for one in said], pa.int64()),
            "review_rate": pa.array([0.5 if one[2] == 1 else None for one in said], pa.float64()),
        }
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sorted_scores, "_LEAST", 0)
        found = counted(made, known, scale=scale)
    assert_equal(found, grouped(made, known, scale=scale))
    assert found.rows.sum() == len({row[0] for row in rows})


@pytest.mark.parametrize("wrong", [None, math.nan, math.inf, 1.5])
def test_rows_that_cannot_be_used_are_told_of_as_ever(sorting, wrong):
    made = predictions()
    within = made.index[(made["scored_at"] >= START) & (made["scored_at"] < START + DAY)]
    made.loc[within[20], "score"] = wrong
    made = pa.Table.from_pandas(made, preserve_index=False)
    with pytest.raises(InputError) as grouped_says:
        grouped(made, labels())
    with pytest.raises(InputError) as says:
        counted(made, labels())
    assert str(says.value) == str(grouped_says.value)
    assert sorting == []


@pytest.mark.parametrize("column", [{"model_version": "version"}, {"segments": ("country",)}])
def test_rows_that_text_tells_apart_are_grouped_where_they_lie(sorting, column):
    columns = replace(PLAIN, **column)
    made, known = predictions(), labels()
    expected = grouped(made, known, columns=columns)
    assert_equal(counted(made, known, columns=columns), expected)
    assert sorting == []


def test_cells_that_go_down_where_scores_go_up(sorting):
    """As those of scores that are no probabilities do here and there: their map is rounded."""
    lower = [15.189723320158032, 15.253968253968184, 15.334995014955064]
    score = [one for low in lower for one in (low, math.nextafter(low, 16), low + 1e-12)]
    cell = ScoreGrid(scale="unbounded").index(np.sort(score))
    assert np.any((cell[2:] == cell[:-2]) & (cell[1:-1] < cell[:-2]))
    made = pa.table(
        {
            "prediction id": pa.array(range(len(score)), pa.int64()),
            "scored_at": pa.array([START] * len(score), MOMENTS),
            "score": pa.array(score, pa.float64()),
        }
    )
    expected = grouped(made, labels(), scale="unbounded")
    assert_equal(counted(made, labels(), scale="unbounded"), expected)
    assert len(sorting) == 1
