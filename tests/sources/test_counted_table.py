"""A table of counts says what its rows were counted to, and refuses everything else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pumonitor.errors import InputError
from pumonitor.ports import SampleRequest, Window
from pumonitor.sources.counted.rows import rows_of
from pumonitor.sources.counted.schema import FIELDS, TOTALS, CountedSettings
from pumonitor.sources.opening import open_source
from tests.sources.monitored import (
    DAY,
    LABELS,
    NOW,
    PREDICTIONS,
    REQUEST,
    WINDOW,
    assert_equal,
    labels,
    opened,
    predictions,
)

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

NEXT = replace(
    REQUEST,
    window=Window(start=WINDOW.end, end=WINDOW.end + DAY, index=WINDOW.index + 1),
    as_of=(WINDOW.end + DAY, WINDOW.end + 9 * DAY),
)
SETTINGS = CountedSettings.of(REQUEST, score_scale="probability", segments=PREDICTIONS.segments)


@pytest.fixture(scope="module")
def counted():
    with closing(opened(predictions(), labels())) as source:
        return source.counts(REQUEST), source.counts(NEXT)


@pytest.fixture
def sets(counted):
    return pa.concat_tables(
        rows_of(counts, request, SETTINGS, counted_at=NOW)
        for counts, request in zip(counted, (REQUEST, NEXT), strict=True)
    )


def written(table, path):
    pq.write_table(table, path / "counts.parquet")
    return f"counts://{path}/*.parquet"


def read(address, columns=PREDICTIONS):
    return open_source(address, columns, address, LABELS)


def test_files_give_back_what_was_counted(sets, counted, tmp_path):
    # In an order of their own, as files are.
    shuffled = sets.take(pa.array(range(len(sets)))[::-1])
    with closing(read(written(shuffled, tmp_path))) as source:
        for found, expected in zip(source.counts_of_many([REQUEST, NEXT]), counted, strict=True):
            assert_equal(found, expected)
        assert source.span() == (WINDOW.start, NEXT.window.end)
        look = source.describe()
    assert look.predictions == sum(one.found.predictions for one in counted)


def test_a_database_gives_back_what_was_counted(sets, counted, tmp_path):
    path = tmp_path / "counts.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE fraud ({', '.join(sets.column_names)})")
        marks = ", ".join("?" * sets.num_columns)
        rows = list(zip(*(column.to_pylist() for column in sets.columns), strict=True))
        connection.executemany(f"INSERT INTO fraud VALUES ({marks})", rows)  # noqa: S608 (ours)
        connection.commit()
    with closing(read(f"counts://sqlite:///{path}#fraud")) as source:
        assert_equal(source.counts(REQUEST), counted[0])


def test_a_delta_table_gives_back_what_was_counted(sets, counted, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "lake"), sets)
    with closing(read(f"counts://delta://{tmp_path / 'lake'}")) as source:
        assert_equal(source.counts(REQUEST), counted[0])


def test_of_two_sets_the_later_one_stands(sets, counted, tmp_path):
    old = replace(counted[0], rows=counted[0].rows * 2)
    old = replace(old, found=replace(old.found, predictions=int(old.rows.sum())))
    earlier = rows_of(old, REQUEST, SETTINGS, counted_at=NOW - timedelta(hours=1))
    with closing(read(written(pa.concat_tables([sets, earlier]), tmp_path))) as source:
        assert_equal(source.counts(REQUEST), counted[0])


def changed(sets, name, values):
    return sets.set_column(sets.column_names.index(name), name, values)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            replace(
                REQUEST,
                window=Window(start=WINDOW.start - DAY, end=WINDOW.start, index=WINDOW.index - 1),
            ),
            r"no counts of the window from 2026-03-09T00:00:00\+00:00 to .*: run the job",
        ),
        (
            replace(REQUEST, as_of=(*REQUEST.as_of, NOW)),
            r"no counts of the window .* as known at .*2026-05-09.*, but at 2026-03-11",
        ),
        (
            replace(REQUEST, threshold=0.5),
            r"of other settings: threshold is 0\.7 there and 0\.5 here",
        ),
    ],
)
def test_what_was_not_counted_is_refused(sets, tmp_path, request_, said):
    with closing(read(written(sets, tmp_path))) as source, pytest.raises(InputError, match=said):
        source.counts(request_)


def test_another_version_is_refused(sets, tmp_path):
    newer = changed(sets, "format", pa.array([2] * len(sets), pa.int64()))
    with (
        closing(read(written(newer, tmp_path))) as source,
        pytest.raises(InputError, match="in version 2 of the table, and version 1 is read"),
    ):
        source.counts(REQUEST)


def test_a_set_that_was_cut_off_is_refused(sets, tmp_path):
    kinds, windows = sets["kind"].to_pylist(), sets["window_start"].to_pylist()
    first = next(place for place, kind in enumerate(kinds) if kind == "group")
    short = sets.filter(pa.array([place != first for place in range(len(sets))]))
    assert windows[first] == windows[0]
    with (
        closing(read(written(short, tmp_path))) as source,
        pytest.raises(InputError, match=r"is not whole: its groups hold .* predictions and its"),
    ):
        source.counts(REQUEST)
    without = sets.filter(pa.array([name != TOTALS[-1] for name in sets["name"].to_pylist()]))
    with (
        closing(read(written(without, tmp_path))) as source,
        pytest.raises(InputError, match=f"is not whole: it lacks the totals {TOTALS[-1]}"),
    ):
        source.counts(REQUEST)


def test_a_table_of_something_else_is_refused(sets, tmp_path):
    address = written(sets.drop_columns(["moments"]), tmp_path)
    with pytest.raises(InputError, match="moments"):
        read(address)


def test_rows_are_not_there(sets, tmp_path):
    with (
        closing(read(written(sets, tmp_path))) as source,
        pytest.raises(InputError, match="holds counts and no rows"),
    ):
        source.sample(SampleRequest(window=WINDOW, as_of=(NOW,), rows=1, labels=1))


def test_both_tables_must_be_the_same_place(tmp_path):
    with pytest.raises(InputError, match="must name the same source"):
        open_source("counts://a.parquet", PREDICTIONS, "labels.parquet", LABELS)


def test_the_schema_names_every_column_once():
    names = [field.name for field in FIELDS]
    assert len(set(names)) == len(names)
    assert all(field.meaning.endswith(".") for field in FIELDS)
