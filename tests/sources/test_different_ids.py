"""Whether ids stand more than once is told alike however they are looked at."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from pumonitor.sources.windows import different_ids
from pumonitor.sources.windows.different_ids import SeenIds, all_different, seen_ids

START = datetime(2026, 3, 1, tzinfo=UTC)
REQUEST = CountRequest(
    window=Window(start=START, end=START + timedelta(days=1), index=0),
    as_of=(START + timedelta(days=2),),
    threshold=0.5,
)
ENDS = (-(2**63), 2**63 - 1)


def opened(ids, hours=None, labels=()):
    hours = hours or [0] * len(ids)
    made = [START + timedelta(hours=hour, seconds=place) for place, hour in enumerate(hours)]
    moments = pa.timestamp("us", "UTC")
    predictions = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "time": pa.array(made, moments),
            "score": pa.array([0.5] * len(ids), pa.float64()),
        }
    )
    said = pa.table(
        {
            "id": pa.array(labels, pa.int64()),
            "known": pa.array([START + timedelta(hours=9)] * len(labels), moments),
        }
    )
    return open_source(
        predictions,
        PredictionColumns(id="id", time="time", score="score"),
        said,
        LabelColumns(id="id", known_at="known"),
    )


@given(
    ids=st.lists(
        st.one_of(
            st.integers(0, 40), st.integers(1000, 1010), st.sampled_from([*ENDS, -5, 10**15])
        ),
        min_size=1,
        max_size=60,
    ),
    at_once=st.sampled_from([1, 3, 8, 1000]),
    parts=st.sampled_from([1, 4, 32]),
)
@settings(max_examples=12, deadline=None)
def test_repeated_numbers_are_found_in_whatever_parts(ids, at_once, parts):
    counted = Counter(ids)
    with pytest.MonkeyPatch.context() as patched, closing(opened(ids)) as source:
        patched.setattr(different_ids, "_IDS_AT_ONCE", at_once)
        patched.setattr(different_ids, "_MOST_PARTS", parts)
        found = source.counts(REQUEST)
    assert found.found.duplicate_predictions == len(ids) - len(counted)
    assert found.found.predictions == len(counted)


@pytest.mark.parametrize("at_once", [2, 1000])
@pytest.mark.parametrize(("missing", "told"), [(1, 1), (2, 2)])
def test_rows_without_an_id_are_told_of_and_not_called_repeated(
    monkeypatch, at_once, missing, told
):
    monkeypatch.setattr(different_ids, "_IDS_AT_ONCE", at_once)
    ids = [*range(20), *[None] * missing]
    with (
        closing(opened(ids)) as source,
        pytest.raises(InputError, match=f"has {told} ids that are missing"),
    ):
        source.counts(REQUEST)


def test_files_are_asked_for_ranges_that_cover_all_ids_once(monkeypatch):
    monkeypatch.setattr(different_ids, "_IDS_AT_ONCE", 10)
    seen = SeenIds(rows=90, between=(-7, 101))
    ranges = different_ids.ranges_of(seen)
    covered = [number for first, last in ranges for number in range(first, last + 1)]
    assert covered == list(range(-7, 102))
    assert max(last - first + 1 for first, last in ranges) <= 10


def test_numbers_with_wide_gaps_are_not_looked_at_range_by_range(monkeypatch):
    monkeypatch.setattr(different_ids, "_IDS_AT_ONCE", 10)
    assert different_ids.ranges_of(SeenIds(rows=90, between=(0, 90 * 10))) == []


def test_labels_of_the_ends_of_a_window_s_ids_count():
    """Only what was said of ids from the least to the largest is looked at."""
    with closing(opened([30, 10, 20], labels=[9, 10, 30, 31])) as source:
        found = source.counts(REQUEST).found
    assert found.label_rows == 2
    assert found.orphan_labels == 2


def test_ids_of_two_windows_may_stand_in_both():
    second = CountRequest(
        window=Window(start=REQUEST.window.end, end=START + timedelta(days=2), index=1),
        as_of=(START + timedelta(days=3),),
        threshold=0.5,
    )
    with closing(opened([1, 2, 2, 1], [1, 2, 26, 27])) as source:
        query, engine = source.query_of([REQUEST, second]), source._engine
        as_one = replace(query, windows=())
        assert all_different(engine, query, seen_ids(engine, query))
        assert not all_different(engine, as_one, seen_ids(engine, as_one))
