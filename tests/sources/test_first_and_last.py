"""The first and the last prediction: from the footers of Parquet files, where these tell."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pumonitor.errors import InputError
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
LAST = FIRST + timedelta(hours=999, microseconds=7)
NOW = FIRST + timedelta(days=60)


def table() -> pa.Table:
    times = [*(FIRST + timedelta(hours=hour) for hour in range(999)), LAST]
    made = pa.array(times, pa.timestamp("us", "UTC"))
    return pa.table({"id": np.arange(1000), "t": made, "score": np.full(1000, 0.5)})


def span(folder: Path) -> tuple[datetime, datetime] | None:
    pq.write_table(pa.table({"id": [1], "known": [LAST]}), folder / "labels.parquet")
    source = open_source(
        str(folder / "predictions*.parquet"),
        PredictionColumns(id="id", time="t", score="score"),
        str(folder / "labels.parquet"),
        LabelColumns(id="id", known_at="known"),
        clock=lambda: NOW,
    )
    with closing(source):
        return source.span()


def test_no_page_is_read_for_it(tmp_path):
    path = tmp_path / "predictions.parquet"
    pq.write_table(table(), path, row_group_size=100, compression="none")
    whole = bytearray(path.read_bytes())
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    whole[4:-footer] = bytes(len(whole) - 4 - footer)
    path.write_bytes(whole)
    assert span(tmp_path) == (FIRST, LAST)


@pytest.mark.parametrize("name", ["predictions {1}.parquet", "predictions's.parquet"])
def test_whatever_files_are_called(tmp_path, name):
    pq.write_table(table(), tmp_path / name)
    assert span(tmp_path) == (FIRST, LAST)


def test_without_statistics_rows_are_looked_at(tmp_path):
    pq.write_table(table(), tmp_path / "predictions.parquet", write_statistics=["id"])
    assert span(tmp_path) == (FIRST, LAST)


def test_files_with_and_without_statistics_are_seen_together(tmp_path):
    both = table()
    pq.write_table(both.slice(0, 500), tmp_path / "predictions-1.parquet")
    pq.write_table(both.slice(500), tmp_path / "predictions-2.parquet", write_statistics=["id"])
    assert span(tmp_path) == (FIRST, LAST)


def test_a_file_of_nanoseconds_has_the_same_ends(tmp_path):
    exact = table().set_column(1, "t", table()["t"].cast(pa.timestamp("ns", "UTC")))
    pq.write_table(exact, tmp_path / "predictions.parquet")
    assert span(tmp_path) == (FIRST, LAST)


def test_no_rows_have_no_ends(tmp_path):
    pq.write_table(table().slice(0, 0), tmp_path / "predictions.parquet")
    assert span(tmp_path) is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (None, "has 2 times that are missing"),
        (datetime(1970, 1, 1, tzinfo=UTC), "has 2 times before 1990"),
        (NOW + timedelta(days=3), "has 2 times more than a day in the future"),
    ],
)
def test_wrong_times_are_counted_all_the_same(tmp_path, wrong, said):
    times = table()["t"].to_pylist()
    times[3] = times[700] = wrong
    made = table().set_column(1, "t", pa.array(times, pa.timestamp("us", "UTC")))
    pq.write_table(made, tmp_path / "predictions.parquet", row_group_size=100)
    with pytest.raises(InputError, match=said):
        span(tmp_path)
